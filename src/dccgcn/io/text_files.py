"""Tables in text files: CSV and TSV. Every cell stays text, nothing is parsed."""

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, Finding
from dccgcn.io.table import Table, named_columns
from dccgcn.progress import Progress, tracked

_DELIMITERS = ",\t;|"
_LONGEST_FIELD = 2**27  # the csv module's own limit of 128 kB is too short for a text column


def decode(content: bytes, path: Path, encoding: str) -> str:
    """The content of a text file."""
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
    return Table(named_columns(frame, header, path.name), path.name, tuple(findings))


def _lines(text: str, path: Path, progress: Progress | None) -> Iterator[str]:
    """The lines with their ends, as a file without translation has them. A StringIO takes four bytes a character."""
    n_lines = text.count("\n") if progress is not None else 0
    found = re.finditer(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+", text)
    return tracked((line.group() for line in found), n_lines, f"lines of {path.name}", progress)


def delimiter_of(text: str, path: Path) -> str:
    """The most frequent delimiter of the header; a tab if the file's name says so."""
    if ".tsv" in path.suffixes or ".tab" in path.suffixes:
        return "\t"
    start = text.lstrip("\r\n")
    header = start[: min((start + "\n").index("\n"), len(start))]
    return max(_DELIMITERS, key=header.count)  # the first of equals: a comma


@contextmanager
def _long_fields() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)
