"""How many threads compute. Results are bitwise the same for the same seed and thread count."""

import os

import numba
import torch


def use_threads(count: int | None = None) -> int:
    """Use that many threads (omitted: one per core that this process may use) and return their number."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    count = max(1, min(count or available, most))
    torch.set_num_threads(count)
    numba.set_num_threads(count)
    return count
