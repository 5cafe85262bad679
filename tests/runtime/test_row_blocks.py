"""Sums, ranks and single rows of blocks, against those of all rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.kernels import ChebyshevFilter, ppr_smooth, row_block, sparse_times, spmm
from dccgcn.runtime import row_blocks as rb
from helpers.thread_peers import on_blocks

RNG = np.random.default_rng(0)
BOUNDS = np.array([0, 1024, 3072, 3100])
ROWS = RNG.standard_normal((3100, 5)).astype(np.float32)


def blocks_of(function):
    """The function on the rows of each block, inside its thread."""

    def work(peers):
        with rb.spread_over(peers):
            return function(peers, ROWS[BOUNDS[peers.rank] : BOUNDS[peers.rank + 1]])

    return on_blocks(BOUNDS, work)


def test_blocks_start_at_units_and_none_is_empty():
    assert rb.block_bounds(5000, 3).tolist() == [0, 1024, 3072, 5000]
    assert rb.block_bounds(1500, 8).tolist() == [0, 1024, 1500]
    assert rb.block_bounds(10, 8).tolist() == [0, 10]


@pytest.mark.parametrize("shape", [(), (3,), (200, 200)], ids=str)  # the last is summed piece by piece
def test_sums_and_maxima_are_the_same_everywhere(shape):
    parts = [RNG.standard_normal(shape) for _ in range(3)]
    for total in blocks_of(lambda peers, _: rb.row_sum(parts[peers.rank])):
        np.testing.assert_array_equal(total, parts[0] + parts[1] + parts[2])
    for largest in blocks_of(lambda peers, _: rb.row_max(parts[peers.rank])):
        np.testing.assert_array_equal(largest, np.max(parts, axis=0))


def test_rows_are_taken_from_the_block_that_has_them():
    nodes = np.array([3099, 0, 1024, 1023, 3071, 7])
    for taken in blocks_of(lambda _, rows: rb.take_rows(rows, nodes)):
        np.testing.assert_array_equal(taken, ROWS[nodes])
    found = blocks_of(lambda _, rows: rb.owned(nodes))
    assert [which.tolist() for which, _ in found] == [[1, 3, 5], [2, 4], [0]]
    assert [at.tolist() for _, at in found] == [[0, 1023, 7], [0, 2047], [27]]


@pytest.mark.parametrize("decimals", [7, 1, 0])  # with few decimals many values are equal
def test_ranks_are_those_of_all_rows(decimals):
    found = blocks_of(lambda _, rows: rb.ranks(rows[:, 0].round(decimals)))
    np.testing.assert_array_equal(np.concatenate(found), rb.ranks(ROWS[:, 0].round(decimals)))


def test_products_fetch_the_rows_that_other_blocks_have():
    matrix = sp.csr_array(sp.random_array((3100, 3100), density=0.002, rng=RNG, dtype=np.float32))
    matrix = sp.csr_array(matrix + matrix.T)
    scale = np.full(3100, 0.3, np.float32)

    def products(a, own, rows):
        polynomial = ChebyshevFilter(a, scale[own], 1.0, np.array([0.1, 0.4, 0.3, 0.2]))
        return spmm(a, rows), sparse_times(a, rows), ppr_smooth(a, rows, 0.1, 3), polynomial(rows.copy())

    def of_block(peers, rows):
        own = slice(BOUNDS[peers.rank], BOUNDS[peers.rank + 1])
        return products(row_block(matrix, peers), own, rows)

    for found, whole in zip(zip(*blocks_of(of_block), strict=True), products(matrix, slice(None), ROWS), strict=True):
        np.testing.assert_array_equal(np.concatenate(found), whole)
