"""Edges of several kinds, and with direction, from tables."""

import gzip

import numpy as np
import pandas as pd
import pytest

from dccgcn import read_tables
from dccgcn.errors import DccgcnError
from dccgcn.tables.write import to_frames
from helpers.tables import codes

NODES = pd.DataFrame({"id": list("abcd"), "topic": ["x", "y", None, None], "age": [1, 2, 3, 4]})
CITES = pd.DataFrame({"citing": ["a", "b", "a"], "cited": ["b", "c", "b"]})
LIKES = pd.DataFrame({"from": ["d"], "to": ["a"], "weight": [2.0]})


def entries(graph, relation):
    rows, cols = graph.relations[relation].nonzero()
    pairs = [f"{graph.ids[u]}{graph.ids[v]}" for u, v in zip(rows, cols, strict=True)]
    return dict(zip(pairs, graph.relations[relation][rows, cols].tolist(), strict=True))


@pytest.fixture
def files(tmp_path):
    """The tables as files: nodes, edges."""
    NODES.to_csv(tmp_path / "nodes.csv", index=False)
    CITES.to_csv(tmp_path / "cites.csv", index=False)
    with gzip.open(tmp_path / "likes.csv.gz", "wt") as file:
        LIKES.to_csv(file, index=False)
    return tmp_path / "nodes.csv", [tmp_path / "cites.csv", tmp_path / "likes.csv.gz"]


def test_each_file_is_a_relation_with_columns_of_its_own(files):
    read = read_tables(*files, label="topic")
    graph = read.graph
    assert list(graph.relations) == ["cites", "likes"]
    assert entries(graph, "cites") == {"ab": 1, "ba": 1, "bc": 1, "cb": 1}
    assert entries(graph, "likes") == {"ad": 2, "da": 2}
    assert not graph.directed
    assert graph.relation_sizes == {"cites": 2, "likes": 1}
    ends = {name: (at.source, at.target, at.weight) for name, at in read.columns.edges.items()}
    assert ends == {"cites": ("citing", "cited", None), "likes": ("from", "to", "weight")}
    assert "cites: 1 duplicate edges merged." in [f.text for f in graph.findings]
    assert "no-edges" not in codes(graph)
    assert "isolated-nodes" not in codes(graph)  # d has no citation, but a like


def test_frames_in_a_mapping_and_a_column_give_the_same_relations():
    mapped = read_tables(NODES, {"cites": CITES, "likes": LIKES}, label="topic", directed=True).graph
    both = pd.concat(
        [CITES.set_axis(["source", "target"], axis=1), LIKES.set_axis(["source", "target", "weight"], axis=1)]
    ).fillna({"weight": 1})
    by_column = read_tables(
        NODES, both.assign(kind=["cites"] * 3 + ["likes"]), label="topic", relation="kind", directed=True
    ).graph
    for name in ("cites", "likes"):
        assert entries(mapped, name) == entries(by_column, name)
    assert entries(mapped, "cites") == {"ab": 1, "bc": 1}
    assert mapped.directed


def test_directed_edges_of_one_table_are_a_relation_that_is_called_like_its_file(files):
    nodes, (cites, _) = files
    assert entries(read_tables(nodes, cites, directed=True).graph, "cites") == {"ab": 1, "bc": 1}
    assert entries(read_tables(nodes, [cites], directed=True).graph, "cites") == {"ab": 1, "bc": 1}
    assert list(read_tables(NODES, CITES, directed=True).graph.relations) == ["edges"]
    assert read_tables(nodes, [cites]).graph.relations == {}


def test_written_tables_read_back_the_same_relations():
    graph = read_tables(NODES, {"cites": CITES, "likes": LIKES}, label="topic").graph
    again = read_tables(*to_frames(graph), label="label", relation="relation").graph
    for name in ("cites", "likes"):
        np.testing.assert_array_equal(again.relations[name].toarray(), graph.relations[name].toarray())
    directed = read_tables(NODES, {"cites": CITES}, label="topic", directed=True).graph
    _, edges = to_frames(directed)
    assert edges.values.tolist() == [["a", "b", "cites"], ["b", "c", "cites"]]


@pytest.mark.parametrize(
    ("edges", "options", "words"),
    [
        ([CITES, LIKES], {}, ["DataFrames of edges need names", "mapping"]),
        ({"a/b": CITES}, {}, ["cannot be called 'a/b'", "letters"]),
        ({}, {}, ["no table of edges", "--edges"]),
        ({"cites": CITES, "likes": LIKES}, {"relation": "kind"}, ["Each table of edges is a relation", "--relation"]),
        (CITES.assign(kind=["x", "", "x"]), {"relation": "kind"}, ["1 edges have no relation", "row 1", "other"]),
        (CITES.assign(kind=["x", "a.b", "x"]), {"relation": "kind"}, ["cannot be called 'a.b'", "table of edges"]),
        (CITES, {"relation": "knd"}, ["no column 'knd' for the relation", "citing"]),
        (CITES, {"relation": "citing", "source": "citing"}, ["an end of the edges"]),
        ({"cites": CITES, "likes": LIKES}, {"weight": "w"}, ["no column 'w' for the weight"]),
        ({"cites": CITES.replace("c", "z")}, {}, ["not among the nodes", "edges of cites"]),
        ({"cites": CITES, "likes": LIKES.replace(2.0, -1.0)}, {}, ["weights are negative", "edges of likes"]),
    ],
)
def test_mistakes_are_refused_with_their_place_and_remedy(edges, options, words):
    with pytest.raises(DccgcnError) as caught:
        read_tables(NODES, edges, label="topic", **options)
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)


def test_a_column_of_many_values_is_no_relation():
    edges = pd.DataFrame({"source": ["a"] * 21, "target": ["b"] * 21, "time": range(21)})
    with pytest.raises(DccgcnError, match="'time' of the table of edges has 21 different values"):
        read_tables(NODES, edges, relation="time")


def test_files_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        CITES.to_csv(tmp_path / folder / "edges.csv", index=False)
    with pytest.raises(DccgcnError, match=r"cites=a/edges\.csv"):
        read_tables(NODES, [tmp_path / "a/edges.csv", tmp_path / "b/edges.csv"])
    CITES.to_csv(tmp_path / "my.edges.csv", index=False)
    with pytest.raises(DccgcnError, match=r"cites=my\.edges\.csv"):
        read_tables(NODES, [tmp_path / "a/edges.csv", tmp_path / "my.edges.csv"])
