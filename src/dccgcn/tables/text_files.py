"""Tables in text files: CSV and TSV. Every cell stays text, nothing is parsed."""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, Finding
from dccgcn.kernels.text_kernels import AFTER_QUOTE, NOT_CLOSED
from dccgcn.progress import Progress, tracked
from dccgcn.tables.table import Table, named_columns

_DELIMITERS = ",\t;|"
_QUOTES = 'A cell with a quote or a line break needs quotes, and a quote in it is doubled: "5"" disk".'
MALFORMED = {  # in the words of the csv module
    NOT_CLOSED: ("unexpected end of data", _QUOTES),
    AFTER_QUOTE: ("'{}' expected after '\"'", _QUOTES),
}
_LONGEST_FIELD = 2**27  # the csv module's own limit of 128 kB is too short for a text column


def decode(content: bytes, path: Path, encoding: str) -> str:
    """The content of a text file."""
    return "".join(decoded([content], path, encoding))


def decoded(pieces: Iterable[bytes], path: Path, encoding: str, whole: bool = True) -> Iterator[str]:
    """The text of a file that is read in pieces, one text for each; ``whole``: the last piece is the file's end."""
    decoder: codecs.IncrementalDecoder | None = None
    n_bytes, line = 0, 1
    for piece, is_end in chain(((piece, False) for piece in pieces), [(b"", True)] if whole else []):
        decoder = decoder or _decoder(piece, encoding)
        try:
            text = decoder.decode(piece, is_end)
        except UnicodeError as error:
            seen = len(getattr(error, "object", piece)) - len(piece)  # bytes of the piece before, of half a character
            place = getattr(error, "start", 0) - seen
            where = line + piece.count(b"\n", 0, max(place, 0))
            raise DataFileError(
                f"Line {where} of {path} is not {encoding} text (byte {n_bytes + place}).",
                "Save the table as UTF-8, or name its encoding, such as latin-1 (--encoding latin-1, "
                "encoding='latin-1').",
            ) from None
        if "\0" in text:
            where = line + text.count("\n", 0, text.index("\0"))
            raise DataFileError(f"Line {where} of {path} holds a NUL character.", "It must be a text file: CSV or TSV.")
        n_bytes, line = n_bytes + len(piece), line + text.count("\n")
        if text:
            yield text


def _decoder(start: bytes, encoding: str) -> codecs.IncrementalDecoder:
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    try:
        b"".decode(encoding)  # codecs also has some that are none of text
        return codecs.getincrementaldecoder("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)()
    except (LookupError, ValueError):
        raise DataFileError(f"There is no encoding {encoding!r}.", "Name one such as utf-8 or latin-1.") from None


def text_table(text: str, path: Path, progress: Progress | None = None) -> Table:
    """The table of a CSV or TSV file; the delimiter is the most frequent one of its header."""
    delimiter = delimiter_of(text, path)
    rows: list[list[str]] = []
    lines: list[int] = []
    with _long_fields():
        reader = csv.reader(_lines(text, path, progress), delimiter=delimiter, strict=True)
        try:
            before = 0
            for row in reader:
                if row:  # blank lines are left out
                    rows.append(row)
                    lines.append(before + 1)  # where the row starts: a quoted cell may span several lines
                before = reader.line_num
        except csv.Error as error:
            raise DataFileError(f"Line {before + 1} of {path} is malformed ({error}).", _QUOTES) from None
    if not rows:
        raise DataFileError(f"{path} is empty.", "It needs a header line with the names of its columns.")
    header = rows.pop(0)
    width = len(header)
    ragged = [(line, len(row)) for line, row in zip(lines[1:], rows, strict=True) if len(row) != width]
    if ragged:
        raise ragged_lines(path, len(ragged), width, ragged[:5])
    cells = np.array(rows, dtype=object).reshape(len(rows), width)
    frame = pd.DataFrame(cells, index=pd.Index(lines[1:], dtype=np.int64, name="line"), dtype=object)
    return Table(named_columns(frame, header, path.name), path.name, delimiter_finding(delimiter, path))


def ragged_lines(path: Path, count: int, width: int, first: Sequence[tuple[int, int]]) -> DataFileError:
    """The error of lines with another number of cells than the header. first: numbers and cells of some of them."""
    counted = ", ".join(f"line {line} ({cells})" for line, cells in first)
    return DataFileError(
        f"{count} lines of {path} do not have the {width} cells of its header: {counted}.",
        "Fix them; a cell that contains the delimiter needs quotes.",
    )


def delimiter_finding(delimiter: str, path: Path) -> tuple[Finding, ...]:
    """A note about a delimiter that is neither a comma nor a tab."""
    text = f"{path.name} was read with {delimiter!r} between the cells."
    return () if delimiter in ",\t" else (Finding("note", "delimiter", text),)


def _lines(text: str, path: Path, progress: Progress | None) -> Iterator[str]:
    """The lines with their ends, as a file without translation has them. A StringIO takes four bytes a character."""
    n_lines = text.count("\n") if progress is not None else 0
    found = re.finditer(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+", text)
    return tracked((line.group() for line in found), n_lines, f"lines of {path.name}", progress)


def delimiter_of(text: str, path: Path) -> str:
    """The most frequent delimiter of the header; a tab if the file's name says so."""
    if ".tsv" in path.suffixes or ".tab" in path.suffixes:
        return "\t"
    header = text.lstrip("\r\n").partition("\n")[0].partition("\r")[0]
    return max(_DELIMITERS, key=header.count)  # the first of equals: a comma


@contextmanager
def _long_fields() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)
