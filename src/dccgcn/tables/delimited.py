"""Delimited text (CSV and TSV), read in pieces. Every cell stays text, nothing is parsed."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, Finding
from dccgcn.kernels import AFTER_QUOTE, COMPLETE, NOT_CLOSED, Rows, Texts, split_rows
from dccgcn.tables.table import ESCAPED, OpenTable, Table, TableRows, named_columns

_DELIMITERS = ",\t;|"
_PREAMBLE = re.compile(rb"(?:[#%][^\r\n]*(?:\r\n|\n|\r)|\r|\n)*")  # comments and empty lines
_NUMBER = re.compile(r"\s*-?\d+(\.\d*)?\s*")
_BLANK_SEPARATED = re.compile(r"[\w.\- \t]+")
_SAMPLE = 10_000  # rows that columns are guessed from
_FAULTS = {NOT_CLOSED: "unexpected end of data", AFTER_QUOTE: "'{}' expected after '\"'"}  # as the csv module says it


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


@dataclass(frozen=True, eq=False)
class _TextRows:
    """Some rows of a delimited file below its header."""

    header: list[str]
    cells: Texts
    first: np.ndarray  # (rows,) position of the first cell of each row
    lines: np.ndarray  # (rows,) line on which each row starts
    n_ragged: int  # rows of another width than the header, left out
    source: Rows
    is_headless: bool  # the columns are called c1, c2, …

    def column(self, position: int) -> Texts:
        """The cells of one column, without protecting apostrophes."""
        return self.cells[self.first + position].without_apostrophes(ESCAPED)

    def frame(self, name: str, most: int | None = None) -> pd.DataFrame:
        """The first rows as a DataFrame of text without protecting apostrophes. name: of the table, for messages."""
        width, first = len(self.header), self.first[:most]
        cells = self.cells[(first[:, None] + np.arange(width)).ravel()].without_apostrophes(ESCAPED)
        index = pd.Index(self.lines[:most], dtype=np.int64, name="line")
        frame = pd.DataFrame(np.array(cells.tolist(), dtype=object).reshape(-1, width), index=index, dtype=object)
        return named_columns(frame, self.header, name)

    def findings(self, path: Path) -> tuple[Finding, ...]:
        """Notes about a delimiter that is neither a comma nor a tab, and about a missing header."""
        text = f"{path.name} was read with {self.source.delimiter!r} between the cells."
        found = () if self.source.delimiter in ",\t" else (Finding("note", "delimiter", text),)
        text = f"{path.name} has no header; its columns are called c1 to c{len(self.header)}, as in --label c2."
        return (Finding("warning", "no-header", text), *found) if self.is_headless else found


def whole_text(pieces: Iterable[bytes], path: Path, encoding: str, header: bool = True) -> Table:
    """The table of a CSV or TSV file, all of whose rows are read."""
    frames: list[pd.DataFrame] = []
    findings: tuple[Finding, ...] = ()
    for rows in _text_rows(pieces, path, encoding, header):
        frames.append(rows.frame(path.name))
        findings = rows.findings(path)
    return Table(frames[0] if len(frames) == 1 else pd.concat(frames), path.name, findings)


def open_text(path: Path, encoding: str, read: Callable[[Path], Iterable[bytes]], header: bool = True) -> OpenTable:
    """The table of a CSV or TSV file, in pieces. ``read`` gives the bytes of the file. The first lines are checked."""
    start = next(_text_rows(read(path), path, encoding, header))
    frame = start.frame(path.name, _SAMPLE)
    names = list(frame.columns)

    def batches(columns: Sequence[str]) -> Iterator[TableRows]:
        for rows in _text_rows(read(path), path, encoding, header):
            yield TableRows({column: rows.column(names.index(column)) for column in columns}, rows.lines)

    if start.n_ragged:
        for _ in batches(()):  # counts all of them
            pass
    n_rows = int(len(start.source.lines) * path.stat().st_size / max(start.source.taken, 1))
    return OpenTable(frame, path.name, start.findings(path), batches, n_rows)


def _text_rows(pieces: Iterable[bytes], path: Path, encoding: str, has_header: bool) -> Iterator[_TextRows]:
    """The rows of a delimited file below its header. Rows of another width than the header are an error at the end."""
    header: list[str] = []
    ragged: list[tuple[int, int]] = []  # line and width of the first ones
    n_ragged = 0
    for rows in _split_rows(pieces, path, encoding):
        first, lines, widths = rows.first_cell[:-1], rows.lines, np.diff(rows.first_cell)
        if not header:
            if not len(lines):
                continue
            header = rows.cells[: int(widths[0])].tolist()
            has_header = has_header and not _are_data(header, rows.delimiter)
            if has_header:
                first, lines, widths = first[1:], lines[1:], widths[1:]
            else:
                header = [f"c{position}" for position in range(1, len(header) + 1)]
        wrong = np.flatnonzero(widths != len(header))
        if len(wrong):
            n_ragged += len(wrong)
            ragged += [(int(lines[i]), int(widths[i])) for i in wrong[: 5 - len(ragged)]]
            first, lines = first[widths == len(header)], lines[widths == len(header)]
        yield _TextRows(header, rows.cells, first, lines, len(wrong), rows, not has_header)
    if not header:
        raise DataFileError(f"{path} is empty.", "It needs a header line with the names of its columns.")
    if ragged:
        listed = ", ".join(f"line {line} ({cells})" for line, cells in ragged)
        raise DataFileError(
            f"{n_ragged} lines of {path} do not have the {len(header)} cells of its header: {listed}.",
            "Fix them; a cell that contains the delimiter needs quotes.",
        )


def _split_rows(pieces: Iterable[bytes], path: Path, encoding: str) -> Iterator[Rows]:
    """The rows of a delimited file, header included, in pieces of the file."""
    left, line, delimiter = b"", 1, ""
    waiting: list[bytes] = []
    texts = decoded(pieces, path, encoding)
    text: str | None = next(texts, None)
    while text is not None:
        following = next(texts, None)
        waiting.append(text.encode())
        text = following
        if text is not None and sum(map(len, waiting)) < len(left):
            continue  # a row of many pieces: looked at again only when it has doubled
        content = b"".join([left, *waiting])
        if not delimiter:
            preamble = _PREAMBLE.match(content)[0]  # type: ignore[index]
            lines = re.split(rb"\r\n|\n|\r", content[len(preamble) :], maxsplit=2)
            if text is not None and len(lines) < 3:
                continue
            delimiter = _delimiter([one.decode() for one in lines[:2]], path)
            if b"#" in preamble or b"%" in preamble:
                header = _commented_header(preamble, lines[0], delimiter)
                line = preamble.count(b"\n") + (not header)
                content = header + content[len(preamble) :]
        if delimiter == " ":
            content = re.sub(rb"(?m)^ +| +$", b"", re.sub(rb"[ \t]+", b" ", content))
        rows = split_rows(content, delimiter, line, is_last=text is None)
        if rows.fault != COMPLETE:
            raise DataFileError(
                f"Line {rows.next_line} of {path} is malformed ({_FAULTS[rows.fault].format(delimiter)}).",
                'A cell with a quote or a line break needs quotes, and a quote in it is doubled: "5"" disk".',
            )
        yield rows
        left, line = content[rows.taken :], rows.next_line
        waiting.clear()


def _delimiter(lines: Sequence[str], path: Path) -> str:
    """The most frequent delimiter of the first line; a tab if the file's name says so. Blanks, if two lines agree."""
    if ".tsv" in path.suffixes or ".tab" in path.suffixes:
        return "\t"
    best = max(_DELIMITERS, key=lines[0].count)  # the first of equals: a comma
    widths = {len(line.split()) if _BLANK_SEPARATED.fullmatch(line) else 0 for line in lines if line.strip()}
    return " " if best not in lines[0] and len(widths) == 1 and min(widths) > 1 else best


def _commented_header(preamble: bytes, row: bytes, delimiter: str) -> bytes:
    """The last comment above the first row, if it names as many columns: # FromNodeId ToNodeId above 0 1."""
    last = preamble.strip().splitlines()[-1]
    named = last.lstrip(b"#% ")
    cells = [text.decode().split(None if delimiter == " " else delimiter) for text in (named, row)]
    is_named = last[1:2].isalnum() or any(map(_NUMBER.fullmatch, cells[1]))  # "#id,topic", or names above numbers
    is_header = len(cells[0]) == len(cells[1]) > 1 and is_named
    return named + b"\n" if is_header and not _are_data(cells[0], delimiter) else b""


def _are_data(cells: Sequence[str], delimiter: str) -> bool:
    """Whether the cells of the first line are no names: all are numbers, or one has a fraction."""
    if delimiter == "," and cells == [str(i) for i in range(len(cells))]:  # as pandas calls the columns of an array
        return False
    return all(map(_NUMBER.fullmatch, cells)) or any("." in cell and _NUMBER.fullmatch(cell) for cell in cells)
