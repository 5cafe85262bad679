"""One table from a file or a pandas DataFrame: cells unchanged, each row with its line number."""

import csv
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, Finding, GraphError
from dccgcn.runtime.memory import check_table, largest_table
from dccgcn.text import first_few

Source: TypeAlias = "str | os.PathLike[str] | pd.DataFrame"

LIMIT_VARIABLE = "DCCGCN_TABLE_GB"  # environment variable
_LARGEST_UNPACKED = 4e9  # bytes, unless the variable says otherwise
_PIECE = 2**20  # bytes read at once
ESCAPED = "=+-@\t\r'"  # spreadsheets run cells that start like this as formulas, unless after an apostrophe
_DELIMITERS = ",\t;|"
_LONGEST_FIELD = 2**27  # the csv module's own limit of 128 kB is too short for a text column
_UNSUPPORTED = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstandard",
}


@dataclass(frozen=True, eq=False)
class Table:
    """A table whose index gives the place of each row in its file.

    The index is called "line" and counts the lines of a text file from 1, or "row" and counts rows from 0.
    """

    frame: pd.DataFrame  # columns have text names, none twice
    name: str  # for messages, such as "nodes.csv"
    findings: tuple[Finding, ...] = ()

    def where(self, rows: Any) -> str:
        """The place of rows, given by position or mask, for messages."""
        listed = self.frame.index[rows].tolist()
        return f"{self.frame.index.name}{'s' if len(listed) > 1 else ''} {first_few(listed)} of {self.name}"

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Prefix errors with the name of the table, for functions that see only its frame."""
        try:
            yield
        except GraphError as error:
            raise GraphError(f"{self.name}: {error.what}", error.remedy) from None

    @property
    def is_text(self) -> bool:
        """Whether the table comes from a text file, so that every cell is text."""
        return bool(self.frame.index.name == "line")


def read_table(source: Source, what: str, encoding: str = "utf-8") -> Table:
    """CSV or TSV (plain or gzip), Parquet, or a DataFrame. Cells of text files stay text, nothing is parsed."""
    if isinstance(source, pd.DataFrame):
        return _plain(source, f"the table of {what}")
    path = Path(source)
    content = _content(path)
    if content.startswith(b"PAR1"):
        return _plain(_parquet(content, path), path.name)
    for start, form in _UNSUPPORTED.items():
        if content.startswith(start):
            raise DataFileError(f"{path} is {form}.", "Save it as CSV, TSV or Parquet, plain or compressed by gzip.")
    check_table(path, len(content))
    return _text(_decoded(content, path, encoding), path)


def _plain(frame: pd.DataFrame, name: str) -> Table:
    numbered = frame.set_axis(pd.RangeIndex(len(frame), name="row"))
    findings = []
    if frame.index.name is not None or frame.index.nlevels > 1:
        text = f"The index of {name}, {first_few(frame.index.names)}, is not read; reset_index() makes it a column."
        findings.append(Finding("note", "index-left-out", text))
    return Table(_named(numbered, [str(column) for column in frame.columns], name), name, tuple(findings))


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read() if path.is_file() else _bounded(file, path)  # a device may never end
        if content.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(content)) as packed:
                content = _bounded(packed, path)
    except DataFileError:
        raise
    except FileNotFoundError:
        raise DataFileError(f"There is no file {path}.", "Check the path.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataFileError(f"{path} is not a whole gzip file ({error}).", "Compress it again.") from None
    except (OSError, ValueError) as error:
        raise DataFileError(f"{path} cannot be read ({error}).", "Check the path and its permissions.") from None
    if not content.strip():
        raise DataFileError(f"{path} is empty.", "It needs a header line with the names of its columns.")
    return content


def _bounded(file: io.BufferedIOBase, path: Path) -> bytes:
    """All bytes of a file, read piece by piece up to the limit of unpacked tables."""
    limit, pieces, length = table_limit(), [], 0
    while piece := file.read(_PIECE):
        pieces.append(piece)
        length += len(piece)
        if length > limit:
            raise _too_large(path, limit)
    return b"".join(pieces)


def table_limit() -> int:
    """Bytes that a packed table may unpack to: a small file can stand for any number of them."""
    given = os.environ.get(LIMIT_VARIABLE)
    if given is None:
        return int(min(_LARGEST_UNPACKED, largest_table()))
    try:
        return int(float(given) * 1e9)
    except (ValueError, OverflowError):
        raise DataFileError(f"{LIMIT_VARIABLE}={given[:40]!r} is not a number.", "Give gigabytes, such as 8.") from None


def _too_large(path: Path, limit: int) -> DataFileError:
    return DataFileError(
        f"{path} unpacks to more than {limit / 1e9:.3g} GB.",
        f"If that is right, raise the limit: {LIMIT_VARIABLE}={2 * limit / 1e9:.3g}.",
    )


def _check_parquet(content: bytes, path: Path) -> None:
    """Refuse a Parquet file whose cells, eight bytes each, are beyond the limit: its own sizes are those on disk."""
    parquet: Any = import_module("pyarrow.parquet")

    about = parquet.ParquetFile(io.BytesIO(content)).metadata
    if 8 * about.num_rows * about.num_columns > (limit := table_limit()):
        raise _too_large(path, limit)


def _parquet(content: bytes, path: Path) -> pd.DataFrame:
    if find_spec("pyarrow") is None:
        raise DataFileError(f"{path} is a Parquet file, which needs pyarrow.", "pip install 'dccgcn[parquet]'")
    try:
        _check_parquet(content, path)
        # nullable numbers: a missing cell must not turn a column of 64-bit ids into floats
        frame = pd.read_parquet(io.BytesIO(content), dtype_backend="numpy_nullable")
        words = [position for position, dtype in enumerate(frame.dtypes) if pd.api.types.is_string_dtype(dtype)]
        return frame.astype({frame.columns[position]: object for position in words})  # decoded here: it may not be text
    except DataFileError:
        raise
    except Exception as error:  # a damaged file can raise nearly anything
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataFileError(f"{path} is not a whole Parquet file ({what}).", "Write it again.") from None


def _decoded(content: bytes, path: Path, encoding: str) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    try:
        text = content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except LookupError:
        raise DataFileError(f"There is no encoding {encoding!r}.", "Name one such as utf-8 or latin-1.") from None
    except UnicodeError as error:
        place = getattr(error, "start", len(content))
        line = content.count(b"\n", 0, place) + 1
        raise DataFileError(
            f"Line {line} of {path} is not {encoding} text (byte {place}).",
            "Save the table as UTF-8, or name its encoding, such as latin-1 (--encoding latin-1, encoding='latin-1').",
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataFileError(f"Line {line} of {path} holds a NUL character.", "It must be a text file: CSV or TSV.")
    return text


def _text(text: str, path: Path) -> Table:
    delimiter = _delimiter(text, path)
    rows: list[list[str]] = []
    lines: list[int] = []
    with _long_fields():
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        try:
            before = 0
            for row in reader:
                if row:  # blank lines are left out
                    rows.append(row)
                    lines.append(before + 1)  # where the row starts: a quoted cell may span several lines
                before = reader.line_num
        except csv.Error as error:
            raise DataFileError(
                f"Line {before + 1} of {path} is malformed ({error}).",
                'A cell with a quote or a line break needs quotes, and a quote in it is doubled: "5"" disk".',
            ) from None
    if not rows:
        raise DataFileError(f"{path} is empty.", "It needs a header line with the names of its columns.")
    header = rows.pop(0)
    width = len(header)
    ragged = [(line, len(row)) for line, row in zip(lines[1:], rows, strict=True) if len(row) != width]
    if ragged:
        counted = ", ".join(f"line {line} ({cells})" for line, cells in ragged[:5])
        raise DataFileError(
            f"{len(ragged)} lines of {path} do not have the {width} cells of its header: {counted}.",
            "Fix them; a cell that contains the delimiter needs quotes.",
        )
    cells = np.array(rows, dtype=object).reshape(len(rows), width)
    frame = pd.DataFrame(cells, index=pd.Index(lines[1:], dtype=np.int64, name="line"), dtype=object)
    findings = []
    if delimiter not in ",\t":
        findings.append(Finding("note", "delimiter", f"{path.name} was read with {delimiter!r} between the cells."))
    return Table(_named(frame, header, path.name), path.name, tuple(findings))


def unescaped(cells: pd.Series) -> pd.Series:
    """Cells without the apostrophe that protects them from being run as formulas."""
    marked = [isinstance(c, str) and c[:1] == "'" and c[1:2] != "" and c[1] in ESCAPED for c in cells]
    return cells.where(~np.array(marked, dtype=bool), cells.str[1:]) if any(marked) else cells


def _delimiter(text: str, path: Path) -> str:
    if ".tsv" in path.suffixes or ".tab" in path.suffixes:
        return "\t"
    start = text.lstrip("\r\n")
    header = start[: min((start + "\n").index("\n"), len(start))]
    return max(_DELIMITERS, key=header.count)  # the first of equals: a comma


def _named(frame: pd.DataFrame, names: list[str], what: str) -> pd.DataFrame:
    names = [name.strip() or f"column_{position}" for position, name in enumerate(names, 1)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise GraphError(f"Columns of {what} share a name: {first_few(twice)}.", "Give every column a name of its own.")
    frame.columns = pd.Index(names, dtype=object)
    return frame


@contextmanager
def _long_fields() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)
