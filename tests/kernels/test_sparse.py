"""The functions on arrays against dense arithmetic."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax

from dccgcn.kernels import column_blocks, ppr_smooth, softmax_rows, sparse_times, spmm
from dccgcn.kernels.sparse import multiply_rows


def random_matrix(rows, columns, density=0.4, seed=0):
    matrix = sp.random_array((rows, columns), density=density, rng=np.random.default_rng(seed), dtype=np.float32)
    return sp.csr_array(matrix)


def test_kernels_and_operators_do_not_import_torch():
    code = "import sys, dccgcn.kernels, dccgcn.features; sys.exit('torch' in sys.modules)"
    # the package's own __init__ imports everything; an empty one in its place leaves what the modules import
    stub = "import sys, types, importlib.util as u; s = u.find_spec('dccgcn'); m = types.ModuleType('dccgcn'); "
    stub += "m.__path__ = list(s.submodule_search_locations); sys.modules['dccgcn'] = m; "
    assert subprocess.run([sys.executable, "-c", stub + code], check=False).returncode == 0


@pytest.mark.parametrize("steps", [0, 1, 6])
def test_smoothing_against_dense_steps(steps):
    matrix = random_matrix(7, 7, 0.7)
    start = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)
    before, expected = start.copy(), start.astype(float)
    for _ in range(steps):
        expected = 0.8 * matrix.toarray() @ expected + 0.2 * before
    np.testing.assert_allclose(ppr_smooth(matrix, start, 0.2, steps), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(start, before)


def test_softmax_of_rows_is_that_of_scipy():
    scores = np.random.default_rng(0).normal(scale=30, size=(50, 4)).astype(np.float32)
    scores[0] = [1e4, 0, -1e4, 1e4]
    nothing = np.zeros(4, np.float32)
    np.testing.assert_allclose(softmax_rows(scores, nothing, 4), softmax(scores, axis=1), atol=1e-6)


def test_softmax_of_columns_side_by_side_takes_each_group_alone():
    scores = np.random.default_rng(1).normal(size=(9, 8)).astype(np.float32)  # the last two columns are in no group
    offset = np.array([0, 1, -2, 0.5, 0, 3], np.float32)
    found = softmax_rows(scores, offset, 3)
    for group in (slice(0, 3), slice(3, 6)):
        expected = softmax((scores[:, :6] + offset)[:, group], axis=1)
        np.testing.assert_allclose(found[:, group], expected, atol=1e-6)


@pytest.mark.parametrize("width", [5, 128, 300])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("kernel", [column_blocks.spmm, multiply_rows], ids=["column blocks", "rows"])
def test_product_kernels_skip_zeros_and_take_an_order(width, transposed, kernel):
    rng = np.random.default_rng(width)
    matrix = random_matrix(150, 70, 0.3)
    matrix.sort_indices()
    values = matrix.data * (rng.random(matrix.nnz) < 0.5)  # half of them dropped
    left = sp.csr_array((values, matrix.indices, matrix.indptr), matrix.shape).toarray()
    right = rng.normal(size=(150 if transposed else 70, width)).astype(np.float32)
    positions = sp.csr_array((np.arange(matrix.nnz, dtype=np.int32), matrix.indices, matrix.indptr), matrix.shape)
    form = sp.csr_array(positions.T) if transposed else positions
    order = form.data if transposed else np.empty(0, np.int32)
    out = np.full((form.shape[0], width), np.nan, np.float32)
    kernel(form.indptr, form.indices, order, values, right, out)
    np.testing.assert_allclose(out, (left.T if transposed else left) @ right, atol=1e-4)


def test_column_blocks_are_for_many_entries_and_a_dense_beyond_the_cache():
    assert column_blocks.worthwhile(2_000_000, np.empty((5000, 512), np.float32))
    assert not column_blocks.worthwhile(100_000, np.empty((5000, 512), np.float32))  # rows are read a few times only
    assert not column_blocks.worthwhile(2_000_000, np.empty((5000, 16), np.float32))  # small
    assert not column_blocks.worthwhile(2_000_000, np.empty((9000, 128), np.float32))  # no wider than a block


@pytest.mark.parametrize("width", [1, 7, 8, 40])
@pytest.mark.parametrize("product", [spmm, sparse_times])
def test_products_against_dense(width, product):
    rng = np.random.default_rng(width)
    for left in (random_matrix(30, 20).toarray(), np.tril(rng.normal(size=(9, 9)), -1)):  # rows of 0 to 8 entries
        left, right = left.astype(np.float32), rng.normal(size=(width, left.shape[1])).astype(np.float32).T
        np.testing.assert_allclose(product(sp.csr_array(left), right), left @ right, atol=1e-5)
