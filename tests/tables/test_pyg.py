"""PyG's HeteroData: relations among the nodes of one type, and meta-paths through others."""

import numpy as np
import pytest

from dccgcn import from_pyg, run
from dccgcn.errors import GraphError
from dccgcn.tables.convert import split_from_pyg
from helpers.tables import codes

torch = pytest.importorskip("torch")
HeteroData = pytest.importorskip("torch_geometric.data").HeteroData


def index(*pairs):
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T


@pytest.fixture
def library():
    """Six papers, of which the even ones share authors; authors work at an institution."""
    data = HeteroData()
    data["paper"].x = torch.eye(6)
    data["paper"].y = torch.tensor([0, 1, 0, 1, 0, 1])
    data["author"].x = torch.eye(3)
    data["institution"].num_nodes = 1
    data["paper", "cites", "paper"].edge_index = index((0, 2), (1, 3), (0, 2))
    data["author", "writes", "paper"].edge_index = index((0, 0), (0, 2), (0, 4), (1, 1), (1, 3), (2, 5))
    data["paper", "rev_writes", "author"].edge_index = index((0, 0), (2, 0), (4, 0), (1, 1), (3, 1), (5, 2))
    data["author", "works", "institution"].edge_index = index((0, 0))
    return data


def test_edges_and_meta_paths_of_the_labelled_type_are_relations(library):
    graph = from_pyg(library)
    assert list(graph.relations) == ["cites", "paper-author-paper"]
    assert graph.relation_sizes == {"cites": 2, "paper-author-paper": 4}
    expected = np.zeros((6, 6))
    for group, weight in (((0, 2, 4), 0.5), ((1, 3), 1.0)):  # each author's weight is divided among co-papers
        for u in group:
            for v in group:
                expected[u, v] = weight * (u != v)
    np.testing.assert_allclose(graph.relations["paper-author-paper"].toarray(), expected)
    assert graph.labels.tolist() == [0, 1, 0, 1, 0, 1]
    assert {"unreached-types", "features-of-other-types"} <= set(codes(graph))
    text = " ".join(finding.text for finding in graph.findings)
    assert "'institution' are not used" in text
    assert not {"no-edges", "self-loops"} & set(codes(graph))  # a paper is no neighbour of its own


def test_two_kinds_of_edges_to_one_type_are_two_meta_paths(library):
    library["author", "reviews", "paper"].edge_index = index((2, 0), (2, 1))
    names = list(from_pyg(library).relations)
    assert names == ["cites", "paper-author-paper writes", "paper-author-paper reviews"]


def test_the_reverse_of_a_relation_is_not_another_one(library):
    library["paper", "cited-by", "paper"].edge_index = index((2, 0), (3, 1))
    for directed in (False, True):
        graph = from_pyg(library, directed=directed)
        assert list(graph.relations) == ["cites", "paper-author-paper"]
        assert (graph.relations["cites"].toarray()[2, 0] == 0) == directed


def test_masks_are_the_split_of_run(library):
    library["paper"].train_mask = torch.tensor([True, True, True, True, False, False])
    library["paper"].test_mask = ~library["paper"].train_mask
    result = run(library)
    assert result.split.train.tolist() == [0, 1, 2, 3]
    assert result.split.test.tolist() == [4, 5]
    assert {"cites.hop1", "paper-author-paper.hop1"} <= set(result.prediction.channels)
    assert result.prediction.y_pred[4] == 0
    graph = from_pyg(library)
    assert "masks-not-used" in codes(graph)
    assert split_from_pyg(library, graph).hash == result.split.hash


def test_a_path_through_a_node_of_nearly_all_is_left_out():
    n, data = 210, HeteroData()
    data["paper"].x, data["paper"].y = torch.rand(n, 3), torch.arange(n) % 2
    data["venue"].num_nodes = 1
    data["paper", "in", "venue"].edge_index = index(*((i, 0) for i in range(n)))
    data["paper", "cites", "paper"].edge_index = index((0, 1))
    graph = from_pyg(data)
    assert list(graph.relations) == ["cites"]
    assert "dense-meta-path" in codes(graph)
    del data["paper", "cites", "paper"]
    with pytest.raises(GraphError, match="No edges lead from paper to paper"):
        from_pyg(data)


def test_mistakes_are_refused_with_a_remedy(library):
    library["author"].y = torch.tensor([0, 1, 1])
    with pytest.raises(GraphError, match=r"Several types of nodes have labels: 'paper', 'author'.*node_type="):
        run(library)
    assert from_pyg(library, node_type="author").n == 3
    with pytest.raises(GraphError, match=r"no nodes of type 'book'.*'paper'"):
        from_pyg(library, node_type="book")
    del library["author"].y, library["paper"].y
    with pytest.raises(GraphError, match="No node has a y"):
        from_pyg(library)
    library["paper", "cites", "paper"].edge_index = index((0, 9))
    with pytest.raises(GraphError, match=r"do not fit its nodes|points outside"):
        from_pyg(library, node_type="paper")


def test_edge_weights_are_used_and_of_repeated_edges_the_largest(library):
    library["paper", "cites", "paper"].edge_weight = torch.tensor([2.0, 3.0, 5.0])
    assert from_pyg(library, directed=True).relations["cites"].toarray()[[0, 1], [2, 3]].tolist() == [5, 3]
