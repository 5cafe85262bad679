"""Kernels on a given number of threads."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from dccgcn.kernels import row_threads
from dccgcn.runtime import device


@contextmanager
def kernel_threads(count: int) -> Iterator[None]:
    """Run kernels on exactly this many threads, however small their arrays and however few the cores."""
    with patch.object(device, "_kernels", count), patch.object(row_threads, "_MIN_COST", 0):
        yield
