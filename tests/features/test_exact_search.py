"""The exact nearest neighbours against brute force, and against two libraries where their rules agree."""

from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn import datasets
from dccgcn.errors import SettingsError
from dccgcn.features import exact_knn, knn_operator
from dccgcn.features.approximate_search import approximate_knn
from dccgcn.graph import NodeGraph
from helpers import literal
from helpers.threads import kernel_threads

MODULE = import_module("dccgcn.features.exact_search")  # the package has a function of the same name


def binary(rng, n=40, d=30):
    return (rng.random((n, d)) < 0.12).astype(float)  # rows of zeros and rows that share no word among them


def counts(rng, n=40, d=12):
    return rng.poisson(0.5, (n, d)).astype(float)


def signed(rng, n=40, d=4):
    return rng.integers(-2, 3, (n, d)).astype(float)


def real(rng, n=40, d=5):
    return rng.normal(size=(n, d))


def half_zero(rng, n=30, d=20):
    x = binary(rng, n, d)
    x[rng.random(n) < 0.5] = 0
    return x


def duplicated(rng, n=40, d=10):
    return binary(rng, 8, d)[rng.integers(0, 8, n)]


def apart(rng, n=20, d=20):
    return np.diag(rng.integers(1, 5, n)).astype(float)  # no two nodes share a word


KINDS = [binary, counts, signed, real, half_zero, duplicated, apart]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def x(request):
    return request.param(np.random.default_rng(1))


@pytest.fixture(params=[-1.0, 2.0], ids=["dense", "sparse"])
def path(request, monkeypatch):
    """Every search goes one way, however many features are filled."""
    monkeypatch.setattr(MODULE, "DENSE_ABOVE", request.param)


def as_lists(found):
    return [[int(j) for j in row if j >= 0] for row in found.indices]


def same(first, second):
    return all(
        np.array_equal(getattr(first, name), getattr(second, name)) for name in ("indices", "similarity", "tied")
    )


@pytest.mark.parametrize("k", [1, 4, 19])
@pytest.mark.parametrize("given", [np.asarray, sp.csr_array])
def test_nearest_against_brute_force(x, k, given, path):
    found = exact_knn(given(x), k)
    expected, tied = literal.exact_knn(x, k)
    assert as_lists(found) == expected
    assert found.tied.tolist() == tied


@given(st.data())
@settings(max_examples=30)
def test_nearest_against_brute_force_on_small_integers(data):
    n, d = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 6))
    row = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    x = np.array(data.draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    k = data.draw(st.integers(1, n - 1))
    expected, tied = literal.exact_knn(x, k)
    for above in (-1.0, 2.0):  # dense, sparse
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(MODULE, "DENSE_ABOVE", above)
            found = exact_knn(x, k, block=5)
        assert as_lists(found) == expected
        assert found.tied.tolist() == tied


def test_similarities_are_cosines_in_descending_order(x, path):
    found = exact_knn(x, 5)
    norm = np.linalg.norm(x, axis=1)
    unit = x / np.where(norm > 0, norm, 1)[:, None]
    for i, row in enumerate(found.indices):
        known = row >= 0
        np.testing.assert_allclose(found.similarity[i, known], unit[row[known]] @ unit[i], atol=2e-7)
        assert (np.diff(found.similarity[i, known]) <= 0).all()


@pytest.mark.parametrize("block", [1, 3, 7, 40, 1000])
def test_nearest_does_not_depend_on_the_block(x, block, path):
    assert same(exact_knn(x, 5, block=block), exact_knn(x, 5))


def test_nearest_does_not_depend_on_the_threads(x, path):
    found = []
    for count in (1, 2):
        with kernel_threads(count):
            found.append(exact_knn(x, 5, block=4))
    assert same(*found)


def test_row_02_a_row_of_zeros_has_no_neighbours_and_is_none(path):
    x = half_zero(np.random.default_rng(1))
    zero = np.flatnonzero(~x.any(axis=1))
    found = exact_knn(x, 29)
    assert len(zero) > 5
    assert (found.indices[zero] == -1).all()
    assert not np.isin(found.indices, zero).any()
    assert not found.tied[zero].any()


def test_row_31_ties_go_to_the_first_in_the_table(path):
    found = exact_knn(np.ones((6, 2)), 2)
    assert found.indices.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]]
    assert found.tied.all()
    assert not exact_knn(np.ones((3, 2)), 2).tied.any()  # both others are taken: the rule decides nothing


def test_row_32_opposite_directions_rank_last(path):
    x = np.array([[1.0, 0], [-1, 0], [0, 1], [1, 0.1]])
    assert exact_knn(x, 3).indices[0].tolist() == [3, 2, 1]


def test_similarities_that_round_to_nothing_tie_with_none(path):
    """Node 0 shares a word with the last three only, and so little that it is 0 to nine decimals."""
    x = np.zeros((40, 40))
    x[np.arange(36), np.arange(36)] = 1
    x[36, 36] = 1
    for j in (37, 38, 39):
        x[j, [j, 0]] = 1, 1e-10
    expected, tied = literal.exact_knn(x, 2)
    found = exact_knn(x, 2)
    assert expected[0] == [1, 2]
    assert as_lists(found) == expected
    assert found.tied.tolist() == tied


@pytest.mark.parametrize("k", [-1, 0, 10, 11])
@pytest.mark.parametrize("search", [exact_knn, approximate_knn])
def test_row_29_k_is_at_most_all_other_nodes(k, search):
    with pytest.raises(SettingsError, match=rf"k = {k} .* among 10 nodes.* from 1 to 9"):
        search(np.eye(10), k)


def test_progress_ends_with_all_nodes(path):
    seen = []
    exact_knn(np.eye(10), 2, block=3, progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (10, 10)
    assert seen == sorted(set(seen))


def test_a_third_of_cora_ties_at_the_sixth_neighbour():
    graph = datasets.load("cora").graph
    found = exact_knn(graph.features, 6)
    assert found.tied.mean() == pytest.approx(0.338, abs=5e-4)
    some = np.random.default_rng(0).choice(graph.n, 20, replace=False)
    words = graph.features.toarray().astype(np.int64)
    shared, size = words[some] @ words.T, words.sum(axis=1)
    for i, u in enumerate(some):  # without roots: cosine² times the size of u is shared²/size, an exact fraction
        order = sorted((v for v in range(graph.n) if v != u), key=lambda v: (-round(shared[i, v] ** 2 / size[v], 9), v))
        assert found.indices[u].tolist() == order[:6]


def test_knn_operator_is_symmetric():
    x = binary(np.random.default_rng(1))
    operator = knn_operator(NodeGraph(x, []), 3, "none")
    np.testing.assert_array_equal(operator.adjacency.toarray(), literal.feature_adjacency(x, 3))
    assert [finding.code for finding in operator.findings] == ["knn-ties"]
    assert f"{np.mean(literal.exact_knn(x, 3)[1]):.1%}" in operator.findings[0].text


@pytest.mark.parametrize("how", ["symmetric", "row", "none"])
def test_operator_normalises_with_one_loop_per_node(how):
    x = binary(np.random.default_rng(1))
    operator = knn_operator(NodeGraph(x, []), 3, how)
    expected = literal.normalised_adjacency(literal.feature_adjacency(x, 3), how)
    np.testing.assert_allclose(operator.matrix.toarray(), expected, rtol=1e-6)


def test_too_few_others_with_features_is_a_finding():
    x = np.zeros((6, 3))
    x[0], x[1], x[2] = [1, 0, 0], [1, 1, 0], [1, 1, 1]
    operator = knn_operator(NodeGraph(x, []), 4, "row")
    assert [finding.code for finding in operator.findings] == ["knn-few"]
    assert "3 nodes" in operator.findings[0].text
