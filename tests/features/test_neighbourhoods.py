"""m-hop neighbourhoods against boolean matrix powers."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn.features import hop_blocks, hops
from helpers import literal
from helpers.threads import kernel_threads


def random_graph(n, density, seed):
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1)
    upper[:, n // 2] = upper[n // 2] = False  # this node has no edge
    return upper | upper.T


def adjacency_of(dense):
    return sp.csr_array(dense.astype(np.float32))


@given(st.integers(2, 25), st.floats(0, 0.3), st.integers(0, 1000), st.integers(1, 5), st.data())
@settings(max_examples=30)
def test_hops_of_any_rows_against_breadth_first(n, density, seed, m, data):
    dense = random_graph(n, density, seed)
    rows = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=n, unique=True)), dtype=np.int64)
    found = hops(adjacency_of(dense), rows, m)
    assert found.shape == (len(rows), n)
    for i, u in enumerate(rows):
        reached = found.indices[found.indptr[i] : found.indptr[i + 1]]
        assert set(reached.tolist()) == literal.within_hops(dense, u, m)
    assert (found.data == 1).all()


@pytest.mark.parametrize("max_entries", [0, 1, 10, 37, 10_000])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_blocks_give_the_same_as_the_whole(max_entries, m):
    adjacency = adjacency_of(random_graph(45, 0.06, seed=0))
    rows = np.random.default_rng(0).permutation(45)[:30]
    blocks = list(hop_blocks(adjacency, rows, m, max_entries))
    np.testing.assert_array_equal(np.concatenate([nodes for nodes, _ in blocks]), rows)
    stacked = sp.vstack([block for _, block in blocks])
    np.testing.assert_array_equal(stacked.toarray(), hops(adjacency, rows, m).toarray())
    for nodes, block in blocks:
        assert block.nnz <= max_entries or len(nodes) == 1
    for (_, block), (_, following) in itertools.pairwise(blocks):  # no block ends before it must
        assert block.nnz + following.indptr[1] > max_entries


def test_a_self_loop_is_no_neighbour():
    looped = adjacency_of(np.ones((4, 4)))
    np.testing.assert_array_equal(hops(looped, np.arange(4), 2).toarray(), 1 - np.eye(4))


def test_hops_do_not_depend_on_the_threads():
    adjacency = adjacency_of(random_graph(100, 0.03, seed=0))
    found = []
    for count in (1, 2):
        with kernel_threads(count):
            found.append(hops(adjacency, np.arange(100), 3))
    assert (found[0] != found[1]).nnz == 0
