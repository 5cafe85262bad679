"""Ids of every kind come back equal from every reader, model and writer, or are refused before training."""

import datetime
import json
import sqlite3
from contextlib import closing, suppress
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dccgcn import NodeGraph, load_model, read_tables, run
from dccgcn.errors import DccgcnError
from dccgcn.graph.cells import spell_id
from dccgcn.tables.write import write_frames

N = 8


class Kind(StrEnum):
    """Texts of another type than str."""

    A = "a"
    B = "b"


IDS: dict[str, list[Any]] = {
    "int64": [0, -1, 2**63 - 1, -(2**63), 7, 2**53 + 1, 10, 12],
    "uint64": np.array([0, 1, 2**63, 2**64 - 1, 7, 2**53 + 1, 10, 12], np.uint64),
    "beyond 64 bits": [0, 2**64, -(2**70), 2**100, 7, 8, 9, 10],
    "text": ["a", "é", "e\u0301", "<b>", "a,b", 'q"q', "🙂", "line\nbreak"],
    "leading zeros": ["007", "07", "7", "0", "00", "000", "1", "01"],
    "formulas": ["=1+1", "'x", "'=x", "@a", "-1", "+1", "\tx", "a"],
    "numbers as text": ["1.0", "1e3", "1_0", "0x1", "nan1", "NA", "True", "2"],
    "mixed": ["a", 7, "b", 8, 2**63, "9", "10", 11],
    "whole floats": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
    "long": ["x" * 10_000, *map(str, range(7))],
    "subclasses": [*Kind, *"cdefgh"],
}
REFUSED: dict[str, list[Any]] = {
    "fractions": [0.5, *range(1, N)],
    "floats beyond 2**53": [2.0**60, *range(1, N)],
    "missing": [None, *range(1, N)],
    "blank": [" ", *map(str, range(1, N))],
    "NUL": ["a", "a\0", *map(str, range(2, N))],
    "thousands of digits": [10**5000, *range(1, N)],
    "surrogates": ["\ud800", *map(str, range(1, N))],
    "dates": list(pd.date_range("2020", periods=N)),
    "days": [datetime.date(2020, 1, i + 1) for i in range(N)],
    "booleans": [True, False, *range(2, N)],
    "decimals": [Decimal(i) for i in range(N)],
    "bytes": [bytes([97 + i]) for i in range(N)],
    "pairs": [(0, i) for i in range(N)],
    "one id in two types": [1, "1", *range(2, N)],
}
TOPICS = ["x", "y", "x", "y", None, None, None, None]
ENDS = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (0, 7)]


def frames(ids: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    nodes = pd.DataFrame({"id": ids, "topic": TOPICS, "age": range(N), "height": [5, 3, 8, 1, 2, 9, 4, 7]})
    edges = pd.DataFrame({"source": nodes["id"].to_numpy()[[u for u, _ in ENDS]]})
    return nodes, edges.assign(target=nodes["id"].to_numpy()[[v for _, v in ENDS]])


def write(frame: pd.DataFrame, form: str, path: Path) -> Path | pd.DataFrame:
    """A user's table in some form; the pandas writer's, as users have them."""
    match form:
        case "csv":
            frame.to_csv(path, index=False)
        case "json":
            rows = [{name: cell for name, cell in row.items() if cell is not None} for row in frame.to_dict("records")]
            path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        case "parquet":
            frame.to_parquet(path, index=False)
        case "feather":
            frame.to_feather(path)
        case "xlsx":
            frame.to_excel(path.with_suffix(".xlsx"), index=False)
            return path.with_suffix(".xlsx")
        case "frame":
            return frame
    return path


def spelled(ids: Any) -> list[str]:
    return [spell_id(i) for i in (ids.tolist() if hasattr(ids, "tolist") else ids)]


@pytest.mark.parametrize("form", ["frame", "csv", "json", "parquet", "feather", "xlsx"])
@pytest.mark.parametrize("kind", IDS)
def test_every_reader_gives_the_ids(kind: str, form: str, tmp_path: Path) -> None:
    nodes, edges = frames(IDS[kind])
    if form in ("parquet", "feather") and kind in ("mixed", "beyond 64 bits"):
        pytest.skip("Arrow has no such column")
    if form == "csv" and kind in ("formulas", "whole floats"):
        pytest.skip("pandas protects no formulas and writes 1.0")
    if form == "xlsx" and kind in ("uint64", "beyond 64 bits", "int64", "mixed", "long", "formulas"):
        pytest.skip("Excel keeps 15 digits and runs formulas")
    paths = [write(frame, form, tmp_path / name) for frame, name in ((nodes, "nodes"), (edges, "edges"))]
    graph = read_tables(*paths, id="id", source="source", target="target", label="topic").graph
    assert spelled(graph.ids) == spelled(IDS[kind])
    assert {tuple(sorted(pair)) for pair in graph.edges.tolist()} == set(ENDS)


@pytest.mark.parametrize("kind", IDS)
def test_models_and_writers_give_the_ids_back(kind: str, tmp_path: Path) -> None:
    nodes, edges = frames(pd.Series(IDS[kind], dtype=object if kind == "mixed" else None))
    expected = spelled(IDS[kind])
    result = run(read_tables(nodes, edges, label="topic"))
    result.save(tmp_path / "run")
    model = load_model(tmp_path / "run")
    assert spelled(model.result.graph.ids) == expected
    assert [type(i) for i in model.result.graph.ids.tolist()] == [type(i) for i in result.graph.ids.tolist()]
    assert spelled(model.predict(pd.DataFrame({"id": ["new"], "age": [3], "height": [4]}))["node_id"]) == ["new"]
    for ending in (".csv", ".parquet", ".sqlite", ".duckdb"):
        path = tmp_path / f"out{ending}"
        write_frames({"predictions": result.to_frame()}, path)
        assert spelled(read_back(path)) == expected, ending


def read_back(path: Path) -> list[Any]:
    """The column node_id, each form read by another program's reader."""
    match path.suffix:
        case ".csv":
            cells = pd.read_csv(path, dtype=str, keep_default_na=False)["node_id"]
            return cells.str.replace(r"^'(?=[-=+@\t\r'])", "", regex=True).tolist()
        case ".parquet":
            return pd.read_parquet(path)["node_id"].tolist()
        case ".sqlite":
            with closing(sqlite3.connect(path)) as database:
                return [row[0] for row in database.execute("SELECT node_id FROM predictions")]
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect(str(path))) as database:
        return [row[0] for row in database.execute("SELECT node_id FROM predictions").fetchall()]


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_id_is_refused_at_the_door(kind: str) -> None:
    with pytest.raises(DccgcnError) as refused:
        NodeGraph(np.eye(N), [(0, 1)], TOPICS, ids=REFUSED[kind])
    assert refused.value.remedy
    nodes = pd.DataFrame({"id": pd.Series(REFUSED[kind], dtype=object), "topic": TOPICS, "age": range(N)})
    edges = pd.DataFrame({"source": [1], "target": [2]})
    with pytest.raises(DccgcnError) as refused:
        read_tables(nodes, edges, id="id", source="source", target="target", label="topic")
    assert refused.value.remedy


@pytest.mark.parametrize("labels", [["9007199254740993.0", "9007199254740992.0"], ["1.0", "2.0"], ["007", "7"]])
def test_labels_that_are_numbers_keep_every_digit(labels: list[str], tmp_path: Path) -> None:
    rows = "".join(f"{i},{labels[i % 2]},{i}\n" for i in range(6))
    (tmp_path / "n.csv").write_text("id,topic,age\n" + rows, encoding="utf-8")
    (tmp_path / "e.csv").write_text("source,target\n0,1\n", encoding="utf-8")
    tables = read_tables(tmp_path / "n.csv", tmp_path / "e.csv", label="topic")
    assert tables.graph.c == 2


@pytest.mark.parametrize("cell", ['"\\ud800"', "1" * 400, "1" * 5000, "-" + "9" * 400, "1e999"])
@pytest.mark.parametrize("column", ["id", "topic", "age"])
def test_strange_cells_of_json_end_in_a_sentence(cell: str, column: str, tmp_path: Path) -> None:
    rows = [{"id": i, "topic": ["a", "b"][i % 2], "age": i} for i in range(6)]
    lines = [json.dumps(row) for row in rows]
    lines[3] = lines[3].replace(f'"{column}": {json.dumps(rows[3][column])}', f'"{column}": {cell}')
    (tmp_path / "n.json").write_text("\n".join(lines), encoding="utf-8")
    edges = pd.DataFrame({"source": [0], "target": [1]})
    with suppress(DccgcnError):  # some of these cells are sound
        assert read_tables(tmp_path / "n.json", edges, id="id", label="topic", features=["age"]).graph.n == 6
