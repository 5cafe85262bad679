"""Graphs of other libraries: what goes out comes back."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

import dccgcn
from dccgcn.errors import GraphError
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import per_class
from dccgcn.tables.convert import (
    from_networkx,
    from_pyg,
    from_scipy,
    split_from_pyg,
    to_networkx,
    to_pyg,
    to_scipy,
)


@st.composite
def graphs(draw):
    """Any small graph: words or numbers, named or numbered, weighted or not."""
    n = draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    x = rng.normal(size=(n, 3)).astype(np.float32)
    x[rng.random((n, 3)) < 0.5] = 0
    x[0] = x[1] + 1
    edges = rng.integers(0, n, (draw(st.integers(0, 2 * n)), 2))
    weights = rng.uniform(0.1, 2, len(edges)) if draw(st.booleans()) else None
    names = draw(st.sampled_from([["a", "b"], [3, 7], [True, False]]))
    labels = [None if rng.random() < 0.4 else names[rng.integers(2)] for _ in range(n)]
    ids = draw(st.sampled_from([None, [f"node {i}" for i in range(n)], [2**62 + i for i in range(n)]]))
    features = sp.csr_array(x) if draw(st.booleans()) else x
    return NodeGraph(features, edges, labels, ids=ids, classes=names, edge_weights=weights)


def same(one, other, named=True):
    assert np.array_equal(one.edges, other.edges)
    np.testing.assert_array_equal(one.weights, other.weights)
    np.testing.assert_array_equal(sp.csr_array(one.features).toarray(), sp.csr_array(other.features).toarray())
    if named:
        assert one.ids.tolist() == other.ids.tolist()
        spelled = [[graph.classes[c] if c >= 0 else None for c in graph.labels] for graph in (one, other)]
        assert spelled[0] == spelled[1]
        assert [type(y) for y in spelled[0]] == [type(y) for y in spelled[1]]


@settings(max_examples=60)
@given(graphs())
def test_there_and_back(graph):
    same(from_pyg(to_pyg(graph)), graph)
    same(from_networkx(to_networkx(graph)), graph)
    adjacency, features, labels = to_scipy(graph)
    back = from_scipy(adjacency, features, labels, ids=graph.ids)
    same(back, graph, named=False)
    assert [-1 if c < 0 else back.classes[c] for c in back.labels] == graph.labels.tolist()
    same(from_scipy(adjacency.toarray(), features), graph, named=False)


def test_pyg_masks_are_a_split(cora):
    split = per_class(cora.graph, 3, seed=1)
    data = to_pyg(cora.graph, split)
    assert data.validate()
    assert data.is_undirected()
    assert data.num_edges == 2 * len(cora.graph.edges)
    again = split_from_pyg(data, from_pyg(data))
    assert np.array_equal(again.train, split.train)
    assert np.array_equal(again.test, split.test)
    with pytest.raises(GraphError, match="no train_mask"):
        split_from_pyg(to_pyg(cora.graph), cora.graph)


def test_pyg_as_others_make_it():
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = Data(x=torch.eye(3).to_sparse(), edge_index=edge_index, y=torch.tensor([[0], [-1], [5]]))
    graph = from_pyg(data)
    assert sp.issparse(graph.features)
    assert graph.classes == (0, 5)
    assert graph.labels.tolist() == [0, -1, 1]
    with pytest.raises(GraphError, match="no edge_index"):
        from_pyg(Data(x=torch.eye(3)))


def test_networkx_as_others_make_it():
    given_graph = nx.DiGraph()
    given_graph.add_node("a", age=3, size=1.5, kind="x")
    given_graph.add_node("b", age=4, size=2.5)
    given_graph.add_edge("a", "b")
    given_graph.add_edge("b", "a", weight=2)
    graph = from_networkx(given_graph, features=["age", "size"], label="kind")
    assert graph.features.toarray().tolist() == [[3, 1.5], [4, 2.5]]
    assert graph.labels.tolist() == [0, -1]
    assert graph.weights.tolist() == [2]
    with pytest.raises(GraphError, match="2 nodes have no attribute 'x': 'a', 'b'"):
        from_networkx(given_graph, features="x")
    (unused,) = (f.text for f in from_networkx(given_graph).findings if f.code == "unused-attributes")
    assert "'age', 'kind', 'size'" in unused
    given_graph.nodes["a"]["x"], given_graph.nodes["b"]["x"] = [1.5, 2], [1.5]
    with pytest.raises(GraphError, match="vectors of 2 numbers, but not at row 1"):
        from_networkx(given_graph)


@pytest.fixture
def small():
    return NodeGraph(np.eye(4), [(0, 1), (1, 2), (2, 3)], ["a", "b", "c", None])


def test_unsupported_pyg_data_is_refused_or_reported(small):
    data = to_pyg(small)
    with pytest.raises(GraphError, match="No node has a y"):
        from_pyg(HeteroData())
    one_hot = data.clone()
    one_hot.y = torch.eye(3)[data.y.clamp(min=0) % 3]
    with pytest.raises(GraphError, match="one class per node"):
        from_pyg(one_hot)
    del data.edge_weight
    data.edge_attr = torch.ones(data.edge_index.shape[1], 1)
    assert "edge-attributes" in {finding.code for finding in from_pyg(data).findings}


def test_masks_of_several_splits_are_taken_by_column(small):
    data = to_pyg(small)
    known = torch.as_tensor(small.labels >= 0)
    data.train_mask = torch.stack([known, torch.zeros_like(known)], dim=1)
    with pytest.raises(GraphError, match="hold 2 splits"):
        split_from_pyg(data, small)
    assert split_from_pyg(data, small, column=0).train.tolist() == small.labelled.tolist()


def test_attributes_of_networkx_are_read_as_columns_and_missing_ones_are_named():
    given_graph = nx.Graph()
    for i in range(12):
        given_graph.add_node(i, x=i / 2, country=["DE", "FR"][i % 2])
    graph = from_networkx(given_graph, features=["x", "country"])
    assert (graph.n, graph.d) == (12, 3)
    with pytest.raises(GraphError, match="No node has an attribute 'clubb'"):
        from_networkx(given_graph, label="clubb")


def test_networkx_graphs_without_features_are_read_in_one_call():
    nx = pytest.importorskip("networkx")
    graph = dccgcn.from_networkx(nx.karate_club_graph(), label="club")
    assert (graph.n, graph.c, graph.has_features.any()) == (34, 2, False)
    assert "no-features" in [finding.code for finding in graph.findings]


def test_a_graph_without_features_is_built_in_one_call():
    graph = dccgcn.NodeGraph(None, [(0, 1), (1, 2)], ["a", None, "b"])
    assert (graph.n, graph.has_features.any()) == (3, False)
    assert dccgcn.NodeGraph(None, [(0, 3)]).n == 4
    assert dccgcn.NodeGraph(None, sp.csr_array((5, 5))).n == 5
    assert dccgcn.run(graph).to_frame()["prediction"].tolist()[::2] == ["a", "b"]
    with pytest.raises(GraphError, match="no nodes"):
        dccgcn.NodeGraph(None, [])


def test_masks_of_pyg_are_the_split_or_warned_of(cora):
    pytest.importorskip("torch_geometric")
    split = dccgcn.per_class(cora.graph, 2, seed=0)
    data = to_pyg(cora.graph, split)
    result = dccgcn.run(data, method="lp")
    assert result.split.train.tolist() == split.train.tolist()
    assert result.split.test.tolist() == split.test.tolist()
    assert "masks-not-used" not in [finding.code for finding in result.findings]
    graph = dccgcn.from_pyg(data)
    assert "masks-not-used" in [finding.code for finding in graph.findings]
    assert dccgcn.run(to_pyg(cora.graph), method="lp").split.kind == "all-labels"
    data.x = None
    assert not dccgcn.from_pyg(data).has_features.any()


def test_igraph_graphs_are_read():
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    given = igraph.Graph(edges=[(0, 1), (1, 2)])
    assert dccgcn.from_igraph(given).ids.tolist() == [0, 1, 2]
    given.vs["name"], given.vs["topic"], given.vs["age"] = ["a", "b", "c"], ["x", None, "y"], [3, 4, 6]
    given.es["weight"] = [2.5, 1]
    graph = dccgcn.from_igraph(given, features="age", label="topic")
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.labels.tolist() == [0, -1, 1]
    assert graph.weights.tolist() == [2.5, 1]
    assert graph.features.toarray().tolist() == [[3], [4], [6]]
    with pytest.raises(GraphError, match="no attribute 'colour'"):
        dccgcn.from_igraph(given, features="colour")
