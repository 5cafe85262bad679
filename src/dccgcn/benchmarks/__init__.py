"""Benchmarks: ratios measured interleaved in one run, with parity checked in the same run."""
