"""Tables in typed files: Parquet, Feather and Excel. Cells keep the types of the file."""

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, DccgcnError, Finding
from dccgcn.kernels import Texts
from dccgcn.tables.table import (
    Cells,
    OpenTable,
    Table,
    TableRows,
    any_frame,
    plain_table,
    table_limit,
    too_large,
)
from dccgcn.text import first_few

MARKS = {b"PAR1": "parquet", b"ARROW1": "feather", b"PK\x03\x04": "excel"}  # first bytes
_REMEDY = "Save it as CSV, TSV, JSON lines, Parquet, Feather or Excel (xlsx)."
_SAMPLE = 10_000  # rows that columns are guessed from
_ROWS = 1 << 20  # of a Parquet file, read at once
_NESTED_ROWS = 256  # of a Parquet file with texts in lists, read at once: all may be long


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet as it lies there, not packed."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


@contextmanager
def _parquet_file(source: Any, path: Path, **options: Any) -> Iterator[Any]:
    """A ParquetFile; errors inside the block become a DataFileError."""
    with _arrow_errors(path, "Parquet"), import_module("pyarrow.parquet").ParquetFile(source, **options) as file:
        yield file


@contextmanager
def _arrow_errors(path: Path, form: str) -> Iterator[None]:
    if find_spec("pyarrow") is None:
        raise DataFileError(f"{path} is a {form} file, which needs pyarrow.", "pip install 'dccgcn[parquet]'")
    try:
        yield
    except DccgcnError:
        raise
    except Exception as error:  # a damaged file can raise nearly anything
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataFileError(f"{path} is not a whole {form} file ({what}).", "Write it again.") from None


def _frame(table: Any) -> pd.DataFrame:
    """A table or column of Arrow as a DataFrame."""
    arrow = import_module("pyarrow")
    table = arrow.table({"cells": table}) if isinstance(table, arrow.Array) else table
    table.validate(full=True)  # that texts are UTF-8, among others
    return cast(pd.DataFrame, any_frame(table, "the file"))


def _column(values: Any) -> Cells:
    """An Arrow column: text as bytes, missing texts empty, other cells as pandas has them."""
    arrow = import_module("pyarrow")
    texts = values.dictionary_decode() if arrow.types.is_dictionary(values.type) else values
    if not _is_text(texts.type):
        return _frame(values).iloc[:, 0]
    texts = texts.cast(arrow.large_string())
    texts.validate(full=True)
    _, offsets, data = texts.buffers()
    at = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    known = texts.is_valid().to_numpy(zero_copy_only=False)
    content = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return Texts(content, at[:-1].copy(), np.where(known, at[1:], at[:-1]))


def _is_text(kind: Any) -> bool:
    types = import_module("pyarrow").types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def open_parquet_table(path: Path) -> OpenTable:
    """A Parquet file in pieces."""
    with _parquet_file(path, path) as file:
        n_rows = int(file.metadata.num_rows)
        start = next(file.iter_batches(_SAMPLE), None)
        empty = file.schema_arrow.empty_table()
        frame = _frame(empty if start is None else empty.from_batches([start]))
    table = plain_table(frame, path.name)
    stored = dict(zip(table.frame.columns, frame.columns, strict=True))

    def batches(columns: Sequence[str]) -> Iterator[TableRows]:
        done = 0
        with _parquet_file(path, path) as file:
            for batch in file.iter_batches(_ROWS, columns=[stored[column] for column in columns]):
                cells = {column: _column(batch.column(stored[column])) for column in columns}
                yield TableRows(cells, np.arange(done, done + batch.num_rows))
                done += batch.num_rows

    return OpenTable(table.frame, path.name, table.findings, batches, n_rows)


def _parquet(content: bytes, path: Path) -> Table:
    """A Parquet file. Texts stay packed until their whole length is known: a few kilobytes can stand for gigabytes."""
    limit = table_limit()
    with _arrow_errors(path, "Parquet"):
        arrow = import_module("pyarrow")
        with _parquet_file(io.BytesIO(content), path) as file:
            about, schema = file.metadata, file.schema_arrow
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        cells = sum(group.column(j).num_values for group in groups for j in range(group.num_columns))
        if 8 * max(cells, about.num_rows * len(schema)) > limit:
            raise too_large(path, limit)
        texts = [field.name for field in schema if _is_text(field.type)]
        nested = any(arrow.types.is_nested(field.type) for field in schema)
        with _parquet_file(io.BytesIO(content), path, read_dictionary=texts) as file:
            batches = file.iter_batches(_NESTED_ROWS) if nested else ()
            parts = (arrow.Table.from_batches([batch]) for batch in batches) if nested else [file.read()]
            tables, lengths = [], dict.fromkeys(schema.names, 0)
            for table in parts:
                tables.append(table)
                for name, column in zip(table.column_names, table.columns, strict=True):
                    lengths[name] += sum(map(_unpacked_bytes, column.chunks))
                if sum(lengths.values()) > limit:
                    raise too_large(path, limit, f"column {first_few([max(lengths, key=lengths.__getitem__)])}")
        whole = arrow.concat_tables(tables) if tables else schema.empty_table()
        return plain_table(_frame(whole.cast(schema)), path.name)


def _unpacked_bytes(column: Any) -> int:
    """Bytes of a column's cells, each text counted as often as it stands there."""
    if not isinstance(column, import_module("pyarrow").DictionaryArray):
        return int(column.nbytes)
    compute = import_module("pyarrow.compute")
    sizes = compute.binary_length(column.dictionary).take(column.indices)
    return int(compute.sum(sizes).as_py() or 0) + 8 * len(column)


def _feather(content: bytes, path: Path) -> Table:
    """A Feather file, refused if its cells, eight bytes each, are beyond the limit."""
    with _arrow_errors(path, "Feather"):
        file = import_module("pyarrow.ipc").open_file(io.BytesIO(content))
        batches, limit = [], table_limit()
        for number in range(file.num_record_batches):
            batches.append(file.get_batch(number))
            if sum(max(batch.nbytes, 8 * batch.num_rows * batch.num_columns) for batch in batches) > limit:
                raise too_large(path, limit)
        return plain_table(_frame(import_module("pyarrow").Table.from_batches(batches, file.schema)), path.name)


def _excel(content: bytes, path: Path) -> Table:
    """The first sheet of a workbook. One cell can stand far out, so the span of all is watched row by row."""
    if find_spec("openpyxl") is None:
        raise DataFileError(f"{path} is an Excel workbook, which needs openpyxl.", "pip install 'dccgcn[excel]'")
    rows: list[list[Any]] = []
    limit, width = table_limit(), 0
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                raise DataFileError(f"{path} is a zip archive, not an Excel workbook.", _REMEDY)
            if sum(part.file_size for part in archive.infolist()) > limit:
                raise too_large(path, limit)
        book = import_module("openpyxl").load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        with closing(book):
            first, *others = book.worksheets
            first.reset_dimensions()  # what a file says of them may be wrong
            for number, row in enumerate(first.iter_rows(), 1):
                width = max(width, len(row))
                if 8 * number * width > limit:
                    letters = import_module("openpyxl.utils").get_column_letter(width)
                    raise too_large(path, limit, f"cell {letters}{number}")
                rows.append([_whole(cell.value) for cell in row])
    except DccgcnError:
        raise
    except Exception as error:  # a damaged file can raise nearly anything
        raise DataFileError(f"{path} is not a whole Excel workbook ({error}).", _REMEDY) from None
    header, *rows = [row for row in rows if any(cell is not None for cell in row)] or [[]]
    names = ["" if name is None else str(name) for name in header]
    table = plain_table(pd.DataFrame(rows, columns=range(len(names)), dtype=object).set_axis(names, axis=1), path.name)
    if not others:
        return table
    text = f"The sheet {first.title!r} of {path.name} was read; the others were not: "
    listed = first_few(sheet.title for sheet in others)
    return Table(table.frame, table.name, (*table.findings, Finding("note", "sheets", f"{text}{listed}.")))


def _whole(cell: Any) -> Any:
    """A cell of Excel, which has no whole numbers."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else None if cell == "" else cell


READERS: dict[str, Callable[[bytes, Path], Table]] = {"parquet": _parquet, "feather": _feather, "excel": _excel}
