"""IdIndex: positions of the ends of edges among the ids of the nodes."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.graph.cells import is_missing, spell_id
from dccgcn.kernels.texts import BLANK, UNKNOWN, TextIndex, Texts
from dccgcn.tables.parse import check_ids
from dccgcn.tables.table import Table

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")  # as spell_id writes an int
_DIFFERENCES: dict[str, Callable[[str], str]] = {
    "blanks": str.strip,
    "capitals": str.casefold,
    "a decimal point": lambda i: re.sub(r"\.0+$", "", i),
    "leading zeros": lambda i: i.lstrip("0"),
    "the form of their accents (Unicode NFC and NFD)": lambda i: unicodedata.normalize("NFC", i),
}


class IdIndex:
    """The ids of the nodes, spelled as text, by their positions."""

    def __init__(self, ids: Sequence[Any]) -> None:
        self._spelled = [spell_id(i) for i in ids]

    @cached_property
    def _texts(self) -> TextIndex:
        return TextIndex(self._spelled)

    @cached_property
    def _whole_numbers(self) -> tuple[pd.Index, np.ndarray]:
        """The ids that are whole numbers of 64 bits, and their positions."""
        at = [p for p, text in enumerate(self._spelled) if _WHOLE.fullmatch(text) and -(2**63) <= int(text) < 2**63]
        return pd.Index(np.array([int(self._spelled[p]) for p in at], np.int64)), np.array([*at, UNKNOWN], np.int32)

    def positions(self, cells: "Texts | pd.Series", table: Table, column: str) -> np.ndarray:
        """(cells,) int32: the position of each; UNKNOWN where it is no id, BLANK where it is missing."""
        if isinstance(cells, Texts):
            return self._texts.positions(cells)
        out = np.full(len(cells), BLANK, np.int32)
        known = ~np.fromiter(map(is_missing, cells), bool, len(cells)) if cells.dtype.kind == "O" else cells.notna()
        known = np.asarray(known, dtype=bool)
        cells = cells[known]
        if cells.dtype.kind in "iu" and len(cells) and cells.max() < 2**63:
            numbers, positions = self._whole_numbers
            out[known] = positions[numbers.get_indexer(cells.to_numpy(np.int64))]
        else:
            check_ids(cells, table, column)
            out[known] = self._texts.positions(Texts.of([spell_id(cell) for cell in cells.tolist()]))
        return out

    def likely_reason(self, unknown: Iterable[Any]) -> str:
        """The one difference that explains all unknown ids, if there is one."""
        for difference, remove in _DIFFERENCES.items():
            if {remove(spell_id(i)) for i in unknown} <= set(map(remove, self._spelled)):
                return f" They differ from the ids of the nodes by {difference} only."
        return ""
