"""Kernels on all threads: each thread runs the same compiled loop on a range of rows.

Numba could do this itself (``parallel=True``), but compiling such a kernel takes several times as long, and a first run
compiles a dozen. A kernel is instead a serial loop ``kernel(first, last, ...)`` that releases the GIL.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from dccgcn.runtime import kernel_threads

_MIN_COST = 500_000  # with less work a kernel ends before a second thread has started


def over_rows(
    kernel: Callable[..., None],
    rows: int,
    *arguments: Any,
    buffers: Callable[[], tuple[np.ndarray, ...]] = tuple,
    cost: int | None = None,
) -> None:
    """kernel(first, last, *arguments, *buffers()) on ranges that together are 0 to ``rows``, one for each thread.

    The kernel writes each row of its result in the range from nothing that another range writes, so that results do
    not depend on the number of threads. ``buffers`` makes the arrays that a range needs for itself: numba takes longer
    to compile an allocation than a loop. ``cost`` is the work in elements; None: those of all arrays.
    """
    if cost is None:
        cost = sum(array.size for array in arguments if isinstance(array, np.ndarray))
    threads = min(kernel_threads(), rows) if cost >= _MIN_COST else 1
    if threads <= 1:
        kernel(0, rows, *arguments, *buffers())
        return
    bounds = [rows * t // threads for t in range(threads + 1)]
    others = [
        _pool(threads - 1).submit(kernel, first, last, *arguments, *buffers()) for first, last in pairwise(bounds[1:])
    ]
    kernel(0, bounds[1], *arguments, *buffers())
    for other in others:
        other.result()


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="dccgcn-kernel")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a fork has none of its parent's threads
