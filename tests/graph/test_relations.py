"""Several kinds of edges, with and without direction."""

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn import NodeGraph, append_nodes
from dccgcn.errors import GraphError

X = np.eye(4)


def matrix(pairs: list[tuple[int, int]], n: int = 4) -> np.ndarray:
    a = np.zeros((n, n))
    for u, v in pairs:
        a[u, v] = 1
    return a


def test_the_union_of_all_relations_is_the_adjacency() -> None:
    graph = NodeGraph(X, [(0, 3)], [0, 1, None, None])
    degree = graph.degree
    other = graph.with_relations({"cites": [(0, 1), (1, 0), (2, 2)], "friends": [(2, 1)]})
    assert other.edges.tolist() == [[0, 1], [1, 2]]
    np.testing.assert_array_equal(other.adjacency.toarray(), matrix([(0, 1), (1, 0), (1, 2), (2, 1)]))
    np.testing.assert_array_equal(other.relations["cites"].toarray(), matrix([(0, 1), (1, 0)]))
    assert other.degree.tolist() == [1, 2, 1, 0]
    assert not graph.relations
    assert graph.degree is degree
    assert other.with_labels([0, 1, 1, 0]).relations.keys() == {"cites", "friends"}


def test_directed_relations_keep_their_direction_and_weights() -> None:
    weighted = sp.csr_array(([2.0, 3.0, 5.0], ([0, 1, 2], [1, 0, 3])), shape=(4, 4))
    graph = NodeGraph(X, [], [0, 1, None, None]).with_relations({"pays": weighted, "owns": [(3, 0)]}, directed=True)
    np.testing.assert_array_equal(graph.relations["pays"].toarray(), weighted.toarray())
    np.testing.assert_array_equal(graph.relations["owns"].toarray(), matrix([(3, 0)]))
    assert dict(zip(map(tuple, graph.edges.tolist()), graph.weights.tolist(), strict=True)) == {
        (0, 1): 3.0, (0, 3): 1.0, (2, 3): 5.0,
    }  # fmt: skip
    with pytest.raises(ValueError, match="read-only"):
        graph.relations["owns"].data[0] = 2


@pytest.mark.parametrize(
    ("relations", "message"),
    [({}, "no relation"), ({"a.b": [(0, 1)]}, "cannot be called"), ({"a": [(0, 9)]}, "outside"), ({1: []}, "called")],
)
def test_relations_that_fit_nothing_are_refused(relations: dict, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        NodeGraph(X, []).with_relations(relations)


@pytest.mark.parametrize("directed", [False, True])
def test_new_nodes_have_edges_of_each_relation(directed: bool) -> None:
    graph = NodeGraph(X, [], [0, 1, None, None]).with_relations({"a": [(0, 1)], "b": [(2, 3)]}, directed)
    larger = append_nodes(graph, [[1, 0, 0, 0]], {"b": [(4, 2)]})
    assert larger.directed == directed
    np.testing.assert_array_equal(larger.relations["a"].toarray()[:4, :4], graph.relations["a"].toarray())
    new = larger.relations["b"].toarray()
    assert (new[4, 2], new[2, 4]) == (1, 0 if directed else 1)
    assert larger.edges.tolist() == [[0, 1], [2, 3], [2, 4]]
    for wrong in ({"c": [(4, 0)]}, [(4, 0)]):
        with pytest.raises(GraphError, match="relations that the graph does not have"):
            append_nodes(graph, [[1, 0, 0, 0]], wrong)
    with pytest.raises(GraphError, match="one kind of edges"):
        append_nodes(NodeGraph(X, []), [[1, 0, 0, 0]], {"a": [(4, 0)]})
