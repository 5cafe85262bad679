"""Number of threads. Results are bitwise equal for equal seed and thread count."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numba
import torch
from threadpoolctl import ThreadpoolController

_MIN_NNZ = 150_000  # with fewer nonzeros a kernel ends before a second thread has started


def use_threads(count: int | None = None) -> int:
    """Set the number of threads of torch and numba, at most one per core, and return it.

    None: one per core that this process may use, at most OMP_NUM_THREADS.
    """
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if (limit := os.environ.get("OMP_NUM_THREADS", "")).isdecimal() and int(limit) > 0:
        available = min(available, int(limit))
    maximum = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    count = max(1, min(count or available, maximum))
    torch.set_num_threads(count)
    numba.set_num_threads(count)
    return count


@contextmanager
def threads_for(nnz: int) -> Iterator[None]:
    """Limit BLAS to one thread, and also torch and numba if the sparse matrices have few nonzeros.

    For small products starting a second thread takes longer than the product.
    """
    count = numba.get_num_threads(), torch.get_num_threads()
    is_small = nnz < _MIN_NNZ
    with _pools().limit(limits=1, user_api="blas"):
        try:
            numba.set_num_threads(1 if is_small else count[0])
            torch.set_num_threads(1 if is_small else count[1])
            yield
        finally:
            numba.set_num_threads(count[0])
            torch.set_num_threads(count[1])


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()
