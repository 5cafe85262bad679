"""How many threads compute. Results are bitwise the same for the same seed and thread count."""

import os
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numba
import torch
from threadpoolctl import ThreadpoolController


def use_threads(count: int | None = None) -> int:
    """Use that many threads (omitted: one per core that this process may use) and return their number."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    count = max(1, min(count or available, most))
    torch.set_num_threads(count)
    numba.set_num_threads(count)
    return count


def one_blas_thread() -> AbstractContextManager[Any]:
    """Products of small matrices on one thread: to wake another for each of them takes three times as long."""
    return _pools().limit(limits=1, user_api="blas")


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()
