"""NodeGraph against bad input. The row numbers are those of the project's table of bad inputs."""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import NodeGraph

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
EDGES = [(0, 1), (1, 2), (2, 3)]


def graph(**changes: Any) -> NodeGraph:
    return NodeGraph(**({"features": X, "edges": EDGES, "labels": ["a", "b", None, "a"]} | changes))


def codes(built: NodeGraph) -> list[str]:
    return [finding.code for finding in built.findings]


def refused(match: str, **changes: Any) -> None:
    with pytest.raises(GraphError, match=match) as caught:
        graph(**changes)
    assert caught.value.remedy, "an error without a remedy"


def test_a_sound_graph_has_no_findings() -> None:
    built = graph()
    assert built.findings == ()
    assert (built.n, built.d, built.c) == (4, 2, 2)
    assert built.features.dtype == np.float32
    assert built.labels.tolist() == [0, 1, -1, 0]
    assert built.labelled.tolist() == [0, 1, 3]
    assert built.degree.tolist() == [1, 2, 2, 1]
    assert built.homophily == 0.0
    assert (built.adjacency != built.adjacency.T).nnz == 0
    assert "4 nodes, 3 edges" in repr(built)


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_row_50_a_graph_cannot_be_altered_and_does_not_alter_what_it_was_given(form) -> None:
    ids, labels, features = np.array([4, 3, 2, 1]), np.array([0, 1, 0, 1]), form(np.eye(4, dtype=np.float32))
    built = graph(ids=ids, labels=labels, features=features)
    for made in (built, built.with_features(features)):
        x = made.features
        arrays = (x.data, x.indices, x.indptr) if sp.issparse(x) else (x,)
        derived = (made.degree, made.component, made.has_features)
        for array in (made.ids, made.edges, made.weights, made.labels, *arrays, *derived):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]
    for name in ("features", "findings", "new"):
        with pytest.raises(AttributeError, match=f"NodeGraph is immutable, so {name} cannot be set"):
            setattr(built, name, ())
    with pytest.raises(AttributeError, match="immutable"):
        del built.labels
    ids[0], labels[0], features[0, 0] = 9, 1, 5
    assert built.ids[0] == 4
    assert built.labels[0] == 0
    assert built.features[0, 0] == 1


def test_a_copy_shares_all_but_what_changes() -> None:
    built = graph()
    assert built.cached("key", lambda: 1) == 1
    finding = Finding("note", "test", "A test.")
    noted, relabelled = built.with_findings([finding]), built.with_labels([1, 1, 1, 2])
    other = built.with_features(2 * X)
    assert noted.findings == (finding,)
    assert built.findings == relabelled.findings == ()
    assert relabelled.homophily != built.homophily
    for copied in (noted, relabelled, other):
        assert copied.edges is built.edges
    assert noted.cached("key", lambda: 2) == relabelled.cached("key", lambda: 2) == 1
    assert other.cached("key", lambda: 2) == 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_row_01_features_that_are_not_finite(bad: float, form: Any) -> None:
    x = X.copy()
    x[1, 0] = x[3, 1] = bad
    refused(r"2 features are NaN or infinite, at nodes 'n1', 'n3'", features=form(x), ids=["n0", "n1", "n2", "n3"])
    zeroed, averaged = graph(features=form(x), impute="zero"), graph(features=form(x), impute="mean")
    refused("impute='median'", impute="median")
    assert codes(zeroed)[0] == codes(averaged)[0] == "imputed-features"
    dense = sp.csr_array(averaged.features).toarray()
    assert sp.csr_array(zeroed.features).toarray()[[1, 3], [0, 1]].tolist() == [0, 0]
    assert dense[1, 0] == pytest.approx((1 + 1 + 2) / 3)
    assert dense[3, 1] == pytest.approx((0 + 1 + 1) / 3)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_row_02_zero_rows_are_named(form: Any) -> None:
    x = X.copy()
    x[2] = 0
    built = graph(features=form(x))
    assert codes(built) == ["zero-features"]
    assert built.findings[0].text.endswith(": 2.")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("x", [np.zeros((4, 2)), np.ones((4, 2)), np.tile([0.0, 3.0], (4, 1))])
def test_row_03_features_that_are_the_same_everywhere(form: Any, x: np.ndarray) -> None:
    refused("All nodes have the same features", features=form(x))
    assert codes(graph(features=form(x), featureless=True)) == ["no-features"]
    x = x.copy()
    x[3, 1] += 1
    assert "no-features" not in codes(graph(features=form(x)))


def test_row_04_no_feature_columns() -> None:
    refused("no feature columns", features=np.empty((4, 0)))
    refused("no nodes", features=np.empty((0, 2)))
    refused("matrix with one row per node", features=np.ones(4))
    refused("must be numbers", features=[["x", "y"]] * 4)


def test_row_06_no_edges_at_all() -> None:
    for edges in ([], np.empty((0, 2)), sp.csr_array((4, 4))):
        built = graph(edges=edges)
        assert codes(built) == ["no-edges"]
        assert built.adjacency.nnz == 0
        assert np.isnan(built.homophily)


def test_row_09_directed_edges_are_made_symmetric() -> None:
    built = graph(edges=[*EDGES, (1, 0)])
    assert codes(built) == ["directed-edges"]
    assert built.findings[0].level == "warning"
    chain = [(i, i + 1) for i in range(39)]
    once = NodeGraph(np.eye(40), [*chain, (1, 0)])  # one of many: by accident, perhaps
    assert [(finding.code, finding.level) for finding in once.findings] == [("directed-edges", "note")]
    assert built.edges.tolist() == graph().edges.tolist()
    both_ways = [*EDGES, *((v, u) for u, v in EDGES)]
    assert codes(graph(edges=both_ways)) == []


@pytest.mark.parametrize("weight", [-1.0, 0.0, np.nan, np.inf, 1e300])
def test_row_10_edge_weights_must_be_positive(weight: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused("1 edge weights are negative, zero or not finite, at edges 1", edge_weights=[1, weight, 1])
    refused("2 edge weights for 3 edges", edge_weights=[1, 1])


def test_row_11_edges_to_nodes_that_are_not_there() -> None:
    refused("2 edges point outside the 4 nodes, at edges 1, 2", edges=[(0, 1), (1, 4), (-1, 2)])
    refused(re.escape("edge_index is its transpose"), edges=np.array([[0, 1, 2], [1, 2, 3]]))
    refused("integer node positions", edges=[(0.0, 1.0)])
    refused(r"shape \(3, 3\) for 4 nodes", edges=sp.csr_array((3, 3)))


@pytest.mark.parametrize("ids", [[1, "1", 2, 3], [1.0, "1", 2, 3], ["2", 0, 1, 2.0]])
def test_row_13_ids_that_differ_only_in_type(ids: list[Any]) -> None:
    refused("differ only in type", ids=ids)


@pytest.mark.parametrize("ids", [[1, 1, 2, 3], ["a", "b", "c", "a"], np.array([5, 6, 6, 7]), [2.0, 2, 1, 0]])
def test_row_14_duplicate_ids(ids: Any) -> None:
    refused("occurs 2 times", ids=ids)


@pytest.mark.parametrize("ids", [np.array([1.0, 2, 3, 4]), np.array([1, 2, 3, 4], np.uint64), np.arange(4, dtype="i1")])
def test_whole_numbers_of_all_types_are_ids(ids: np.ndarray) -> None:
    assert graph(ids=ids).ids.dtype == np.int64


@pytest.mark.parametrize("one", [("a", 1), b"a", "\ud800", pd.Timestamp("2020"), 1j])
def test_what_no_file_gives_back_equal_is_no_label(one: Any) -> None:
    refused("A label is a", labels=["a", one, "b", None])


def test_row_15_lengths_that_differ() -> None:
    refused("3 labels for 4 rows", labels=[0, 1, 0])
    refused("5 ids for 4 rows", ids=range(5))
    refused("shape", ids=np.arange(4).reshape(4, 1))
    refused("dict", ids={0: 1, 1: 2, 2: 3, 3: 4})


@pytest.mark.parametrize("missing", [-1, -1.0, None, "", "  ", np.nan, pd.NA, pd.NaT])
def test_row_16_what_counts_as_unlabelled(missing: Any) -> None:
    assert graph(labels=["a", missing, "b", "a"]).labels.tolist() == [0, -1, 1, 0]


def test_row_16_further_marks_of_unlabelled_and_array_forms() -> None:
    assert graph(labels=["a", "?", "b", "a"], unlabelled=["?"]).labels.tolist() == [0, -1, 1, 0]
    assert graph(labels=[np.int64(9), 1, 2, 1], unlabelled=[9]).labels.tolist() == [-1, 0, 1, 0]
    assert graph(labels=torch.tensor([2, -1, 5, 2])).labels.tolist() == [0, -1, 1, 0]
    assert graph(labels=pd.Series([2, None, 5, 2])).classes == (2, 5)
    assert graph(labels=None).labelled.tolist() == []


def test_row_17_a_class_called_minus_one() -> None:
    labels = ["a", "-1", "b", "a"]
    refused("text '-1'", labels=labels)
    assert graph(labels=labels, unlabelled=["-1"]).labels.tolist() == [0, -1, 1, 0]
    assert graph(labels=labels, classes=["-1", "a", "b"]).labels.tolist() == [1, 0, 2, 1]
    refused("-1 is among the classes", labels=[-1, 1, -1, 1], classes=[-1, 1])
    assert graph(labels=None, classes=np.array(["a", "b"])).classes == ("a", "b")


def test_row_21_a_listed_class_without_labels_keeps_its_column() -> None:
    built = graph(classes=["b", "unseen", "a"])
    assert built.classes == ("b", "unseen", "a")
    assert built.labels.tolist() == [2, 0, -1, 2]
    refused("outside the listed classes: 'b'", classes=["a"])
    refused("Class names repeat", classes=["a", "b", "a"])


def test_row_23_fractions_are_not_classes() -> None:
    refused("some are fractions: 1.5", labels=[1.5, 0, 1, 0])
    assert graph(labels=[2.0, np.nan, 1.0, 2.0]).classes == (1, 2)


def test_row_42_messages_stay_readable_with_long_ids() -> None:
    with pytest.raises(GraphError) as caught:
        graph(ids=["x" * 10_000, "a", "b", "x" * 10_000])
    assert len(str(caught.value)) < 300


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
labels_of_any_kind = st.lists(
    st.one_of(st.integers(0, 2**70), texts.filter(lambda t: t.strip() not in ("", "-1")), st.booleans()),
    min_size=2,
    max_size=15,
)


@settings(max_examples=60)
@given(labels_of_any_kind)
def test_row_22_labels_of_any_kind_come_back(labels: list[Any]) -> None:
    built = NodeGraph(np.eye(len(labels)), [], labels)
    given_back = [built.classes[code] for code in built.labels]
    assert given_back == labels
    assert [type(y) for y in given_back] == [type(y) for y in labels]


@settings(max_examples=60)
@given(st.lists(st.one_of(st.integers(), texts.filter(str.strip)), min_size=2, max_size=15, unique_by=str))
def test_row_12_ids_of_any_kind_come_back(ids: list[Any]) -> None:
    given_back = NodeGraph(np.eye(len(ids)), [], ids=ids).ids.tolist()
    assert given_back == ids
    assert [type(i) for i in given_back] == [type(i) for i in ids]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (pd.DataFrame({"topic": list("abab")}), "shape"),
        (np.array([[0], [1], [0], [1]]), "shape"),
        (np.eye(4), "shape"),
        ({0: "a", 1: "b", 2: "a", 3: "b"}, "dict"),
        ({"a", "b", "c", "d"}, "set"),
        (iter("abab"), "iterator"),
        ([["a"], ["b"], ["a"], ["b"]], "list"),
    ],
)
def test_labels_that_are_no_list_of_names_are_refused(labels: Any, words: str) -> None:
    refused(words, labels=labels)


def test_a_zero_that_is_stored_is_no_edge() -> None:
    adjacency = sp.csr_array(([0.0, 1.0, 1.0, 1.0], ([0, 0, 1, 2], [0, 1, 2, 3])), shape=(4, 4))
    assert graph(edges=adjacency).edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    refused("weights of its own", edges=adjacency, edge_weights=[1.0, 1.0, 1.0])
    refused("must be numbers", edge_weights=["a", "b", "c"])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_features_too_large_to_be_squared_are_not_called_infinite(form: Any) -> None:
    refused("1.0e.40.*beyond single precision", features=form(X * 0.5e40))
    refused("beyond single precision", features=form(-X * 1e20), impute="zero")


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([1.0, 0.5, 2.0])), max_size=20))
def test_edges_are_merged_as_one_by_one(given_edges: list[tuple[int, int, float]]) -> None:
    for equal in (False, True):
        expected: dict[tuple[int, int], float] = {}
        for u, v, weight in given_edges:
            if u != v:
                pair = (min(u, v), max(u, v))
                expected[pair] = max(expected.get(pair, 0), 1.0 if equal else weight)
        pairs = np.array([edge[:2] for edge in given_edges], dtype=np.int64).reshape(-1, 2)
        weights = None if equal else [edge[2] for edge in given_edges]
        graph = NodeGraph(np.eye(6), pairs, edge_weights=weights)
        assert [tuple(edge) for edge in graph.edges.tolist()] == sorted(expected)
        assert graph.weights.tolist() == [expected[pair] for pair in sorted(expected)]


def test_codes_are_labels_without_their_names():
    named = NodeGraph(np.eye(3), [(0, 1)], ["b", None, "a"])
    graph = NodeGraph.from_codes(np.eye(3), [(0, 1)], [1, -1, 0], ["a", "b"])
    assert graph.classes == named.classes
    assert graph.labels.tolist() == named.labels.tolist() == named.with_codes([1, -1, 0]).labels.tolist()
    for codes, words in (([0, 1], "2 labels for 3 nodes"), ([0, 1, 2], "there are 2 classes"), ([-2, 0, 1], "-2 to 1")):
        with pytest.raises(GraphError, match=words):
            named.with_codes(codes)


@pytest.mark.parametrize(
    ("edges", "found", "text"),
    [
        ([(0, 1)], ["isolated-nodes"], "2 nodes have no edge"),
        ([*EDGES, (1, 1), (3, 3)], ["self-loops"], ""),
        ([(1, 1)], ["self-loops", "no-edges"], ""),
        ([*EDGES, (0, 1), (0, 1)], ["duplicate-edges"], "2 duplicate"),
    ],
)
def test_rows_05_07_08_edges_that_are_missing_twice_or_loops(edges: list, found: list[str], text: str) -> None:
    built = graph(edges=edges, ids=["a", "b", "c", "d"])
    assert codes(built) == found
    assert text in built.findings[0].text
    assert found[0] != "isolated-nodes" or "'c', 'd'" in built.findings[0].text
    assert len(edges) < 3 or built.edges.tolist() == graph().edges.tolist()
    assert built.adjacency.max() <= 1
