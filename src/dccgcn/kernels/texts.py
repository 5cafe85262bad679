"""Texts: a column of text as bytes; TextIndex: positions of such texts in a list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dccgcn.kernels.row_threads import over_rows
from dccgcn.kernels.text_kernels import COMPLETE, LINE_FEED, RETURN, fill_table, look_up, split_cells, unescape

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
