"""How many threads compute. Results are bitwise the same for the same seed and thread count."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

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


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Products of small matrices on one thread: to wake another for each of them takes three times as long."""
    with _pools().limit(limits=1, user_api="blas"):
        yield


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()
