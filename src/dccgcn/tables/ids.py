"""Ids of nodes: read from a table, checked, and looked up as the ends of edges. Errors name the lines."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import GraphError
from dccgcn.graph import is_missing, is_too_long, spell_id
from dccgcn.kernels import BLANK, UNKNOWN, TextIndex, Texts
from dccgcn.tables.table import Cells, Table, unescaped_cells
from dccgcn.text import first_few

# floats from here on may not be the whole numbers that they were made from, by bytes of the type
_EXACT = {2: 2**11, 4: 2**24, 8: 2**53}
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")  # as spell_id writes an int
_DIFFERENCES: dict[str, Callable[[str], str]] = {
    "blanks": str.strip,
    "capitals": str.casefold,
    "a decimal point": lambda i: re.sub(r"\.0+$", "", i),
    "leading zeros": lambda i: i.lstrip("0"),
    "the form of their accents (Unicode NFC and NFD)": lambda i: unicodedata.normalize("NFC", i),
}


def read_ids(table: Table, column: str) -> list[Any]:
    """The ids of a table of nodes: none missing, none twice."""
    ids = unescaped_cells(table, column)
    missing = np.array([is_missing(i) for i in ids])
    if missing.any():
        raise GraphError(
            f"{int(missing.sum())} cells of column {first_few([column])} are empty, on {table.where(missing)}.",
            "Every node needs an id, and every edge two.",
        )
    check_ids(table.frame[column], table, column)
    repeated = pd.Series([spell_id(i) for i in ids], dtype=object).duplicated(keep=False).to_numpy()
    if repeated.any():
        first = next(ids[i] for i in np.flatnonzero(repeated))
        alike = [i for i in ids if spell_id(i) == spell_id(first)]
        if len({type(i) for i in alike}) > 1:
            raise GraphError(
                f"The ids {alike[0]!r} and {alike[1]!r} differ only in type, on {table.where(repeated)}.",
                "Read the id column as text, or as numbers, throughout.",
            )
        rows = np.array([i == first for i in ids])
        others = len({ids[i] for i in np.flatnonzero(repeated)}) - 1
        more = f"; {others} other ids repeat too" if others else ""
        raise GraphError(
            f"The node id {first_few([first])} occurs {int(rows.sum())} times, on {table.where(rows)}{more}.",
            "Give every node a unique id.",
        )
    if table.is_text:
        _refuse_two_spellings(table, ids)
    return ids


def check_ids(cells: pd.Series, table: Table, column: str, what: str = "id") -> None:
    """Raise a GraphError unless ids or labels that are not missing are text or numbers, and the numbers exact.

    A Parquet file or DataFrame may hold lists, times, bytes and records.
    """
    if any(map(is_too_long, cells.tolist())):
        text = f"Column {first_few([column])} of {table.name} holds a number of more than 3,000 digits"
        kind = "a label" if what == "label" else "an id"
        raise GraphError(f"{text}, which cannot be {kind}.", "Write shorter ones.")
    others = [cell for cell in cells.tolist() if not isinstance(cell, str | int | float | np.bool_ | np.number)]
    if others:
        raise GraphError(
            f"Column {first_few([column])} of {table.name} holds a {type(others[0]).__name__}, which cannot be "
            f"{'a label' if what == 'label' else 'an id'}: {first_few(others)}.",
            "Write the column as text or whole numbers, or name another one.",
        )
    if cells.dtype.kind == "f" and any(abs(i) >= _EXACT.get(cells.dtype.itemsize, 2**53) for i in cells):
        raise GraphError(
            f"The {what}s in column {first_few([column])} of {table.name} are floats too large to be exact.",
            "Read the column as whole numbers (Int64) or as text.",
        )


def _refuse_two_spellings(table: Table, ids: Sequence[str]) -> None:
    whole = {i: m.group(1) for i in ids if (m := re.fullmatch(r"(\d+)\.0+", i))}
    pairs = [(i, short) for i, short in whole.items() if short in set(ids)] if whole else []
    if pairs:
        raise GraphError(
            f"{table.name} has ids that differ only in how a number is written: {first_few(pairs[0])}.",
            "Write all ids of the column in one way.",
        )


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

    def positions(self, cells: Cells, table: Table, column: str) -> np.ndarray:
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
