"""Ranges of rows on threads."""

import os
import threading
from itertools import pairwise

import numpy as np
import pytest

from dccgcn.kernels import over_rows
from helpers.threads import kernel_threads


def ranges_of(rows, *arguments, **options):
    """The ranges that a kernel was called with, ascending, and the threads that called it."""
    found, names, lock = [], set(), threading.Lock()

    def kernel(first, last, *_):
        with lock:
            found.append((first, last))
            names.add(threading.get_ident())

    over_rows(kernel, rows, *arguments, **options)
    return sorted(found), names


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("rows", [1, 2, 7, 100])
def test_ranges_are_all_rows_once(count, rows):
    with kernel_threads(count):
        found, _ = ranges_of(rows)
    assert (found[0][0], found[-1][1]) == (0, rows)
    assert len(found) == min(count, rows)
    assert all(first[1] == second[0] for first, second in pairwise(found))


def test_no_rows_are_one_empty_range():
    assert ranges_of(0)[0] == [(0, 0)]


def test_little_work_is_done_by_the_caller(monkeypatch):
    monkeypatch.setattr("dccgcn.runtime.device._kernels", 2)
    found, names = ranges_of(10, np.zeros(10))
    assert (found, names) == ([(0, 10)], {threading.get_ident()})
    assert len(ranges_of(10, np.zeros(1_000_000))[0]) == 2
    assert len(ranges_of(10, np.zeros(10), cost=1_000_000)[0]) == 2


def test_each_range_has_buffers_of_its_own():
    seen = []
    with kernel_threads(3):
        over_rows(lambda first, last, buffer: seen.append(buffer), 9, buffers=lambda: (np.zeros(4),))
    assert len({id(buffer) for buffer in seen}) == 3


def test_an_error_on_another_thread_is_raised():
    def kernel(first, last):
        if first > 0:
            raise ZeroDivisionError

    with kernel_threads(2), pytest.raises(ZeroDivisionError):
        over_rows(kernel, 4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_starts_threads_of_its_own():
    with kernel_threads(2):
        ranges_of(4)
        child = os.fork()
        if child == 0:
            os._exit(len(ranges_of(4)[0]))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
