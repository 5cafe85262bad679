"""One table from a file or a pandas DataFrame."""

import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, GraphError
from dccgcn.io import typed_files
from dccgcn.io.table import Table, plain_table, table_limit, too_large
from dccgcn.io.text_files import decode, text_table
from dccgcn.progress import Progress, tracked
from dccgcn.runtime.memory import check_table

Source: TypeAlias = "str | os.PathLike[str] | pd.DataFrame"

_PIECE = 2**23  # bytes read at once
_UNSUPPORTED = {
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstandard",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"graph [": "a GML file",
    b"\x80\x04\x95": "a pickle",
    b"\x80\x05\x95": "a pickle",
}


def read_table(source: Source, what: str, encoding: str = "utf-8", progress: Progress | None = None) -> Table:
    """CSV, TSV, JSON lines (plain or gzip), Parquet, Feather, Excel, a folder of such files, or a DataFrame.

    Cells of CSV and TSV stay text, nothing is parsed. The form is recognised by the content, not by the file's name.
    """
    if isinstance(source, pd.DataFrame):
        return plain_table(source, f"the table of {what}")
    path = Path(source)
    if path.is_dir():
        return _joined(path, lambda piece: read_table(piece, what, encoding), progress)
    start, pieces = peeked(read_pieces(path))
    form = typed_form(start, path)
    check_table(path)
    content = b"".join(pieces)
    if form is not None:
        return typed_files.READERS[form](content, path)
    check_table(path, content)
    text = decode(content, path, encoding)
    return typed_files.json_table(text, path) if typed_files.is_json(text) else text_table(text, path, progress)


def typed_form(start: bytes, path: Path) -> str | None:
    """The form of a typed file by its first bytes, None if it is text; a DataFileError if it is not read at all."""
    for mark, form in typed_files.MARKS.items():
        if start.startswith(mark):
            return form
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
    return None


def files_of(folder: Path) -> list[Path]:
    """The files of a folder in the order of their names; hidden ones and markers such as _SUCCESS are left out."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._")
    if not files:
        raise DataFileError(f"The folder {folder} has no files.", "Give a folder of CSV or Parquet files, or a file.")
    return files


def check_same_columns(folder: Path, tables: Sequence[Table]) -> None:
    """Raise a GraphError unless the files of a folder are parts of one table."""
    first = tables[0]
    for table in tables[1:]:
        if list(table.frame.columns) != list(first.frame.columns) or table.is_text != first.is_text:
            raise GraphError(
                f"{first.name} and {table.name} in {folder} do not have the same columns.",
                "Give a folder whose files are parts of one table.",
            )


def _joined(folder: Path, read: Callable[[Path], Table], progress: Progress | None = None) -> Table:
    """The tables of all files of a folder as one; lines of text files are counted through all of them."""
    files = files_of(folder)
    tables = [read(path) for path in tracked(files, len(files), f"files of {folder.name}/", progress)]
    check_same_columns(folder, tables)
    before = np.cumsum([0, *(int(table.frame.index.max() if len(table.frame) else 0) + 1 for table in tables)])
    rows = [table.frame.set_axis(table.frame.index + start) for table, start in zip(tables, before, strict=False)]
    frame = pd.concat(rows).rename_axis(tables[0].frame.index.name)
    findings = dict.fromkeys(finding for table in tables for finding in table.findings)
    return Table(frame, f"{folder.name}/", tuple(findings))


def file_content(path: Path) -> bytes:
    """All bytes of a file, unpacked if it is gzip."""
    return b"".join(read_pieces(path))


def read_pieces(path: Path) -> Iterator[bytes]:
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


def peeked(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first piece, and all pieces."""
    first = next(pieces)
    return first, chain([first], pieces)
