"""The nodes' own rows of the user's table, as text."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dccgcn.errors import DccgcnError
from dccgcn.graph.cells import is_missing
from dccgcn.report.schema import TableColumn
from dccgcn.text import printable, truncate

MAX_COLUMNS = 12
MAX_CHARACTERS = 3_000_000  # of all cells in the page
_SHORTEST, _LONGEST = 24, 400  # characters of a cell, if they have to be shortened


@dataclass(frozen=True, eq=False)
class OwnTable:
    """The user's table of nodes, in the order of the graph, and its column of labels."""

    rows: pd.DataFrame
    label: str | None = None


def table_columns(table: OwnTable | None, n: int, shown: np.ndarray) -> list[TableColumn]:
    """The cells of the nodes shown. Of a wide table those with text come first, as numbers tell a person little."""
    if table is None:
        return []
    rows = table.rows
    if len(rows) != n:
        raise DccgcnError(f"The table has {len(rows):,} rows, but the graph {n:,} nodes.", "Give its own table.")
    names = list(rows.columns)
    if len(names) > MAX_COLUMNS:
        texts = [name for name in names if not _is_number(rows[name].iloc[: 2 * MAX_COLUMNS])]
        chosen = [*texts, *(name for name in names if name not in texts)][:MAX_COLUMNS]
        names = [name for name in names if name in chosen]  # in the order of the table
    length = MAX_CHARACTERS // max(len(shown) * len(names), 1)
    length = max(_SHORTEST, min(length, _LONGEST))
    part = rows.iloc[shown]
    return [TableColumn(name=str(name)[:100], cells=[_cell(cell, length) for cell in part[name]]) for name in names]


def _is_number(cells: pd.Series) -> bool:
    present = [cell for cell in cells if not is_missing(cell)]
    return bool(pd.to_numeric(pd.Series(present, dtype=object), errors="coerce").notna().all())


def _cell(cell: object, length: int) -> str:
    return "" if is_missing(cell) else truncate(printable(" ".join(str(cell)[: 2 * length].split())), length)
