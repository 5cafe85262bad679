"""How many threads compute. Results are bitwise the same for the same seed and thread count."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numba
import torch
from threadpoolctl import ThreadpoolController

_WORTH_A_THREAD = 150_000  # entries: with fewer, a kernel is done before a second thread is awake


def use_threads(count: int | None = None) -> int:
    """Use that many threads, at most one per core, and return their number.

    Omitted: one per core that this process may use, or as many as the variable OMP_NUM_THREADS says.
    """
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if (wanted := os.environ.get("OMP_NUM_THREADS", "")).isdecimal() and int(wanted) > 0:
        available = min(available, int(wanted))
    most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    count = max(1, min(count or available, most))
    torch.set_num_threads(count)
    numba.set_num_threads(count)
    return count


@contextmanager
def threads_for(entries: int) -> Iterator[None]:
    """Products of small matrices on one thread, and all else too where the graphs have few entries.

    To wake another thread for each of them takes longer than what it would be woken for.
    """
    count = numba.get_num_threads(), torch.get_num_threads()
    few = entries < _WORTH_A_THREAD
    with _pools().limit(limits=1, user_api="blas"):
        try:
            numba.set_num_threads(1 if few else count[0])
            torch.set_num_threads(1 if few else count[1])
            yield
        finally:
            numba.set_num_threads(count[0])
            torch.set_num_threads(count[1])


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()
