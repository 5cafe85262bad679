"""Two tables as a graph: mistakes are named by their line."""

import gzip

import pytest
import scipy.sparse as sp

from dccgcn.errors import GraphError
from dccgcn.store.model import Model
from dccgcn.workflow.fitting import run
from helpers.tables import EDGES, NODES, codes, refused


def test_two_tables_give_a_graph(tables):
    read = tables()
    graph = read.graph
    assert graph.ids.tolist() == ["007", "x", "=3", "08"]
    assert graph.classes == ("food", "graphs")
    assert graph.labels.tolist() == [1, -1, 0, -1]
    assert graph.edges.tolist() == [[0, 1], [1, 3], [2, 3]]
    assert sp.issparse(graph.features)
    assert graph.name == "nodes.csv"
    assert dict(read.columns.features) == {"title": "text", "age": "standard", "country": "categorical"}


@pytest.mark.parametrize(
    ("nodes", "edges", "options", "words"),
    [
        ("", EDGES, {}, ["nodes.csv is empty"]),
        ("\n\n", EDGES, {}, ["nodes.csv is empty"]),
        ("id,topic,f\n", EDGES, {}, ["nodes.csv has no rows"]),
        (NODES, "", {}, ["edges.csv is empty"]),
        (NODES + "a,b\nc,d,e,f,g,h\n", EDGES, {}, ["2 lines", "5 cells", "line 6 (2), line 7 (6)"]),
        (NODES.replace("x,,", 'x,,"'), EDGES, {}, ["Line 3", "malformed"]),
        (NODES + '"a"b,c,d,1,e\n', EDGES, {}, ["Line 6", "malformed"]),
        (NODES.encode() + b"\xff\xfe,,a,1,b\n", EDGES, {}, ["Line 6", "not utf-8 text", "latin-1"]),
        (NODES + "a\0,,b,1,c\n", EDGES, {}, ["Line 6", "NUL"]),
        (b"PK\x03\x04 something", EDGES, {}, ["Excel", "CSV"]),
        (b"PAR1 something", EDGES, {}, ["not a whole Parquet file"]),
        (gzip.compress(NODES.encode())[:-9], EDGES, {}, ["not a whole gzip file"]),
        (NODES.replace("country", "age"), EDGES, {}, ["share a name", "'age'"]),
        (NODES, EDGES, {"label": "topics"}, ["no column 'topics'", "Did you mean 'topic'?"]),
        (NODES, EDGES, {"id": "key"}, ["no column 'key' for the id", "Its columns are: 'id', 'topic'"]),
        (NODES, EDGES, {"features": ["w*"]}, ["no column 'w*'"]),
        (NODES, EDGES, {"id": "topic", "label": "topic"}, ["both id and label"]),
        (NODES, EDGES, {"encoding": "klingon"}, ["no encoding 'klingon'"]),
        (NODES, "source\n007\n", {}, ["edges.csv has 1 columns"]),
        (NODES, EDGES, {"source": "source", "target": "source"}, ["both ends"]),
        (NODES, EDGES + "007,\n", {}, ["1 cells of column 'target' are empty", "line 5 of edges.csv"]),
        (NODES + ",a,b,1,c\n", EDGES, {}, ["column 'id' are empty", "line 6 of nodes.csv"]),
        (NODES + "7.0,,a,1,b\n7,,a,1,b\n", EDGES, {}, ["how a number is written", "'7.0', '7'"]),
        ("id,topic\na,x\nb,y\n", "u,v\na,b\n", {}, ["no feature columns"]),
        ("id,topic,link\na,x,http://a\nb,y,http://b\n", "u,v\na,b\n", {}, ["No column", "'link'"]),
        ("id,topic,f\na,x,?\nb,y,!\n", "u,v\na,b\n", {"text": ["f"]}, ["'f' holds no words"]),
    ],
)  # fmt: skip
def test_mistakes_are_named(tables, nodes, edges, options, words):
    refused(tables, *words, nodes=nodes, edges=edges, **options)


def test_row_11_an_edge_to_an_unknown_id_is_named_by_its_line(tables):
    edges = EDGES + "007,nobody\n\nx,nobody\n"
    refused(tables, "2 edges", "'nobody'", "lines 5, 7 of edges.csv", "drop", edges=edges)
    graph = tables(edges=edges, unknown_ids="drop").graph
    assert graph.edges.tolist() == tables().graph.edges.tolist()
    assert "dropped-edges" in codes(graph)
    assert "lines 5, 7" in next(f.text for f in graph.findings if f.code == "dropped-edges")


@pytest.mark.parametrize(("end", "why"), [(" x", "blanks"), ("X", "capitals"), ("7.0", "a decimal point")])
def test_row_11_the_likely_reason_is_reported(tables, end, why):
    nodes = NODES + "7,,more graphs and networks,9,DE\n"
    refused(tables, f"by {why} only", nodes=nodes, edges=f"{EDGES}007,{end}\n")


def test_row_10_a_weight_is_named_by_its_line(tables):
    for bad in ("0", "-1", "", "nan", "heavy"):
        edges = f"source,target,weight\n007,x,1\n=3,08,{bad}\n"
        refused(tables, "1 edge weights", "line 3 of edges.csv", edges=edges)
    assert tables(edges="source,target,weight\n007,x,2.5\n=3,08,1\n").graph.weights.tolist() == [2.5, 1]


def test_row_14_a_duplicate_id_is_named_by_its_lines(tables):
    refused(tables, "'x' occurs 2 times", "lines 3, 6 of nodes.csv", nodes=NODES + "x,,a,1,b\n")


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        (NODES, EDGES.removeprefix("source,target\n"), "edges.csv has no header; its columns are called c1 to c2"),
        (NODES.partition("\n")[2], EDGES, "nodes.csv has no header; its columns are called c1 to c5"),
        (NODES, "# from somewhere\n# source,target\n" + EDGES.partition("\n")[2], ""),
        (NODES, "% source and target\n" + EDGES, ""),
        (NODES, "#source,target\n" + EDGES.partition("\n")[2], ""),
        (NODES.replace("=3", "3"), EDGES.replace("=3", "3").replace(",", "   "), ""),
    ],
)
def test_tables_without_header_with_comments_and_with_blanks_between_cells(tables, nodes, edges, words):
    read = tables(nodes, edges, label="topic" if nodes.startswith("id") else "c2")
    assert read.graph.edges.tolist() == tables().graph.edges.tolist()
    assert read.graph.labels.tolist() == tables().graph.labels.tolist()
    assert words in read.graph.findings[0].text


def test_edge_lists_as_snap_writes_them(tables):
    nodes = "# Nodes: 4\n0 1 2.5\n5 1 0.5\n7 2 3.5\n9 2 7.5\n"
    for edges in ("# Edges: 3\n# FromNodeId\tToNodeId\n0\t5\n5\t7\n9\t5\n", "0 5\n5 7\n9 5\n"):
        read = tables(nodes, edges, suffix=".txt", label="c2")
        assert read.graph.ids.tolist() == ["0", "5", "7", "9"]
        assert read.graph.edges.tolist() == [[0, 1], [1, 2], [1, 3]]
        assert read.graph.classes == (1, 2)
    refused(tables, "edges.txt", "line 5", nodes=nodes, edges="# a b\n\n0 5\n5 7\n9 8\n", suffix=".txt")


def test_new_nodes_without_a_header_are_read_as_those_of_training(tables, tmp_path):
    nodes = "".join(f"n{i},{'ab'[i % 2]},{i % 2},20{i:02}-01-05\n" for i in range(20))
    read = tables(nodes, "n0,n2\nn1,n3\n", label="c2")
    assert set(read.columns.features) == {"c3", "c4[days]", "c4[weekday]"}
    model = Model(run(read, method="concord"))
    (tmp_path / "more.csv").write_text("new,,1,2003-01-05\nnext,,0,2004-01-05\n")
    (tmp_path / "more-edges.csv").write_text("new,n1\nnext,n0\n")
    graph = model.read(tmp_path / "more.csv", tmp_path / "more-edges.csv")
    assert graph.ids.tolist()[-2:] == ["new", "next"]
    assert {(1, 20), (0, 21)} <= set(map(tuple, graph.edges.tolist()))
    assert (graph.features[[20]] != read.graph.features[[3]]).nnz == 0


def test_what_is_read_prints_in_a_line(tables, tmp_path):
    read = tables()
    for shown in (read, read.encoder, Model(run(read, method="ssgc"))):
        assert len(repr(shown)) < 400
    assert "id='id', label='topic'" in repr(read)
    with pytest.raises(GraphError, match=r"label=\['y'\] is not the name of one column"):
        tables(label=["y"])
    with pytest.raises(GraphError, match="Did you mean 'label'"):
        tables(Label="y")


def test_labels_can_be_held_out_in_python(tables):
    nodes = "id,topic,x\n" + "".join(f"n{i},{'ab'[i % 2]},{i % 2}\n" for i in range(20))
    result = run(tables(nodes, "u,v\nn0,n2\n"), method="ssgc", hold_out=0.4)
    assert (len(result.split.train), len(result.split.test)) == (12, 8)
