"""Tables of every form: files of text, Parquet, Feather and Excel, databases, folders of files, and DataFrames.

The form is recognised by the content, not by the file's name.
"""

import gzip
import json
import os
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, GraphError
from dccgcn.graph import is_text
from dccgcn.progress import Progress, tracked
from dccgcn.runtime import check_table, memory_of_text, missing_extra
from dccgcn.tables import typed_files
from dccgcn.tables.delimited import decoded, open_text, whole_text
from dccgcn.tables.graph_files import is_graph
from dccgcn.tables.table import (
    ALONE,
    OpenTable,
    Table,
    TableRows,
    TableSource,
    any_frame,
    open_in_memory,
    plain_table,
    table_limit,
    too_large,
)
from dccgcn.text import first_few

_PIECE = 2**23  # bytes read at once
_UNSUPPORTED = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstandard",
    b"\x89HDF": "an HDF5 file",
    b"\x80\x04\x95": "a pickle",
    b"\x80\x05\x95": "a pickle",
}
_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)


def read_table(
    source: TableSource, what: str, encoding: str = "utf-8", progress: Progress | None = None, header: bool = True
) -> Table:
    """A whole table. Cells of CSV and TSV stay text, nothing is parsed. what: the table's content, for messages."""
    if (frame := any_frame(source, what)) is not None:
        return plain_table(frame, f"the table of {what}")
    path = Path(source)
    if _in_database(path):
        return database_table(str(source))
    if path.is_dir():
        files = _files_of(path)
        tables = tracked(files, len(files), f"files of {path.name}/", progress)
        return _joined(path, [read_table(file, what, encoding, header=header) for file in tables])
    start, pieces = _peeked(file_pieces(path))
    form = _form(start, path, encoding)
    check_table(path)
    if form in typed_files.READERS:
        return typed_files.READERS[form](b"".join(pieces), path)
    pieces = _checked(pieces, path, progress)
    if form == "json":
        return _json_table("".join(decoded(pieces, path, encoding)), path)
    return whole_text(pieces, path, encoding, header)


def open_table(source: TableSource, what: str, encoding: str = "utf-8", header: bool = True) -> OpenTable:
    """A table of the same forms in pieces; forms other than CSV, TSV and Parquet are read whole."""
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    if path is not None and path.is_dir():
        return _joined_pieces(path, [open_table(file, what, encoding, header) for file in _files_of(path)])
    if path is not None and (path.is_file() or not path.exists()) and not _in_database(path):
        form = _form(next(file_pieces(path)), path, encoding)  # a pipe cannot be read twice
        if form == "parquet" and typed_files.is_parquet(path):
            return typed_files.open_parquet_table(path)
        if form == "text":
            return open_text(path, encoding, file_pieces, header)
    return open_in_memory(read_table(source, what, encoding, header=header))


def _form(start: bytes, path: Path, encoding: str) -> str:
    """The form of a file by its first bytes: a key of the typed readers, "json" or "text"."""
    for mark, form in typed_files.MARKS.items():
        if start.startswith(mark):
            return form
    if start.startswith(b"SQLite format 3") or start[8:12] == b"DUCK":
        raise DataFileError(
            f"{path} is a database.",
            f"Name one of its tables ({first_few(database_tables(path))}): '{path}?table=NAME'.",
        )
    for mark, form in _UNSUPPORTED.items():
        if start.startswith(mark):
            raise DataFileError(
                f"{path} is {form}.", "Save it as CSV, TSV, JSON lines, Parquet, Feather or Excel (xlsx)."
            )
    if start.lstrip()[:1] == b"<":
        raise DataFileError(
            f"{path} is XML or HTML, not a table.",
            "Save it as CSV. A GraphML file holds nodes and edges: give it as the nodes and leave the edges out.",
        )
    if is_graph(start):
        raise DataFileError(
            f"{path} holds nodes and edges.", "Give it as the nodes (--nodes), and leave the edges out."
        )
    text = "".join(decoded([start], path, encoding, whole=False))
    return "json" if re.match(r"\s*(\{|\[\s*[\]{])", text) else "text"


def file_pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a file in pieces, unpacked if it is gzip. Empty files are an error.

    What unpacks, and what is no regular file and may never end, is read up to the limit of unpacked tables.
    """
    limit, length, is_blank = table_limit(), 0, True
    try:
        with path.open("rb") as file:
            is_packed = file.peek(2)[:2] == b"\x1f\x8b"
            is_bounded = is_packed or not path.is_file()
            with gzip.open(file) if is_packed else file as unpacked:
                while piece := unpacked.read(_PIECE):
                    length += len(piece)
                    if is_bounded and length > limit:
                        raise too_large(path, limit)
                    is_blank = is_blank and not piece.strip()
                    yield piece
    except DataFileError:
        raise
    except FileNotFoundError:
        raise DataFileError(f"There is no file {path}.", "Check the path.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataFileError(f"{path} is not a whole gzip file ({error}).", "Compress it again.") from None
    except (OSError, ValueError) as error:
        raise DataFileError(f"{path} cannot be read ({error}).", "Check the path and its permissions.") from None
    if is_blank:
        raise DataFileError(f"{path} is empty.", "It needs a header line with the names of its columns.")


def _peeked(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first piece, and all pieces."""
    first = next(pieces)
    return first, chain([first], pieces)


def _checked(pieces: Iterable[bytes], path: Path, progress: Progress | None) -> Iterator[bytes]:
    """The pieces of a text file, whose table must fit into memory."""
    done, needed, total = 0, 0, path.stat().st_size
    for piece in pieces:
        done, needed = done + len(piece), needed + memory_of_text(piece)
        check_table(path, needed)
        yield piece
        if progress is not None:
            progress(f"megabytes of {path.name}", done >> 20, max(done, total) >> 20)


def _files_of(folder: Path) -> list[Path]:
    """The files of a folder in the order of their names; hidden ones and markers such as _SUCCESS are left out."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._")
    if not files:
        raise DataFileError(f"The folder {folder} has no files.", "Give a folder of CSV or Parquet files, or a file.")
    return files


def _joined(folder: Path, tables: Sequence[Table]) -> Table:
    """The tables of all files of a folder as one; lines of text files are counted through all of them."""
    first, *others = tables
    for table in others:
        if list(table.frame.columns) != list(first.frame.columns) or table.is_text != first.is_text:
            raise GraphError(
                f"{first.name} and {table.name} in {folder} do not have the same columns.",
                "Give a folder whose files are parts of one table.",
            )
    starts = np.cumsum([0, *(int(table.frame.index.max() if len(table.frame) else 0) + 1 for table in tables)])
    rows = [table.frame.set_axis(table.frame.index + start) for table, start in zip(tables, starts, strict=False)]
    findings = tuple(dict.fromkeys(finding for table in tables for finding in table.findings))
    return Table(pd.concat(rows).rename_axis(first.frame.index.name), f"{folder.name}/", findings)


def _joined_pieces(folder: Path, tables: Sequence[OpenTable]) -> OpenTable:
    """The tables of all files of a folder as one in pieces."""
    start = _joined(folder, tables)

    def batches(columns: Sequence[str]) -> Iterator[TableRows]:
        before = last = 0
        for table in tables:
            for rows in table.batches(columns):
                last = max(last, before + int(rows.numbers.max(initial=-1)) + 1)
                yield replace(rows, numbers=rows.numbers + before)
            before = last

    return OpenTable(start.frame, start.name, start.findings, batches, sum(table.n_rows for table in tables))


def _in_database(path: Path) -> bool:
    """Whether a source is a table or a query of a database: shop.duckdb?table=customers."""
    file, mark, _ = str(path).partition("?")
    return bool(mark) and not path.exists() and Path(file).is_file()


def database_table(source: str) -> Table:
    """The table FILE?table=NAME or the rows of FILE?query=SELECT … of an SQLite or DuckDB file, opened to read only."""
    file, _, wanted = source.partition("?")
    kind, _, value = wanted.partition("=")
    if kind not in ("table", "query"):
        raise DataFileError(f"{source} names no table.", f"Write {file}?table=NAME or '{file}?query=SELECT …'.")
    query = value if kind == "query" else 'SELECT * FROM "{}"'.format(value.replace('"', '""'))
    columns, rows = _fetched(Path(file), query)
    name = f"{Path(file).name}/{value if kind == 'table' else 'query'}"
    return plain_table(pd.DataFrame(rows, columns=columns, dtype=object), name)


def database_tables(path: Path) -> list[str]:
    """The names of a database's tables."""
    is_sqlite = path.open("rb").read(6) == b"SQLite"
    query = "SELECT name FROM sqlite_master" if is_sqlite else "SELECT table_name FROM information_schema.tables"
    return sorted(row[0] for row in _fetched(path, query)[1])


def _fetched(path: Path, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns and the rows that a query gives, which can neither read nor write any other file."""
    is_sqlite = path.open("rb").read(6) == b"SQLite"
    if not is_sqlite and find_spec("duckdb") is None:
        raise missing_extra("duckdb", "duckdb", "A DuckDB file")
    try:
        if is_sqlite:
            opened: Any = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
            opened.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
        else:
            config = {**ALONE, "enable_external_access": False}
            opened = import_module("duckdb").connect(str(path), read_only=True, config=config)
        with closing(opened) as database:
            cursor = database.execute(query)
            return [column[0] for column in cursor.description], cursor.fetchall()
    except Exception as error:  # both databases have their own
        raise DataFileError(f"{path} gives no table ({error}).", f"Name one: {path}?table=NAME.") from None


def _json_table(text: str, path: Path) -> Table:
    """A table with a JSON object per line, or of one list of objects. Whole numbers keep every digit."""
    try:
        if text.lstrip().startswith("["):
            records = json.loads(text, object_pairs_hook=_object)
        else:
            records = [_record(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError too
        raise DataFileError(
            f"{path} is not JSON ({error}).", "Give one JSON object per line, or a list of them."
        ) from None
    if not all(isinstance(record, dict) for record in records):
        raise DataFileError(f"{path} holds JSON values that are not objects.", "Give one object per row.")
    n_columns = len(set(chain.from_iterable(records)))
    if 8 * len(records) * n_columns > (limit := table_limit()):
        raise too_large(path, limit, f"its {n_columns:,} columns, as many as there are different names")
    if re.search(r"\\u[dD][89a-fA-F]", text):  # halves of a character, which may stand alone
        for number, record in enumerate(records):
            if not is_text(json.dumps(record, ensure_ascii=False)):
                raise DataFileError(f"Row {number} of {path} holds a lone surrogate, which is no text.", "Remove it.")
    return plain_table(pd.DataFrame(records, dtype=object), path.name)


def _record(line: str, number: int) -> Any:
    try:
        return json.loads(line, object_pairs_hook=_object)
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(record := dict(pairs)) < len(pairs):
        raise ValueError(f"an object has a name twice: {first_few([name for name, _ in pairs])}")
    return record
