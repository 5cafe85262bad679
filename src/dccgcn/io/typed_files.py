"""Tables in typed files: Parquet, Feather, Excel and JSON. Cells keep the types of the file."""

import io
import json
import zipfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from dccgcn.errors import DataFileError, Finding
from dccgcn.io.table import Table, plain_table, table_limit, too_large
from dccgcn.text import first_few


def _arrow_table(content: bytes, path: Path, form: str, rows: Callable[[Any], int], read: Callable[..., Any]) -> Table:
    """A Parquet or Feather file.

    Refused if its cells, eight bytes each, are beyond the limit: the sizes that it states are those on disk.
    """
    if find_spec("pyarrow") is None:
        raise DataFileError(f"{path} is a {form} file, which needs pyarrow.", "pip install 'dccgcn[parquet]'")
    try:
        if 8 * rows(io.BytesIO(content)) > (limit := table_limit()):
            raise too_large(path, limit)
        # nullable numbers: a missing cell must not turn a column of 64-bit ids into floats
        frame = read(io.BytesIO(content), dtype_backend="numpy_nullable")
        words = [position for position, dtype in enumerate(frame.dtypes) if pd.api.types.is_string_dtype(dtype)]
        frame = frame.astype({frame.columns[position]: object for position in words})  # decoded here: may not be text
    except DataFileError:
        raise
    except Exception as error:  # a damaged file can raise nearly anything
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataFileError(f"{path} is not a whole {form} file ({what}).", "Write it again.") from None
    return plain_table(frame, path.name)


def _parquet(content: bytes, path: Path) -> Table:
    def cells(file: Any) -> int:
        about = import_module("pyarrow.parquet").ParquetFile(file).metadata
        return int(about.num_rows * about.num_columns)

    return _arrow_table(content, path, "Parquet", cells, pd.read_parquet)


def _feather(content: bytes, path: Path) -> Table:
    def cells(file: Any) -> int:
        batches = import_module("pyarrow.ipc").open_file(file)
        rows = sum(batches.get_batch(i).num_rows for i in range(batches.num_record_batches))
        return int(rows * len(batches.schema))

    return _arrow_table(content, path, "Feather", cells, pd.read_feather)


def _excel(content: bytes, path: Path) -> Table:
    """The first sheet of a workbook."""
    remedy = "Save it as CSV, TSV, JSON lines, Parquet, Feather or Excel (xlsx)."
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                raise DataFileError(f"{path} is a zip archive, not an Excel workbook.", remedy)
            if sum(part.file_size for part in archive.infolist()) > (limit := table_limit()):
                raise too_large(path, limit)
        if find_spec("openpyxl") is None:
            raise DataFileError(f"{path} is an Excel workbook, which needs openpyxl.", "pip install 'dccgcn[excel]'")
        sheets = pd.read_excel(io.BytesIO(content), sheet_name=None, dtype=object, engine="openpyxl")
    except DataFileError:
        raise
    except Exception as error:  # a damaged file can raise nearly anything
        raise DataFileError(f"{path} is not a whole Excel workbook ({error}).", remedy) from None
    first, *others = sheets
    table = plain_table(sheets[first], path.name)
    if not others:
        return table
    text = f"The sheet {first_few([first])} of {path.name} was read; the others were not: {first_few(others)}."
    return Table(table.frame, table.name, (*table.findings, Finding("note", "sheets", text)))


READERS: dict[bytes, Callable[[bytes, Path], Table]] = {
    b"PAR1": _parquet,
    b"ARROW1": _feather,
    b"PK\x03\x04": _excel,
}


def is_json(text: str) -> bool:
    """Whether a text is JSON lines or a JSON list, and not CSV."""
    return text.lstrip()[:1] == "{" or text.lstrip().startswith("[{")


def json_table(text: str, path: Path) -> Table:
    """A table with a JSON object per line, or of one list of objects. Whole numbers keep every digit."""
    try:
        if text.lstrip().startswith("["):
            records = json.loads(text)
        else:
            records = [_record(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataFileError(
            f"{path} is not JSON ({error}).", "Give one JSON object per line, or a list of them."
        ) from None
    if not all(isinstance(record, dict) for record in records):
        raise DataFileError(f"{path} holds JSON values that are not objects.", "Give one object per row.")
    return plain_table(pd.DataFrame(records, dtype=object), path.name)


def _record(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(f"line {number}: {error.msg}", error.doc, error.pos) from None
