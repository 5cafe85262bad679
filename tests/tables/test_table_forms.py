"""Files and DataFrames of every form give the same graph, or a sentence."""

import gzip
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from dccgcn.errors import DataFileError, GraphError
from dccgcn.tables.files import read_table
from dccgcn.tables.read import read_tables
from helpers.tables import EDGES, NODES, codes
from tools import fuzz


@pytest.mark.parametrize(
    "form", ["tsv", "gzip", "semicolon", "bom", "utf-16", "windows", "latin-1", "parquet", "frames"]
)
def test_every_form_of_a_table_gives_the_same_graph(tables, tmp_path, form):
    nodes, edges = NODES.replace("home", "cafés"), EDGES
    expected = tables(nodes, edges).graph
    match form:
        case "tsv":
            got = tables(
                nodes.replace(",", "\t").replace("networks\t", "networks,"), edges.replace(",", "\t"), suffix=".tsv"
            )
        case "gzip":
            got = tables(gzip.compress(nodes.encode()), gzip.compress(edges.encode()), suffix=".csv.gz")
        case "semicolon":
            got = tables(nodes.replace(",", ";").replace("networks;", "networks,"), edges.replace(",", ";"))
            assert codes(got.graph).count("delimiter") == 2
        case "bom":
            got = tables("\ufeff" + nodes, "\ufeff" + edges)
        case "utf-16":
            got = tables(nodes.encode("utf-16"), edges.encode("utf-16"))
        case "windows":
            got = tables(nodes.replace("\n", "\r\n"), edges.replace("\n", "\r\n"))
        case "latin-1":
            got = tables(nodes.encode("latin-1"), edges, encoding="latin-1")
        case _:
            frames = [read_table(tmp_path / f"{name}.csv", "x").frame for name in ("nodes", "edges")]
            frames[0] = frames[0].assign(age=frames[0]["age"].astype(int))
            if form == "parquet":
                for name, frame in zip(("nodes", "edges"), frames, strict=True):
                    frame.to_parquet(tmp_path / f"{name}.parquet")
                frames = [tmp_path / "nodes.parquet", tmp_path / "edges.parquet"]
            got = read_tables(*frames)
    assert got.graph.ids.tolist() == expected.ids.tolist()
    assert got.graph.edges.tolist() == expected.edges.tolist()
    assert got.graph.labels.tolist() == expected.labels.tolist()
    assert (got.graph.features != expected.features).nnz == 0


def test_a_missing_file_and_an_empty_folder(tmp_path):
    with pytest.raises(DataFileError, match="There is no file"):
        read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv")
    with pytest.raises(DataFileError, match="has no files"):
        read_tables(tmp_path, tmp_path)


@pytest.mark.parametrize(
    "ids",
    [["01", "1", "001"], ["9007199254740993", "9007199254740992", "-5"], ["nan", "NA", "None"], ["1e3", "1000", "a b"]],
)
def test_ids_of_a_text_file_are_never_parsed(tables, ids):
    graph = tables(
        "id,y,f\n" + "".join(f"{i},{y},{f}\n" for i, y, f in zip(ids, "ab", "12", strict=False)) + f"{ids[2]},,3\n",
        f"a,b\n{ids[0]},{ids[1]}\n{ids[1]},{ids[2]}\n",
    ).graph
    assert graph.ids.tolist() == ids
    assert graph.edges.tolist() == [[0, 1], [1, 2]]


def test_64_bit_ids_with_gaps_survive_parquet_and_frames(tmp_path):
    ids = [2**62 + 1, 2**62 + 2, 5]
    nodes = pd.DataFrame({"id": ids, "y": ["a", "b", None], "f": [1.0, 2.0, 3.0]})
    edges = pd.DataFrame({"source": ids[:2], "target": ids[1:]})
    nodes.to_parquet(tmp_path / "n.parquet")
    edges.to_parquet(tmp_path / "e.parquet")
    for pair in ((nodes, edges), (tmp_path / "n.parquet", tmp_path / "e.parquet")):
        assert read_tables(*pair).graph.ids.tolist() == ids
    with pytest.raises(GraphError, match="floats too large to be exact"):
        read_tables(nodes.assign(id=[float(i) for i in ids]), edges)


def test_edges_find_their_nodes_whatever_the_type(tmp_path):
    nodes = pd.DataFrame({"id": [1, 2, 3], "y": ["a", "b", None], "f": [1.0, 2.0, 3.0]})
    for ends in ([1.0, 2.0], ["1", "2"], [1, 2]):
        graph = read_tables(nodes, pd.DataFrame({"u": ends, "v": [2, 3]})).graph
        assert graph.edges.tolist() == [[0, 1], [1, 2]]
        assert graph.ids.tolist() == [1, 2, 3]


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_mutated_tables_end_in_a_graph_or_a_sentence(tmp_path: Path, start):
    outcomes = {fuzz.run(number, tmp_path) for number in range(start, start + 50)}  # anything else is raised
    assert {"graph"} < outcomes <= {"graph", "GraphError", "DataFileError", "SettingsError"}


@pytest.mark.parametrize("form", ["jsonl", "json", "feather", "xlsx"])
def test_typed_files_give_the_same_graph(tables, tmp_path, form):
    expected = tables(NODES.replace("=3", "3"), EDGES.replace("=3", "3")).graph  # Excel runs =3 as a formula
    frames = [read_table(tmp_path / f"{name}.csv", "x").frame.reset_index(drop=True) for name in ("nodes", "edges")]
    frames[0] = frames[0].assign(age=frames[0]["age"].astype(int))
    paths = [tmp_path / f"nodes.{form}", tmp_path / f"edges.{form}"]
    for path, frame in zip(paths, frames, strict=True):
        match form:
            case "jsonl":
                frame.to_json(path, orient="records", lines=True)
            case "json":
                frame.to_json(path, orient="records")
            case "feather":
                frame.to_feather(path)
            case "xlsx":
                pytest.importorskip("openpyxl")
                frame.to_excel(path, index=False)
    graph = read_tables(*paths).graph
    assert graph.ids.tolist() == expected.ids.tolist()
    assert graph.edges.tolist() == expected.edges.tolist()
    assert graph.labels.tolist() == expected.labels.tolist()
    assert (graph.features != expected.features).nnz == 0


def test_json_keeps_every_digit_and_names_a_bad_line(tmp_path):
    path = tmp_path / "n.jsonl"
    path.write_text('{"id": 9007199254740993, "x": 1}\n{"id": 9007199254740992, "x": 2, "y": "a"}\n')
    edges = pd.DataFrame({"source": ["9007199254740993"], "target": ["9007199254740992"]})
    assert read_tables(path, edges).graph.ids.tolist() == [9007199254740993, 9007199254740992]
    path.write_text('{"id": 1}\n{"id": \n')
    with pytest.raises(DataFileError, match="line 2"):
        read_tables(path, edges)
    path.write_text('[\n {"id": 1}, 2]')
    with pytest.raises(DataFileError, match="not objects"):
        read_tables(path, edges)
    path.write_text('{"id": 1, "x": 1, "x": 2}')
    with pytest.raises(DataFileError, match="line 1: an object has a name twice: 'id', 'x', 'x'"):
        read_tables(path, edges)


GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="topic" attr.type="string"/>
  <key id="d1" for="node" attr.name="age" attr.type="int"/>
  <key id="d2" for="edge" attr.name="weight" attr.type="double"/>
  <graph edgedefault="undirected">
    <node id="a"><data key="d0">x</data><data key="d1">30</data></node>
    <node id="b"><data key="d0">y</data><data key="d1">40</data></node>
    <node id="c"><data key="d1">55</data></node>
    <edge source="a" target="b"><data key="d2">2.5</data></edge>
    <edge source="b" target="c"><data key="d2">1</data></edge>
  </graph>
</graphml>
"""


def test_a_graphml_file_holds_nodes_and_edges(tmp_path):
    path = tmp_path / "g.graphml"
    path.write_text(GRAPHML)
    read = read_tables(path)
    assert read.graph.ids.tolist() == ["a", "b", "c"]
    assert read.graph.labels.tolist() == [0, 1, -1]
    assert read.graph.weights.tolist() == [2.5, 1]
    assert dict(read.columns.features) == {"age": "standard"}
    for wrong, words in ((GRAPHML[:300], "not a whole GraphML"), (f"<!DOCTYPE x>{GRAPHML[39:]}", "entities")):
        path.write_text(wrong)
        with pytest.raises(DataFileError, match=words):
            read_tables(path)
    with pytest.raises(GraphError, match="no table of edges"):
        read_tables(pd.DataFrame({"id": [1]}))
    path.write_text(GRAPHML)
    with pytest.raises(DataFileError, match="leave the edges out"):
        read_tables(path, path)


def test_a_workbook_that_is_none_and_one_with_two_sheets(tmp_path):
    pytest.importorskip("openpyxl")
    edges = pd.DataFrame({"source": ["a"], "target": ["b"]})
    path = tmp_path / "n.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(DataFileError, match="a zip archive, not an Excel workbook"):
        read_tables(path, edges)
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"id": ["a", "b"], "x": [1, 2]}).to_excel(writer, sheet_name="first", index=False)
        pd.DataFrame({"z": [1]}).to_excel(writer, sheet_name="second", index=False)
    assert "'first'" in next(f.text for f in read_tables(path, edges).graph.findings if f.code == "sheets")
