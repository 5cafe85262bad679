"""Tables of edges whose rows are read some at a time: a table of any length takes little memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError
from dccgcn.kernels.texts import COMPLETE, Rows, Texts, split_rows
from dccgcn.tables.frames import Source, check_same_columns, files_of, peeked, read_pieces, read_table, typed_form
from dccgcn.tables.table import ESCAPED, Table, named_columns, plain_table, unescaped
from dccgcn.tables.text_files import MALFORMED, decoded, delimiter_finding, delimiter_of, ragged_lines
from dccgcn.tables.typed_files import arrow_frame, arrow_texts, is_json, is_parquet, open_parquet

_SAMPLE = 10_000  # rows that columns are guessed from
_ARROW_ROWS = 1 << 20  # of a Parquet file, read at once

Column: TypeAlias = "Texts | pd.Series"


@dataclass(frozen=True, eq=False)
class EdgeRows:
    """Some rows of a table of edges."""

    columns: dict[str, Column]  # text without protecting apostrophes, or cells with the types of a file or DataFrame
    numbers: np.ndarray  # (rows,) the line or row of each in its file


@dataclass(frozen=True, eq=False)
class EdgeTable(Table):
    """A table of edges: ``frame`` holds its first rows, ``batches`` gives some columns of all rows."""

    batches: Callable[[Sequence[str]], Iterator[EdgeRows]] = lambda columns: iter(())
    n_rows: int = 0  # of text files estimated from the first lines


def edge_table(source: Source, what: str, encoding: str) -> EdgeTable:
    """The table of edges of a file, a folder of files or a DataFrame, in any form that ``read_table`` reads."""
    if isinstance(source, pd.DataFrame):
        return in_memory(read_table(source, what))
    path = Path(source)
    if not path.is_dir():
        return _file(path, what, encoding)
    parts = [_file(file, what, encoding) for file in files_of(path)]
    check_same_columns(path, parts)
    findings = tuple(dict.fromkeys(finding for part in parts for finding in part.findings))
    frame = pd.concat([part.frame for part in parts]).rename_axis(parts[0].frame.index.name)

    def batches(columns: Sequence[str]) -> Iterator[EdgeRows]:
        before = last = 0  # lines are counted through all files
        for part in parts:
            for rows in part.batches(columns):
                last = max(last, before + int(rows.numbers.max(initial=-1)) + 1)
                yield replace(rows, numbers=rows.numbers + before)
            before = last

    return EdgeTable(frame, f"{path.name}/", findings, batches, sum(part.n_rows for part in parts))


def in_memory(table: Table) -> EdgeTable:
    """A table whose rows are there already."""

    def batches(columns: Sequence[str]) -> Iterator[EdgeRows]:
        numbers = table.frame.index.to_numpy()
        cells = {column: table.frame[column] for column in columns}
        if table.is_text:
            cells = {column: unescaped(texts) for column, texts in cells.items()}
        yield EdgeRows(dict(cells), numbers)

    return EdgeTable(table.frame, table.name, table.findings, batches, len(table.frame))


def _file(path: Path, what: str, encoding: str) -> EdgeTable:
    if path.exists() and not path.is_file():  # a pipe cannot be read twice
        return in_memory(read_table(path, what, encoding))
    start, _ = peeked(read_pieces(path))
    form = typed_form(start, path)
    if form == "parquet" and is_parquet(path):
        return _parquet(path)
    if form is not None or is_json("".join(decoded([start], path, encoding, whole=False))):
        return in_memory(read_table(path, what, encoding))
    return _delimited(path, encoding)


def _delimited(path: Path, encoding: str) -> EdgeTable:
    """A CSV or TSV file. Its size in rows is estimated from its first lines."""
    start = next((rows for rows in _rows(path, encoding) if len(rows.lines)), None)
    if start is None:
        raise DataFileError(f"{path} is empty.", "It needs a header line with the names of its columns.")
    width = int(start.first_cell[1])
    header = start.cells[:width].tolist()
    lengths = np.diff(start.first_cell)[1 : _SAMPLE + 1]
    whole = np.flatnonzero(lengths == width) + 1
    cells = start.cells[(start.first_cell[whole][:, None] + np.arange(width)).ravel()].tolist()
    index = pd.Index(start.lines[whole], dtype=np.int64, name="line")
    frame = pd.DataFrame(np.array(cells, dtype=object).reshape(-1, width), index=index, dtype=object)
    frame = named_columns(frame, header, path.name)
    names = list(frame.columns)

    def batches(columns: Sequence[str]) -> Iterator[EdgeRows]:
        ragged: list[tuple[int, int]] = []
        n_ragged, is_first = 0, True
        for rows in _rows(path, encoding):
            first, lines, lengths = rows.first_cell[:-1], rows.lines, np.diff(rows.first_cell)
            if is_first and len(lines):
                first, lines, lengths, is_first = first[1:], lines[1:], lengths[1:], False
            wrong = np.flatnonzero(lengths != width)
            n_ragged += len(wrong)
            ragged += [(int(lines[i]), int(lengths[i])) for i in wrong[: 5 - len(ragged)]]
            if len(wrong):
                first, lines = first[lengths == width], lines[lengths == width]
            texts = {column: rows.cells[first + names.index(column)].without_apostrophes(ESCAPED) for column in columns}
            yield EdgeRows(dict(texts), lines)
        if n_ragged:
            raise ragged_lines(path, n_ragged, width, ragged)

    if len(whole) < len(lengths):
        for _ in batches(()):  # counts all of them
            pass
    n_rows = int(len(start.lines) * path.stat().st_size / max(start.taken, 1))
    return EdgeTable(frame, path.name, delimiter_finding(start.delimiter, path), batches, n_rows)


def _rows(path: Path, encoding: str) -> Iterator[Rows]:
    """The rows of a delimited file, header included, in pieces of the file."""
    left, line, delimiter = b"", 1, ""
    waiting: list[bytes] = []
    texts = decoded(read_pieces(path), path, encoding)
    text: str | None = next(texts, None)
    while text is not None:
        following = next(texts, None)
        waiting.append(text.encode())
        text = following
        if text is not None and sum(map(len, waiting)) < len(left):
            continue  # a row of many pieces: looked at again only when it has doubled
        content = b"".join([left, *waiting])
        if not delimiter:
            header = content.lstrip(b"\r\n")
            if text is not None and b"\n" not in header and b"\r" not in header:
                continue
            delimiter = delimiter_of(content.decode(), path)
        rows = split_rows(content, delimiter, line, is_last=text is None)
        if rows.fault != COMPLETE:
            what, remedy = MALFORMED[rows.fault]
            raise DataFileError(f"Line {rows.next_line} of {path} is malformed ({what.format(delimiter)}).", remedy)
        yield rows
        left, line = content[rows.taken :], rows.next_line
        waiting.clear()


def _parquet(path: Path) -> EdgeTable:
    with open_parquet(path, path) as file:
        n_rows = int(file.metadata.num_rows)
        start = next(file.iter_batches(_SAMPLE), None)
        empty = file.schema_arrow.empty_table()
        frame = arrow_frame(empty if start is None else empty.from_batches([start]))
    table = plain_table(frame, path.name)
    stored = dict(zip(table.frame.columns, frame.columns, strict=True))

    def batches(columns: Sequence[str]) -> Iterator[EdgeRows]:
        done = 0
        with open_parquet(path, path) as file:
            for batch in file.iter_batches(_ARROW_ROWS, columns=[stored[column] for column in columns]):
                cells = {column: _column(batch.column(stored[column])) for column in columns}
                yield EdgeRows(cells, np.arange(done, done + batch.num_rows))
                done += batch.num_rows

    return EdgeTable(table.frame, path.name, table.findings, batches, n_rows)


def _column(values: Any) -> Column:
    texts = arrow_texts(values)
    return Texts(*texts) if texts is not None else arrow_frame(values).iloc[:, 0]
