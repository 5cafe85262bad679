"""The approximate search against the exact one: how much it finds, and everything in which they must agree."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.features import exact_knn, knn_operator, neighbours, operator, weight_columns
from dccgcn.features.approximate_search import MOST_WORK, approximate_knn, recall
from dccgcn.features.embedding import idf
from dccgcn.features.exact_search import Neighbours, empty_neighbours, exact_work
from dccgcn.graph import NodeGraph
from helpers import literal
from helpers.runs import toy
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
        assert (norm[there] > 0).all()
        assert len(set(there)) == len(there) == (K if norm[i] > 0 else 0)
        np.testing.assert_allclose(found.similarity[i, : len(there)], unit[there] @ unit[i], atol=1e-6)
        assert (np.diff(found.similarity[i]) <= 0).all()


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
    made = knn_operator(NodeGraph(graph.features, graph.edges), K, "symmetric")
    assert made.recall == found.recall
    note = next(finding for finding in made.findings if finding.code == "knn-approximate")
    assert note.level == "note"
    assert f"{found.recall:.1%}" in note.text
    assert (made.adjacency != made.adjacency.T).nnz == 0


def test_fewer_nodes_than_the_sample_for_recall(monkeypatch):
    monkeypatch.setattr("dccgcn.features.approximate_search.MOST_WORK", 0)
    few = np.random.default_rng(0).random((40, 5)).astype(np.float32)
    assert neighbours(few, 3).recall == pytest.approx(1, abs=0.1)


def test_an_exact_search_of_some_rows_is_that_of_all(exact, x):
    rows = np.array([7, 3, 4999, 500])
    part = exact_knn(x, K, rows=rows, block=3)
    assert same(part, Neighbours(exact.indices[rows], exact.similarity[rows], exact.tied[rows]))


@pytest.mark.parametrize(("recall", "level"), [(0.5, "warning"), (0.79, "warning"), (0.81, "note")])
def test_a_feature_graph_that_misses_a_fifth_of_the_neighbours_is_a_warning(recall, level):
    found = replace(empty_neighbours(3, 1), recall=recall)
    first = next(operator._findings(toy(n=6), found))
    assert (first.code, first.level) == ("knn-approximate", level)


def test_twenty_thousand_nodes_are_searched_exactly_and_a_hundred_thousand_are_not():
    """With 500 terms of which every node has 50, as in Pubmed."""
    work = {n: 500 * (n / 10) ** 2 for n in (1000, 20_000, 100_000)}
    rng = np.random.default_rng(0)
    x = sp.csr_array((np.ones(50_000), rng.integers(0, 500, 50_000), np.arange(0, 50_001, 50)), shape=(1000, 500))
    assert exact_work(x) == pytest.approx(work[1000], rel=0.05)
    assert work[20_000] < MOST_WORK < work[100_000]
