"""Edges read some rows at a time, and folders of files: the same graph as from one table in memory."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dccgcn import NodeGraph, read_tables
from dccgcn.errors import DataFileError, GraphError
from dccgcn.tables.columns import TableOptions
from dccgcn.tables.read import check_tables
from helpers.tables import write_frame
from tools import edge_files

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


def assert_same(one: NodeGraph, other: NodeGraph) -> None:
    np.testing.assert_array_equal(one.ids, other.ids)
    np.testing.assert_array_equal(one.edges, other.edges)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.features.toarray(), other.features.toarray())


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
    with pytest.raises(GraphError, match="holds a ndarray, which cannot be an id"):
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


def test_parquet_is_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dccgcn.tables.write._PARQUET_ROWS", 7)
    write_frame(NODES, tmp_path / "nodes.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "nodes.parquet"), NODES, check_dtype=False)


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
    expected = read_tables(AWKWARD, EDGES, label="topic", weight="w", impute="mean", name="nodes")
    folders = [write_pieces(frame, tmp_path / name, ending) for name, frame in (("n", AWKWARD), ("e", EDGES))]
    found = read_tables(*folders, label="topic", weight="w", impute="mean", name="nodes")
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
    options = TableOptions(label="topic", impute="mean", name="nodes")
    files = write_pieces(AWKWARD, tmp_path / "n", ending)
    tables, _ = check_tables(files, tmp_path / f"edges{ending}", options, lambda *step: seen.append(step))
    assert tables is not None
    assert_same(tables.graph, read_tables(AWKWARD, edges, label="topic", impute="mean").graph)
    steps = [(done, total) for task, done, total in seen if task.startswith("edges of")]
    assert len(steps) > 2
    assert steps[-1] == (9000, 9000)
    assert {"files of n/", "role of text", "words of text"} <= {task for task, _, _ in seen}
