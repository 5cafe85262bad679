"""The approximate search against the exact one: how much it finds, and everything in which they must agree."""

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.errors import SettingsError
from dccgcn.features import exact_knn, knn_operator, neighbours, weight_columns
from dccgcn.features.approximate_search import approximate_knn, recall
from dccgcn.features.embedding import idf
from dccgcn.features.exact_search import Neighbours, exact_work
from dccgcn.graph import NodeGraph
from helpers import literal
from helpers.threads import kernel_threads

N, K = 5000, 6


def clusters(rng, n=N, d=20):
    """Dense: a hundred clouds, and rows of zeros."""
    x = rng.normal(size=(100, d))[rng.integers(0, 100, n)] + 0.4 * rng.normal(size=(n, d))
    x[::500] = 0
    return x.astype(np.float32)


@pytest.fixture(scope="module")
def graph():
    return synthetic_graph(N, 4 * N)


@pytest.fixture(scope="module", params=["words", "weighted words", "dense"])
def x(request, graph):
    if request.param == "dense":
        return clusters(np.random.default_rng(0))
    return weight_columns(graph.features, idf(graph.features) if "weighted" in request.param else None)


@pytest.fixture(scope="module")
def found(x):
    return approximate_knn(x, K)


@pytest.fixture(scope="module")
def exact(x):
    return exact_knn(x, K)


@pytest.fixture
def no_exact_search(monkeypatch):
    monkeypatch.setattr("dccgcn.features.approximate_search.MOST_WORK", 0)


def same(first, second):
    return all(
        np.array_equal(getattr(first, name), getattr(second, name)) for name in ("indices", "similarity", "tied")
    )


def test_most_neighbours_are_as_near_as_the_exact_ones(found, exact):
    assert recall(found, exact, np.arange(N)) > 0.95
    assert found.indices.shape == (N, K)
    assert found.indices.dtype == np.int32
    assert found.similarity.dtype == np.float32


def test_where_all_are_found_ties_are_decided_as_by_the_exact_search(found, exact):
    all_there = (found.similarity == exact.similarity).all(axis=1)
    untied = all_there & ~exact.tied
    assert untied.mean() > 0.4
    np.testing.assert_array_equal(found.indices[untied], exact.indices[untied])
    assert not (found.tied & all_there & ~exact.tied).any()


def test_similarities_are_cosines_of_others_and_none_is_named_twice(found, x):
    dense = x.toarray() if sp.issparse(x) else x
    norm = np.linalg.norm(dense.astype(float), axis=1)
    unit = dense / np.where(norm > 0, norm, 1)[:, None]
    for i in range(0, N, 97):
        there = found.indices[i][found.indices[i] >= 0]
        assert i not in there
        assert len(set(there)) == len(there) == (K if norm[i] > 0 else 0)
        np.testing.assert_allclose(found.similarity[i, : len(there)], unit[there] @ unit[i], atol=1e-6)
        assert (np.diff(found.similarity[i]) <= 0).all()


def test_a_row_of_zeros_has_no_neighbours_and_is_none():
    found = approximate_knn(clusters(np.random.default_rng(0)), K)
    assert (found.indices[::500] == -1).all()
    assert not np.isin(found.indices, np.arange(0, N, 500)).any()


def test_neither_threads_nor_blocks_change_it(x, found, monkeypatch):
    monkeypatch.setattr("dccgcn.features.approximate_search.BLOCK", 999)
    for count in (1, 2):
        with kernel_threads(count):
            assert same(approximate_knn(x, K), found)


@pytest.mark.parametrize("kind", ["apart", "alike", "signed", "tiny"])
def test_degenerate_features_are_searched_as_well(kind):
    rng = np.random.default_rng(0)
    x = {
        "apart": np.diag(np.arange(1.0, 31)),  # no two nodes share a word
        "alike": np.ones((40, 3)),
        "signed": rng.integers(-2, 3, (60, 5)).astype(float),
        "tiny": np.eye(3)[:, :2] + 0.5,
    }[kind]
    k = min(4, len(x) - 1)
    found = approximate_knn(x, k)
    expected, tied = literal.exact_knn(x, k)
    assert [row.tolist() for row in found.indices] == expected  # so few are all compared
    assert found.tied.tolist() == tied


@pytest.mark.parametrize("k", [-1, 0, 10, 11])
def test_k_is_at_most_all_other_nodes(k):
    with pytest.raises(SettingsError, match=rf"k = {k} .* among 10 nodes.* from 1 to 9"):
        approximate_knn(np.eye(10), k)


def test_recall_counts_what_is_as_similar_and_nothing_else():
    exact = Neighbours(np.array([[1, 2], [0, -1], [-1, -1]]), np.array([[0.9, 0.5], [0.9, 0], [0, 0]]), np.zeros(3))
    found = Neighbours(np.array([[1, 3], [2, -1], [-1, -1]]), np.array([[0.9, 0.5], [0.1, 0], [0, 0]]), np.zeros(3))
    assert recall(found, exact, np.arange(3)) == pytest.approx(2 / 3)
    assert (
        recall(found, Neighbours(*(part[:1] for part in vars(exact).values() if part is not None)), np.array([0])) == 1
    )


def test_the_work_is_that_of_pairs_that_share_a_word():
    x = sp.csr_array(np.eye(50)[np.arange(50) % 25])
    assert exact_work(x) == exact_work(x.toarray()) == 25 * 2**2
    assert exact_work(np.ones((50, 64))) == 50 * 50 * 5


def test_exact_as_long_as_it_can_be_afforded(graph):
    found = neighbours(graph.features, K)
    assert found.recall is None
    assert same(found, exact_knn(graph.features, K))


def test_beyond_that_approximate_with_its_recall_and_a_finding(graph, no_exact_search):
    seen = []
    found = neighbours(graph.features, K, lambda done, of: seen.append((done, of)))
    assert 0.95 < found.recall <= 1
    assert seen[-1] == (N, N)
    assert seen == sorted(set(seen))
    operator = knn_operator(NodeGraph(graph.features, graph.edges), K, "symmetric")
    assert operator.recall == found.recall
    note = next(finding for finding in operator.findings if finding.code == "knn-approximate")
    assert note.level == "note"
    assert f"{found.recall:.1%}" in note.text
    assert (operator.adjacency != operator.adjacency.T).nnz == 0


def test_fewer_nodes_than_the_sample_for_recall(monkeypatch):
    monkeypatch.setattr("dccgcn.features.approximate_search.MOST_WORK", 0)
    few = np.random.default_rng(0).random((40, 5)).astype(np.float32)
    assert neighbours(few, 3).recall == pytest.approx(1, abs=0.1)


def test_a_poor_recall_is_a_warning(graph, no_exact_search, monkeypatch):
    monkeypatch.setattr("dccgcn.features.approximate_search.MAX_ENTRIES", 8)
    monkeypatch.setattr("dccgcn.features.approximate_search.STEPS", 1)
    monkeypatch.setattr("dccgcn.features.approximate_search.MAX_CANDIDATES", 3)
    operator = knn_operator(NodeGraph(graph.features, graph.edges), K, "row")
    assert operator.recall < 0.8
    assert [f.level for f in operator.findings if f.code == "knn-approximate"] == ["warning"]


def test_an_exact_search_of_some_rows_is_that_of_all(exact, x):
    rows = np.array([7, 3, 4999, 500])
    part = exact_knn(x, K, rows=rows, block=3)
    assert same(part, Neighbours(exact.indices[rows], exact.similarity[rows], exact.tied[rows]))
