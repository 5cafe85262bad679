"""One table from a file or a pandas DataFrame."""

import gzip
import io
import os
import zlib
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from dccgcn.errors import DataFileError
from dccgcn.io import typed_files
from dccgcn.io.pieces import joined
from dccgcn.io.table import Table, plain_table, table_limit, too_large
from dccgcn.io.text_files import decode, text_table
from dccgcn.progress import Progress
from dccgcn.runtime.memory import check_table

Source: TypeAlias = "str | os.PathLike[str] | pd.DataFrame"

_PIECE = 2**20  # bytes read at once
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
        return joined(path, lambda piece: read_table(piece, what, encoding), progress)
    content = file_content(path)
    for start, read in typed_files.READERS.items():
        if content.startswith(start):
            return read(content, path)
    for start, form in _UNSUPPORTED.items():
        if content.startswith(start):
            raise DataFileError(
                f"{path} is {form}.", "Save it as CSV, TSV, JSON lines, Parquet, Feather or Excel (xlsx)."
            )
    if content.lstrip()[:1] == b"<":
        raise DataFileError(
            f"{path} is XML or HTML, not a table.",
            "Save it as CSV. A GraphML file holds nodes and edges: give it as the nodes and leave the edges out.",
        )
    check_table(path, len(content))
    text = decode(content, path, encoding)
    return typed_files.json_table(text, path) if typed_files.is_json(text) else text_table(text, path, progress)


def file_content(path: Path) -> bytes:
    """All bytes of a file, unpacked if it is gzip."""
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
            raise too_large(path, limit)
    return b"".join(pieces)
