"""Tables in several files of a folder, and large tables of edges, whose ids DuckDB turns into positions out of core."""

import gzip
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, Finding, GraphError
from dccgcn.graph.cells import spell_id
from dccgcn.io.columns import EdgeColumns
from dccgcn.io.options import Decimal, UnknownIds
from dccgcn.io.table import ESCAPED, Table, plain_table
from dccgcn.io.text_files import decode, delimiter_of, text_table
from dccgcn.progress import Progress, tracked
from dccgcn.runtime.memory import available_memory
from dccgcn.runtime.threads import kernel_threads
from dccgcn.text import first_few

LARGE = 1 << 26  # bytes of files from which edges are read out of core
_HEAD = 1 << 20  # bytes of a text file that its columns are read from
_SAMPLE = 10_000  # rows that columns are guessed from
_MEMORY_SHARE = 0.5  # of what is free, for DuckDB
_VECTORS = 256  # of 2,048 rows, fetched at once


@dataclass(frozen=True, eq=False)
class LargeTable(Table):
    """A table of edges that stays in its files: ``frame`` holds the first rows only."""

    relation: str = ""  # SQL of all rows; the columns of text files are called c0, c1, …
    n_rows: int = 0  # of text files estimated from the first lines, for progress


def files_of(folder: Path) -> list[Path]:
    """The files of a folder in the order of their names; hidden ones and markers such as _SUCCESS are left out."""
    found = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._")
    if not found:
        raise DataFileError(f"The folder {folder} has no files.", "Give a folder of CSV or Parquet files, or a file.")
    return found


def joined(folder: Path, read: Callable[[Path], Table], progress: Progress | None = None) -> Table:
    """The tables of all files of a folder as one; lines of text files are counted through all of them."""
    files = files_of(folder)
    tables = [read(path) for path in tracked(files, len(files), f"files of {folder.name}/", progress)]
    first = tables[0]
    for table in tables[1:]:
        if list(table.frame.columns) != list(first.frame.columns) or table.is_text != first.is_text:
            raise GraphError(
                f"{first.name} and {table.name} in {folder} do not have the same columns.",
                "Give a folder whose files are parts of one table.",
            )
    before = np.cumsum([0, *(int(table.frame.index.max() if len(table.frame) else 0) + 1 for table in tables)])
    rows = [table.frame.set_axis(table.frame.index + start) for table, start in zip(tables, before, strict=False)]
    frame = pd.concat(rows).rename_axis(first.frame.index.name)
    findings = dict.fromkeys(finding for table in tables for finding in table.findings)
    return Table(frame, f"{folder.name}/", tuple(findings))


def large_edges(path: Path, encoding: str) -> LargeTable | None:
    """The table of edges in a large file or folder of Parquet or CSV files, if DuckDB can read it; else None."""
    files = files_of(path) if path.is_dir() else [path]
    size = sum(file.stat().st_size for file in files if file.exists())
    if size < LARGE or find_spec("duckdb") is None:
        return None
    name = f"{path.name}/" if path.is_dir() else path.name
    if all(file.suffix == ".parquet" for file in files):
        relation = f"read_parquet([{', '.join(map(_quoted, map(str, files)))}])"
        with closing(_connect()) as database, _errors(path):
            sample = database.execute(f"SELECT * FROM {relation} LIMIT {_SAMPLE}").df()
            n_rows = database.execute(f"SELECT count(*) FROM {relation}").fetchone()[0]
        return LargeTable(plain_table(sample, name).frame, name, relation=relation, n_rows=n_rows)
    if encoding.lower() not in ("utf-8", "utf8") or not all({".csv", ".tsv"} & set(file.suffixes) for file in files):
        return None
    heads = [_head(file) for file in files]
    table = text_table(heads[0], files[0])
    other = [file.name for file, head in zip(files, heads, strict=True) if _first_line(head) != _first_line(heads[0])]
    if other:
        raise GraphError(
            f"{files[0].name} and {other[0]} in {path} do not have the same columns.",
            "Give a folder whose files are parts of one table.",
        )
    columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(table.frame.shape[1]))
    relation = (
        f"read_csv([{', '.join(map(_quoted, map(str, files)))}], header=true, auto_detect=false, quote='\"', "
        f"escape='\"', delim={_quoted(delimiter_of(heads[0], files[0]))}, columns={{{columns}}})"
    )
    n_rows = len(table.frame) * size // max(len(heads[0].encode()), 1)
    return LargeTable(table.frame, name, table.findings, relation, n_rows)


def read_large_edges(
    table: LargeTable,
    columns: EdgeColumns,
    ids: Sequence[Any],
    unknown_ids: UnknownIds,
    decimal: Decimal,
    findings: list[Finding],
    progress: Progress | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """``parse.read_edges`` of a table in files: (E, 2) positions in the ids, in any order, and (E,) weights if any."""
    nodes = pd.DataFrame({"id": [spell_id(i) for i in ids], "position": np.arange(len(ids))})
    with closing(_connect()) as database, _errors(Path(table.name)):
        database.register("given", nodes)
        database.execute(
            "CREATE TEMP TABLE nodes AS SELECT CAST(id AS VARCHAR) AS id, CAST(position AS INTEGER) AS at FROM given "
            "WHERE trim(CAST(id AS VARCHAR)) <> ''"
        )
        ends = {end: _id_sql(database, table, getattr(columns, end)) for end in ("source", "target")}
        weight = "1" if columns.weight is None else _number_sql(table, columns.weight, decimal)
        database.execute(
            f"CREATE TEMP VIEW edges AS SELECT {ends['source']} AS source, {ends['target']} AS target, "
            f"{weight} AS weight FROM {table.relation}"
        )
        joined_sql = "FROM edges LEFT JOIN nodes s ON source = s.id LEFT JOIN nodes t ON target = t.id"
        wanted = ", weight" if columns.weight else ""
        found = _fetched(
            database, f"SELECT coalesce(s.at, -1) AS u, coalesce(t.at, -1) AS v{wanted} {joined_sql}", table, progress
        )
        pairs = np.stack([found.pop("u"), found.pop("v")], axis=1).astype(np.int32, copy=False)
        weights = np.asarray(found["weight"], np.float64) if columns.weight else None
        known = (pairs >= 0).all(axis=1)
        n_unknown = int((~known).sum())
        if n_unknown:
            _refuse_missing(database, table, columns)
        if weights is not None:
            _refuse_weights(table, weights)
        if n_unknown:
            some = "SELECT CASE WHEN s.at IS NULL THEN source ELSE target END"
            rows = database.execute(f"{some} {joined_sql} WHERE s.at IS NULL OR t.at IS NULL LIMIT 100").fetchall()
            names = first_few(dict.fromkeys(row[0] for row in rows))
            text = f"{n_unknown} edges of {table.name} have an end that is not among the nodes ({names})"
            if unknown_ids == "error":
                raise GraphError(
                    f"{text}.", "Add these nodes, or drop such edges (--unknown-ids drop, unknown_ids='drop')."
                )
            findings.append(Finding("warning", "dropped-edges", f"{text}; dropped."))
            pairs, weights = pairs[known], None if weights is None else weights[known]
    return pairs, weights


def _fetched(database: Any, query: str, table: LargeTable, progress: Progress | None) -> dict[str, np.ndarray]:
    """The columns of a query's rows, fetched some rows at a time."""
    parts: dict[str, list[np.ndarray]] = {}
    done = 0
    result = database.execute(query)
    while len(rows := result.fetch_df_chunk(_VECTORS)) or not parts:
        for name in rows:
            parts.setdefault(name, []).append(rows[name].to_numpy())
        done += len(rows)
        if progress is not None:
            progress(f"edges of {table.name}", done, max(table.n_rows, done))
    return {name: np.concatenate(column) for name, column in parts.items()}


def _refuse_missing(database: Any, table: LargeTable, columns: EdgeColumns) -> None:
    for end in ("source", "target"):
        count = database.execute(f"SELECT count(*) FROM edges WHERE {end} IS NULL OR trim({end}) = ''").fetchone()[0]
        if count:
            raise GraphError(
                f"{count} cells of column {first_few([getattr(columns, end)])} of {table.name} are empty.",
                "Every node needs an id, and every edge two.",
            )


def _refuse_weights(table: LargeTable, weights: np.ndarray) -> None:
    if bad := int((~(np.isfinite(weights) & (weights > 0))).sum()):
        raise GraphError(
            f"{bad} edge weights of {table.name} are negative, zero or not numbers.",
            "Weights must be positive; leave edges that do not exist out, or name another weight column.",
        )


def _id_sql(database: Any, table: LargeTable, column: str) -> str:
    """A column of ids as text, spelled as ``spell_id`` does."""
    cell = _cell(table, column)
    if table.is_text:
        marks = ", ".join(f"chr({ord(mark)})" for mark in ESCAPED)
        return f"CASE WHEN {cell}[1] = chr(39) AND {cell}[2] IN ({marks}) THEN {cell}[2:] ELSE {cell} END"
    kind = str(database.execute(f"SELECT typeof({cell}) FROM {table.relation} LIMIT 1").fetchone()[0])
    if kind != "VARCHAR" and "INT" not in kind:
        raise GraphError(
            f"Column {first_few([column])} of {table.name} holds {kind.lower()}, which cannot be an id.",
            "Write the column as text or whole numbers, or name another one.",
        )
    return f"CAST({cell} AS VARCHAR)"


def _number_sql(table: LargeTable, column: str, decimal: Decimal) -> str:
    cell = _cell(table, column)
    if table.is_text and decimal == ",":
        cell = f"replace(replace({cell}, '.', ''), ',', '.')"
    return f"TRY_CAST(trim({cell}) AS DOUBLE)" if table.is_text else f"TRY_CAST({cell} AS DOUBLE)"


def _cell(table: LargeTable, column: str) -> str:
    if table.is_text:
        return f"c{list(table.frame.columns).index(column)}"
    return '"' + column.replace('"', '""') + '"'


def _connect() -> Any:
    database = import_module("duckdb").connect()
    free = available_memory()[0]
    settings = {"threads": str(kernel_threads()), "preserve_insertion_order": "false"}
    # the nodes are looked up, not the edges: DuckDB takes a CSV file of any size for the smaller side
    settings["disabled_optimizers"] = "'join_order,build_side_probe_side'"
    settings["temp_directory"] = _quoted(tempfile.gettempdir())
    if np.isfinite(free):
        settings["memory_limit"] = f"'{int(_MEMORY_SHARE * free / 1e6)}MB'"
    for name, value in settings.items():
        database.execute(f"SET {name}={value}")
    return database


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """Errors of DuckDB as a DataFileError."""
    try:
        yield
    except import_module("duckdb").Error as error:
        first = str(error).splitlines()[0]
        remedy = "Check its files, and the space for temporary ones."
        raise DataFileError(f"{path} cannot be read ({first}).", remedy) from None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _head(path: Path) -> str:
    """Whole lines from the start of a text file, plain or gzip."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(path) if packed else path.open("rb") as file:
        content = file.read(_HEAD)
    return decode(content if len(content) < _HEAD else content[: content.rindex(b"\n") + 1], path, "utf-8")


def _first_line(head: str) -> str:
    return head.splitlines()[0] if head else ""
