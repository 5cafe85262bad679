"""Experiments: what to run is data, how to run it is here once for all."""
