"""Tables of every form, whole and in pieces, and folders of files: the same graph, or a sentence."""

import gzip
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dccgcn import NodeGraph, read_tables
from dccgcn.errors import DataFileError, DccgcnError, GraphError
from dccgcn.tables.edges import relation_name
from dccgcn.tables.files import database_tables, open_table, read_table
from dccgcn.tables.options import TableOptions
from dccgcn.tables.read import check_tables
from dccgcn.tables.write import write_frames
from helpers.tables import EDGES as FEW_EDGES
from helpers.tables import NODES as FEW_NODES
from helpers.tables import codes, write_frame
from tools import edge_files, fuzz


def assert_same(one: NodeGraph, other: NodeGraph) -> None:
    np.testing.assert_array_equal(one.ids, other.ids)
    np.testing.assert_array_equal(one.edges, other.edges)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.features.toarray(), other.features.toarray())


CHANGES: dict[str, Callable[[str], str | bytes]] = {
    "tsv": lambda text: text.replace(",", "\t").replace("networks\t", "networks,"),
    "csv.gz": lambda text: gzip.compress(text.encode()),
    "semicolon.csv": lambda text: text.replace(",", ";").replace("networks;", "networks,"),
    "bom.csv": lambda text: "\ufeff" + text,
    "utf-16.csv": lambda text: text.encode("utf-16"),
    "windows.csv": lambda text: text.replace("\n", "\r\n"),
    "latin-1.csv": lambda text: text.encode("latin-1"),
}


@pytest.mark.parametrize("form", CHANGES)
def test_every_form_of_text_gives_the_same_graph(tables: Any, form: str) -> None:
    nodes, change = FEW_NODES.replace("home", "cafés"), CHANGES[form]
    encoding = "latin-1" if form.startswith("latin-1") else "utf-8"
    read = tables(change(nodes), change(FEW_EDGES), suffix=f".{form}", encoding=encoding).graph
    expected = tables(nodes, FEW_EDGES).graph
    assert_same(read, expected)
    assert read.classes == expected.classes
    assert codes(read).count("delimiter") == 2 * form.startswith("semicolon")


WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "frame": lambda frame, path: frame,
    "parquet": lambda frame, path: frame.to_parquet(path),
    "feather": lambda frame, path: frame.to_feather(path),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "json": lambda frame, path: frame.to_json(path, orient="records"),
    "xlsx": lambda frame, path: frame.to_excel(path, index=False),
}


@pytest.mark.parametrize("form", WRITERS)
def test_every_typed_form_gives_the_same_graph(tables: Any, tmp_path: Path, form: str) -> None:
    if form == "xlsx":
        pytest.importorskip("openpyxl")
    texts = [text.replace("=3", "3") if form == "xlsx" else text for text in (FEW_NODES, FEW_EDGES)]
    expected = tables(*texts).graph  # Excel runs =3 as a formula
    sources = []
    for name in ("nodes", "edges"):
        frame = read_table(tmp_path / f"{name}.csv", "x").frame.reset_index(drop=True)
        frame = frame.assign(age=frame["age"].astype(int)) if "age" in frame else frame
        made = WRITERS[form](frame, path := tmp_path / f"{name}.{form}")
        sources.append(path if made is None else made)
    assert_same(read_tables(*sources).graph, expected)


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


RNG = np.random.default_rng(0)
IDS = [f"node {i}" for i in range(30)] + ["'quoted", "=1+1", "ü", "07"]
NODES = pd.DataFrame({"id": IDS, "topic": ["a", "b", None, "b"] * 8 + ["a", None], "x": RNG.normal(size=34)})
EDGES = pd.DataFrame({"source": RNG.choice(IDS, 200), "target": RNG.choice(IDS, 200), "w": RNG.uniform(0.5, 2, 200)})


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read a few bytes or rows at a time."""
    monkeypatch.setattr("dccgcn.tables.files._PIECE", 100)
    monkeypatch.setattr("dccgcn.tables.typed_files._ROWS", 7)
    monkeypatch.setattr("dccgcn.tables.typed_files._SAMPLE", 3)
    monkeypatch.setattr("dccgcn.tables.delimited._SAMPLE", 3)


def write_pieces(frame: pd.DataFrame, folder: Path, ending: str, n_pieces: int = 3) -> Path:
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), n_pieces)):
        write_frame(frame.iloc[rows], folder / f"part-{number}{ending}")
    return folder


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_folders_are_the_table_of_their_files(ending: str, tmp_path: Path) -> None:
    graph = read_tables(NODES, EDGES, weight="w").graph
    nodes, edges = (write_pieces(frame, tmp_path / name, ending) for name, frame in (("n", NODES), ("e", EDGES)))
    write_frame(NODES, tmp_path / f"nodes{ending}")
    write_frame(EDGES, tmp_path / f"edges{ending}")
    whole = read_tables(tmp_path / f"nodes{ending}", tmp_path / f"edges{ending}", weight="w").graph
    assert_same(read_tables(nodes, edges, weight="w").graph, whole)
    np.testing.assert_array_equal(whole.edges, graph.edges)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("in_folder", [False, True])
def test_small_pieces_give_the_same_edges(ending: str, in_folder: bool, tmp_path: Path, small_pieces: None) -> None:
    edges = tmp_path / f"edges{ending}"
    write_frame(EDGES, edges)
    if in_folder:
        edges = write_pieces(EDGES, tmp_path / "edges", ending)
    assert_same(read_tables(NODES, edges, weight="w").graph, read_tables(NODES, EDGES.round(6), weight="w").graph)


@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_fuzzed_files_are_the_same_in_pieces_and_whole(first: int, tmp_path: Path, monkeypatch) -> None:
    for number in range(first, first + 100):
        edge_files.check(number, tmp_path, monkeypatch.setattr)


NAMES = ["edges[1].csv", "e*.csv", "e?.csv", "weight=5.csv", "a b'c.csv", "{e}.csv", "%s.csv", "é.csv"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("folder", ["source=d", "weight=5", "[ab]", "plain"])
def test_a_name_means_one_file(folder: str, name: str, tmp_path: Path) -> None:
    """No name is a pattern, and no folder a column."""
    (tmp_path / folder).mkdir()
    for decoy in ("edges1.csv", "e1.csv", "ex.csv", "a.csv"):
        write_frame(EDGES[:3], tmp_path / folder / decoy)
    for ending in (".csv", ".parquet"):
        path = (tmp_path / folder / name).with_suffix(ending)
        write_frame(EDGES, path)
        graph = read_tables(NODES, path, weight="w").graph
        assert_same(graph, read_tables(NODES, EDGES.round(6), weight="w").graph)


def test_whole_numbers_are_ids_as_well(tmp_path: Path, small_pieces: None) -> None:
    nodes = pd.DataFrame({"id": range(10), "topic": ["a", "b"] * 5, "x": RNG.normal(size=10)})
    edges = pd.DataFrame({"source": range(9), "target": range(1, 10)})
    graph = read_tables(nodes, edges).graph
    write_frame(edges, tmp_path / "edges.parquet")
    assert_same(read_tables(nodes, tmp_path / "edges.parquet").graph, graph)


def test_what_is_wrong_with_large_edges_is_said(tmp_path: Path, small_pieces: None) -> None:
    def read(changed: pd.DataFrame, **options: str) -> NodeGraph:
        write_frame(changed, tmp_path / "edges.parquet")
        return read_tables(NODES, tmp_path / "edges.parquet", weight="w", **options).graph

    stranger = EDGES.assign(target=["nobody", *EDGES["target"][1:]])
    with pytest.raises(
        GraphError, match=r"1 edges have an end that is not among the nodes .*nobody.* row 0 of edges.parquet"
    ):
        read(stranger)
    dropped = read(stranger, unknown_ids="drop")
    np.testing.assert_array_equal(dropped.edges, read_tables(NODES, EDGES[1:], weight="w").graph.edges)
    assert "dropped-edges" in {finding.code for finding in dropped.findings}
    with pytest.raises(GraphError, match=r"1 cells of column 'source'.* are empty"):
        read(EDGES.assign(source=[None, *EDGES["source"][1:]]))
    with pytest.raises(GraphError, match="1 edge weights"):
        read(EDGES.assign(w=[-1.0, *EDGES["w"][1:]]))
    with pytest.raises(GraphError, match=r"200 edges .*\(0.5\)"):
        read(EDGES.assign(source=0.5))
    with pytest.raises(GraphError, match="holds a list, which cannot be an id"):
        read(EDGES.assign(source=[["a"]] * len(EDGES)))


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_table_without_rows_has_no_edges(ending: str, tmp_path: Path) -> None:
    empty = tmp_path / f"edges{ending}"
    write_frame(EDGES[:0], empty)
    assert len(read_tables(NODES, empty, weight="w").graph.edges) == 0


def test_folders_that_are_no_table_are_refused(tmp_path: Path, small_pieces: None) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataFileError, match="has no files"):
        read_tables(tmp_path / "empty", EDGES)
    mixed = write_pieces(EDGES, tmp_path / "mixed", ".csv")
    write_frame(NODES, mixed / "other.csv")
    for read in (lambda: read_tables(NODES, mixed), lambda: read_tables(mixed, EDGES)):
        with pytest.raises(GraphError, match="do not have the same columns"):
            read()


AWKWARD = pd.DataFrame(
    {
        "id": IDS,
        "topic": [*["a", None, "b", ""] * 8, "ü", None],
        "text": [f'the graph, of\n"quoted" words {i % 3} Übung naïve 中文' if i % 5 else None for i in range(34)],
        "kind": ["red", "green\r\nblue", None, "blau"] * 8 + ["red", "red"],
        "year": [2000.5 + i if i % 7 else None for i in range(34)],
        "tags": ["drama|comedy", "drama|war", "war|comedy"] * 11 + [None],
        "url": [f"https://example.org/{i}" for i in range(34)],
    }
)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_folders_give_the_roles_and_features_of_the_table(ending: str, tmp_path: Path, small_pieces: None) -> None:
    expected = read_tables(AWKWARD, EDGES, label="topic", weight="w", impute="mean", graph_name="nodes")
    folders = [write_pieces(frame, tmp_path / name, ending) for name, frame in (("n", AWKWARD), ("e", EDGES))]
    found = read_tables(*folders, label="topic", weight="w", impute="mean", graph_name="nodes")
    assert_same(found.graph, expected.graph)
    assert found.columns.features == expected.columns.features
    assert set(found.columns.features.values()) == {"text", "categorical", "standard"}
    assert found.encoder.names == expected.encoder.names
    assert {f.code for f in found.graph.findings} == {f.code for f in expected.graph.findings}


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_ids_that_repeat_or_are_empty_are_named_beside_wrong_edges(
    ending: str, tmp_path: Path, small_pieces: None
) -> None:
    edges = write_pieces(EDGES.assign(target=["nobody", *EDGES["target"][1:]]), tmp_path / "e", ending)
    wrong = {"occurs 2 times": ["node 1", *IDS[1:]], "1 cells of column 'id' are empty": [*IDS[:5], " ", *IDS[6:]]}
    for number, (message, ids) in enumerate(wrong.items()):
        nodes = write_pieces(AWKWARD.assign(id=ids), tmp_path / f"n{number}", ending)
        _, problems = check_tables(nodes, edges, TableOptions(label="topic", weight="w", impute="mean"))
        assert message in problems[0].what
        assert "not among the nodes" in problems[1].what
        assert "nobody" in problems[1].what


def test_an_empty_id_is_no_node_that_an_empty_end_leads_to(tmp_path: Path, small_pieces: None) -> None:
    edges = EDGES.replace(IDS[0], IDS[1])
    write_frame(edges.assign(target=[" ", *edges["target"][1:]]), tmp_path / "edges.parquet")
    nodes = AWKWARD.assign(id=[" ", *IDS[1:]])
    options = TableOptions(label="topic", weight="w", impute="mean")
    _, problems = check_tables(nodes, tmp_path / "edges.parquet", options)
    assert ["column 'id'" in problems[0].what, "column 'target'" in problems[1].what] == [True, True]
    assert len(problems) == 2


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_large_edges_come_in_parts_with_progress(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dccgcn.tables.files._PIECE", 10_000)
    monkeypatch.setattr("dccgcn.tables.typed_files._ROWS", 1000)
    edges = pd.DataFrame({"source": RNG.choice(IDS, 9000), "target": RNG.choice(IDS, 9000)})
    write_frame(edges, tmp_path / f"edges{ending}")
    seen: list[tuple[str, int, int]] = []
    options = TableOptions(label="topic", impute="mean", graph_name="nodes")
    files = write_pieces(AWKWARD, tmp_path / "n", ending)
    tables, _ = check_tables(files, tmp_path / f"edges{ending}", options, lambda *step: seen.append(step))
    assert tables is not None
    assert_same(tables.graph, read_tables(AWKWARD, edges, label="topic", impute="mean").graph)
    steps = [(done, total) for task, done, total in seen if task.startswith("edges of")]
    assert len(steps) > 2
    assert steps[-1] == (9000, 9000)
    assert {"files of n/", "role of text", "words of text"} <= {task for task, _, _ in seen}


FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": lambda frame: pytest.importorskip("polars").DataFrame(frame.to_dict("list"), strict=False),
    "lazy polars": lambda frame: pytest.importorskip("polars").LazyFrame(frame.to_dict("list"), strict=False),
    "pyarrow": lambda frame: pytest.importorskip("pyarrow").table(frame.to_dict("list")),
    "duckdb": lambda frame: pytest.importorskip("duckdb").from_df(frame),
    "columns": lambda frame: frame.to_dict("list"),
    "arrays": lambda frame: {name: frame[name].to_numpy() for name in frame},
}


@pytest.mark.parametrize("form", FRAMES)
def test_frames_of_every_library_and_columns_give_the_same_graph(form):
    nodes = pd.DataFrame({"id": [2**62, 7, 8, 9], "kind": ["a", "b", None, "a"], "age": [3.5, 4, 9, 1]})
    nodes["team"] = pd.Series([1, None, 2, 2], dtype="Int64")
    edges = pd.DataFrame({"u": [2**62, 7, 8], "v": [7, 8, 9], "weight": [1.0, 2.0, 0.5]})
    expected = read_tables(nodes, edges, label="kind").graph
    nodes = nodes.astype(object).where(nodes.notna(), None)
    found = read_tables(FRAMES[form](nodes), FRAMES[form](edges), label="kind").graph
    assert_same(found, expected)
    assert found.ids.tolist() == [2**62, 7, 8, 9]
    related = read_tables(nodes, {"likes": FRAMES[form](edges), "owns": [(7, 8), (8, 9)]}, label="kind").graph
    assert related.relation_sizes == {"likes": 3, "owns": 2}


def test_pairs_of_ids_are_edges_and_what_is_no_table_is_refused():
    nodes = {"id": ["a", "b", "c"], "x": [1, 2, 4]}
    for pairs in ([("a", "b"), ("b", "c")], np.array([["a", "b"], ["b", "c"]]), np.array([list("abcb"), list("bcac")])):
        assert read_tables(nodes, pairs).graph.edges.tolist()[:2] in ([[0, 1], [1, 2]], [[0, 1], [0, 2]])
    assert read_tables(nodes, [("a", "b", 2.5), ("c", "a", 1)], id="id").graph.weights.tolist() == [2.5, 1]
    for strange in (7, {"a", "b"}, object()):
        with pytest.raises(GraphError, match=r"table of nodes is a .*Give a path, a DataFrame"):
            read_tables(strange, [("a", "b")])


@pytest.mark.parametrize("suffix", ["sqlite", "duckdb"])
def test_a_table_or_a_query_of_a_database_is_a_table(tables, tmp_path, suffix):
    pytest.importorskip("duckdb")
    expected = tables().graph
    for name in ("nodes", "edges"):
        frame = read_table(tmp_path / f"{name}.csv", name).frame.assign(
            **({"id": ["007", "x", "=3", "08"]} if name == "nodes" else {})
        )
        write_frames({name: frame}, path := tmp_path / f"all.{suffix}")
    read = read_tables(f"{path}?table=nodes", f"{path}?query=SELECT target, source FROM edges", label="topic")
    assert_same(read.graph, expected)
    assert relation_name(open_table(f"{path}?table=edges", "edges")) == "edges"
    with pytest.raises(DataFileError, match=r"is a database. Name one of its tables \('edges', 'nodes'\)"):
        read_tables(path, path)
    for wrong in ("table=nobody", "query=DROP TABLE nodes", "nodes"):
        with pytest.raises(DataFileError, match="table=NAME"):
            read_tables(f"{path}?{wrong}", f"{path}?table=edges")
    assert database_tables(path) == ["edges", "nodes"]


GML = """Creator "someone" Version 1
graph [ directed 0
  node [ id 0 label "Ely" value 1 pos [ x 2.5 ] ]
  node [ id 5 label "Rio [2]" value 2 pos [ x 1 ] ]
  node [ id 7 label "Oslo" value 1 ]
  edge [ source 0 target 5 weight 2.5 ] # a comment
  edge [ source 7 target 5 weight 1 ]
]
"""


def test_gml_holds_nodes_and_edges(tmp_path):
    (path := tmp_path / "places.gml").write_text(GML)
    graph = read_tables(path, label="value", name="name", featureless=True).graph
    assert (graph.ids.tolist(), graph.classes, graph.weights.tolist()) == ([0, 5, 7], (1, 2), [2.5, 1])
    assert graph.names.tolist() == ["Ely", "Rio [2]", "Oslo"]
    with pytest.raises(DataFileError, match="holds nodes and edges"):
        read_tables(path, path)
    for broken in (GML[:-50] + '"', GML.replace("source 0", "source"), "graph [ node 5 ]", "graph [ [ ] ]"):
        path.write_text(broken)
        with pytest.raises((DataFileError, GraphError)):
            read_tables(path, label="value")


@pytest.mark.parametrize(
    "query",
    ["COPY t TO 'mine.csv'", "SELECT * FROM 'mine.csv'", "DROP TABLE t", "DELETE FROM t", "ATTACH 'mine.csv' AS o",
     "ATTACH 'new.sqlite' AS o", "VACUUM INTO 'new.sqlite'", "EXPORT DATABASE 'new'", "PRAGMA journal_mode = WAL"],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["sqlite", "duckdb"])
def test_a_query_touches_no_file(tmp_path, monkeypatch, ending, query):
    connect = sqlite3.connect if ending == "sqlite" else pytest.importorskip("duckdb").connect
    monkeypatch.chdir(tmp_path)
    with closing(connect(f"shop.{ending}")) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS id, 'a' AS label")
    Path("mine.csv").write_text("id,label\nprecious,a\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with suppress(DccgcnError):
        assert "precious" not in read_table(f"shop.{ending}?query={query}", "nodes").frame.to_csv()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
