"""Texts as bytes: columns of them, the cells of a delimited file, and positions of texts in a list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numba
import numpy as np

from dccgcn.kernels.row_threads import over_rows

UNKNOWN, BLANK = -1, -2  # in place of positions
_COST = 50  # of looking a text up, in elements
_BLOCK = 256  # texts looked up side by side


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of UTF-8 texts: text i is data[starts[i]:ends[i]]."""

    data: np.ndarray  # (bytes,) uint8
    starts: np.ndarray  # (texts,) int64
    ends: np.ndarray

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """A list of texts; lone surrogates are kept."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        lengths = np.array([len(text) for text in encoded], np.int64)
        ends = np.cumsum(lengths)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), ends - lengths, ends)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: Any) -> "Texts":
        return Texts(self.data, self.starts[rows], self.ends[rows])

    def tolist(self) -> list[str]:
        """The texts as a list."""
        content = self.data.tobytes()
        return [content[a:b].decode("utf-8", "surrogatepass") for a, b in zip(self.starts, self.ends, strict=True)]

    def without_apostrophes(self, marks: str) -> "Texts":
        """The texts without an apostrophe at their start that one of the marks follows."""
        starts = self.starts.copy()
        unescape(self.data, starts, self.ends, np.frombuffer(marks.encode(), np.uint8))
        return Texts(self.data, starts, self.ends)


@dataclass(frozen=True, eq=False)
class Rows:
    """Whole rows of a delimited text: their cells one after the other."""

    cells: Texts
    first_cell: np.ndarray  # (rows + 1,) int64
    lines: np.ndarray  # (rows,) int64, on which each row starts
    taken: int  # bytes that the rows take
    next_line: int  # number of the line after them
    fault: int  # COMPLETE, or what is wrong with the row after them
    delimiter: str


def split_rows(content: bytes, delimiter: str, line: int, is_last: bool) -> Rows:
    """The whole rows at the start of a delimited text. ``line``: number of its first line."""
    data = np.frombuffer(content, np.uint8).copy()
    breaks = np.count_nonzero((data == LINE_FEED) | (data == RETURN)) + 1
    room = np.count_nonzero(data == ord(delimiter)) + breaks
    starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    first_cell, lines = np.empty(breaks + 1, np.int64), np.empty(breaks, np.int64)
    rows, taken, next_line, fault = split_cells(data, ord(delimiter), is_last, line, starts, ends, first_cell, lines)
    n_cells = int(first_cell[rows])
    cells = Texts(data, starts[:n_cells], ends[:n_cells])
    return Rows(cells, first_cell[: rows + 1], lines[:rows], int(taken), int(next_line), int(fault), delimiter)


class TextIndex:
    """Positions of texts in a list of different ones."""

    def __init__(self, texts: Sequence[str]) -> None:
        listed = Texts.of(texts)
        self._data, self._offsets = listed.data, np.append(listed.starts, len(listed.data))
        self._table = np.full(1 << max(4, (2 * len(texts)).bit_length()), -1, np.int32)
        fill_table(self._data, self._offsets, self._table)

    def positions(self, texts: Texts) -> np.ndarray:
        """(texts,) int32: the position of each text; UNKNOWN if there is none, BLANK if it is blank."""
        out = np.empty(len(texts), np.int32)
        arguments = (self._table, self._data, self._offsets, texts.data, texts.starts, texts.ends, out)
        over_rows(
            look_up, len(texts), *arguments, buffers=lambda: (np.empty(_BLOCK, np.int64),), cost=_COST * len(texts)
        )
        return out


__all__ = ["BLANK", "COMPLETE", "UNKNOWN", "Rows", "TextIndex", "Texts", "split_rows"]


_jit = numba.njit(cache=True, nogil=True)

QUOTE, LINE_FEED, RETURN, APOSTROPHE = 34, 10, 13, 39
COMPLETE, NOT_CLOSED, AFTER_QUOTE = 0, 1, 2  # how a row ends: well, without a closing quote, with text after one


@_jit
def split_cells(data, delimiter, is_last, line, starts, ends, first_cell, lines):  # type: ignore[no-untyped-def]
    """The cells of all whole rows, by the rules of Python's csv module in its strict form. Blank lines are left out.

    data : (bytes,) uint8; a doubled quote in a quoted cell becomes one
    is_last : whether the end of the data is the end of the file, and so of the last row
    line : number of the line at the start of the data
    starts, ends : (cells,) int64, written: the bytes of each cell
    first_cell, lines : (rows + 1,) and (rows,) int64, written: the first cell of each row, and its first line
    returned : rows; bytes that they take; number of the line after them; COMPLETE, or what is wrong with the row there.
    """
    n, i, cells, rows, taken, next_line = len(data), 0, 0, 0, 0, line
    first_cell[0] = 0
    while i < n:
        if data[i] == LINE_FEED or data[i] == RETURN:  # a blank line
            if data[i] == RETURN:
                if i + 1 == n and not is_last:
                    break  # a line feed may follow
                i += i + 1 < n and data[i + 1] == LINE_FEED
            i, line = i + 1, line + 1
            taken, next_line = i, line
            continue
        row_line = line
        ended = False
        while not ended:
            start = end = i
            if i < n and data[i] == QUOTE:
                i += 1
                start = end = i
                closed = False
                while i < n and not closed:
                    byte = data[i]
                    if byte == QUOTE:
                        if i + 1 < n and data[i + 1] == QUOTE:
                            i += 1
                        elif i + 1 < n or is_last:
                            closed = True
                            continue
                        else:
                            break  # a second quote may follow
                    elif byte == LINE_FEED or (byte == RETURN and not (i + 1 < n and data[i + 1] == LINE_FEED)):
                        line += 1
                    data[end] = data[i]
                    end, i = end + 1, i + 1
                if not closed:
                    return rows, taken, next_line, NOT_CLOSED if is_last else COMPLETE
                i += 1
                if i < n and data[i] != delimiter and data[i] != LINE_FEED and data[i] != RETURN:
                    return rows, taken, next_line, AFTER_QUOTE
            else:
                while i < n and data[i] != delimiter and data[i] != LINE_FEED and data[i] != RETURN:
                    i += 1
                end = i
            if i == n and not is_last:
                return rows, taken, next_line, COMPLETE
            starts[cells], ends[cells] = start, end
            cells += 1
            if i < n and data[i] == delimiter:
                i += 1
                continue
            if i < n and data[i] == RETURN:
                if i + 1 == n and not is_last:
                    return rows, taken, next_line, COMPLETE
                i += i + 1 < n and data[i + 1] == LINE_FEED
            i, line, ended = min(i + 1, n), line + 1, True
        lines[rows] = row_line
        rows += 1
        first_cell[rows] = cells
        taken, next_line = i, line
    return rows, taken, next_line, COMPLETE


@_jit
def unescape(data, starts, ends, marks):  # type: ignore[no-untyped-def]
    """Move each start behind an apostrophe that one of the marks follows."""
    for i in range(len(starts)):
        a = starts[i]
        if ends[i] - a > 1 and data[a] == APOSTROPHE:
            for mark in marks:
                if data[a + 1] == mark:
                    starts[i] = a + 1


@_jit
def _hash(data, start, end):  # type: ignore[no-untyped-def]
    """FNV-1a of a text, its high bits mixed into the low ones."""
    h = np.uint64(14695981039346656037)
    for i in range(start, end):
        h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return np.int64(h ^ (h >> np.uint64(32)))


@_jit
def fill_table(data, offsets, table):  # type: ignore[no-untyped-def]
    """Enter different texts into a hash table of -1: their numbers, each at the first free place.

    The table has a power of two places; text i is data[offsets[i]:offsets[i + 1]].
    """
    mask = len(table) - 1
    for i in range(len(offsets) - 1):
        at = _hash(data, offsets[i], offsets[i + 1]) & mask
        while table[at] >= 0:
            at = (at + 1) & mask
        table[at] = i


@_jit
def look_up(first, last, table, known, offsets, data, starts, ends, out, places):  # type: ignore[no-untyped-def]
    """out[i] = number of text i among the known ones; -1 if it is none of them, -2 if it is blank.

    In blocks of texts: first their places, then what stands there, then the comparisons, so that the memory of several
    texts is fetched at once. places: buffer of a block.
    """
    mask = len(table) - 1
    block = len(places)
    for begin in range(first, last, block):
        stop = min(begin + block, last)
        for i in range(begin, stop):
            places[i - begin] = _hash(data, starts[i], ends[i]) & mask
        for i in range(begin, stop):
            out[i] = table[places[i - begin]]
        for i in range(begin, stop):
            a, b, at = starts[i], ends[i], places[i - begin]
            k = a
            while k < b and (data[k] == 32 or 9 <= data[k] <= 13 or 28 <= data[k] <= 31):
                k += 1
            j = out[i] if k < b else -2
            while j >= 0:
                k = offsets[j]
                if offsets[j + 1] - k == b - a:
                    e = a
                    while e < b and data[e] == known[k]:
                        e, k = e + 1, k + 1
                    if e == b:
                        break
                at = (at + 1) & mask
                j = table[at]
            out[i] = j
