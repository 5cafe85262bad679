"""Tables in typed files: Parquet, Feather, Excel and JSON. Cells keep the types of the file."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError, ParserCreate

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, DccgcnError, Finding
from dccgcn.graph.cells import is_text
from dccgcn.io.table import Table, plain_table, table_limit, too_large
from dccgcn.text import first_few

MARKS = {b"PAR1": "parquet", b"ARROW1": "feather", b"PK\x03\x04": "excel"}  # first bytes
_REMEDY = "Save it as CSV, TSV, JSON lines, Parquet, Feather or Excel (xlsx)."
_NESTED_ROWS = 256  # of a Parquet file with texts in lists, read at once: all may be long


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet as it lies there, not packed."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


@contextmanager
def open_parquet(source: Any, path: Path, **options: Any) -> Iterator[Any]:
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


def arrow_frame(table: Any) -> pd.DataFrame:
    """A table or column of Arrow as a DataFrame; what pandas wrote from an index becomes one.

    Integers are nullable: a missing cell must not make ids floats.
    """
    arrow = import_module("pyarrow")
    if isinstance(table, arrow.Array):
        table = arrow.table({"cells": table})
    numbers = {
        getattr(arrow, name.lower())(): getattr(pd, f"{name}Dtype")()
        for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64")
    }
    numbers[arrow.bool_()] = pd.BooleanDtype()
    table.validate(full=True)  # that texts are UTF-8, among others
    frame = table.replace_schema_metadata(None).to_pandas(types_mapper=numbers.get)
    for position, column in enumerate(table.columns):
        if arrow.types.is_dictionary(column.type) and _is_text(column.type.value_type):
            frame.isetitem(position, frame.iloc[:, position].astype(object))
    words = [position for position, dtype in enumerate(frame.dtypes) if pd.api.types.is_string_dtype(dtype)]
    frame = frame.astype({frame.columns[position]: object for position in words})
    index = [name for name in (table.schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)]
    return frame.set_index(index) if index and set(index) < set(frame.columns) else frame


def arrow_texts(values: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """An Arrow column of text as bytes, starts and ends; missing texts are empty. None for other columns."""
    arrow = import_module("pyarrow")
    if arrow.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if not _is_text(values.type):
        return None
    values = values.cast(arrow.large_string())
    values.validate(full=True)
    _, offsets, data = values.buffers()
    at = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
    known = values.is_valid().to_numpy(zero_copy_only=False)
    content = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return content, at[:-1].copy(), np.where(known, at[1:], at[:-1])


def _is_text(kind: Any) -> bool:
    types = import_module("pyarrow").types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _parquet(content: bytes, path: Path) -> Table:
    """A Parquet file. Texts stay packed until their whole length is known: a few kilobytes can stand for gigabytes."""
    limit = table_limit()
    with _arrow_errors(path, "Parquet"):
        arrow = import_module("pyarrow")
        with open_parquet(io.BytesIO(content), path) as file:
            about, schema = file.metadata, file.schema_arrow
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        cells = sum(group.column(j).num_values for group in groups for j in range(group.num_columns))
        if 8 * max(cells, about.num_rows * len(schema)) > limit:
            raise too_large(path, limit)
        texts = [field.name for field in schema if _is_text(field.type)]
        nested = any(arrow.types.is_nested(field.type) for field in schema)
        with open_parquet(io.BytesIO(content), path, read_dictionary=texts) as file:
            parts = map(_table_of, file.iter_batches(_NESTED_ROWS)) if nested else [file.read()]
            tables, lengths = [], dict.fromkeys(schema.names, 0)
            for table in parts:
                tables.append(table)
                for name, column in zip(table.column_names, table.columns, strict=True):
                    lengths[name] += sum(map(_unpacked_bytes, column.chunks))
                if sum(lengths.values()) > limit:
                    raise too_large(path, limit, f"column {first_few([max(lengths, key=lengths.__getitem__)])}")
        whole = arrow.concat_tables(tables) if tables else schema.empty_table()
        return plain_table(arrow_frame(whole.cast(schema)), path.name)


def _table_of(batch: Any) -> Any:
    return import_module("pyarrow").Table.from_batches([batch])


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
        return plain_table(arrow_frame(import_module("pyarrow").Table.from_batches(batches, file.schema)), path.name)


def _excel(content: bytes, path: Path) -> Table:
    """The first sheet of a workbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                raise DataFileError(f"{path} is a zip archive, not an Excel workbook.", _REMEDY)
            if sum(part.file_size for part in archive.infolist()) > (limit := table_limit()):
                raise too_large(path, limit)
            _check_extent(archive, path, limit)
        if find_spec("openpyxl") is None:
            raise DataFileError(f"{path} is an Excel workbook, which needs openpyxl.", "pip install 'dccgcn[excel]'")
        with pd.ExcelFile(io.BytesIO(content), engine="openpyxl") as book:
            first, *others = book.sheet_names
            table = plain_table(book.parse(str(first), dtype=object, keep_default_na=False, na_values=[""]), path.name)
    except DccgcnError:
        raise
    except Exception as error:  # a damaged file can raise nearly anything
        raise DataFileError(f"{path} is not a whole Excel workbook ({error}).", _REMEDY) from None
    if not others:
        return table
    text = f"The sheet {first_few([first])} of {path.name} was read; the others were not: {first_few(others)}."
    return Table(table.frame, table.name, (*table.findings, Finding("note", "sheets", text)))


def _check_extent(archive: zipfile.ZipFile, path: Path, limit: int) -> None:
    """Raise a DataFileError if a sheet's rows and columns span too many cells: one cell can stand far out."""
    for part in archive.namelist():
        row = column = height = width = 0
        last = ""

        def count(tag: str, given: dict[str, str]) -> None:
            nonlocal row, column, height, width, last
            kind, place = tag.rpartition(":")[2], given.get("r", "")
            if kind == "row":  # rows and cells without a place follow the one before
                row, column = int(place or row + 1), 0
            elif kind == "c":
                letters = place.rstrip("0123456789")
                column = sum(26**i * (ord(x) - 64) for i, x in enumerate(letters[::-1])) if place else column + 1
                row = int(place[len(letters) :] or row) if place else row
                width, last = max((width, last), (column, letters or f"number {column} of row "))
            height = max(height, row)

        scanner = ParserCreate()
        scanner.StartElementHandler = count
        with suppress(ExpatError):  # of parts that are no XML
            scanner.Parse(archive.read(part), True)
        if 8 * height * width > limit:
            raise too_large(path, limit, f"cell {last}{height}")


READERS: dict[str, Callable[[bytes, Path], Table]] = {"parquet": _parquet, "feather": _feather, "excel": _excel}


def is_json(text: str) -> bool:
    """Whether a text is JSON lines or a JSON list, and not CSV."""
    return re.match(r"\s*(\{|\[\s*[\]{])", text) is not None


def json_table(text: str, path: Path) -> Table:
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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError(f"an object has a name twice: {first_few([name for name, _ in pairs])}")
    return found


def _record(line: str, number: int) -> Any:
    try:
        return json.loads(line, object_pairs_hook=_object)
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None
