"""The column of the node ids: its cells differ from row to row, and the ends of the edges are among them."""

from itertools import islice

import numpy as np
import pandas as pd

from dccgcn.errors import GraphError
from dccgcn.graph.cells import is_missing, spell_id
from dccgcn.tables.columns import guess_column
from dccgcn.tables.table import Table, unescaped
from dccgcn.text import first_few

_UNIQUE = 0.9  # share of different cells; a few duplicates are an error that names them
_COVERED = 0.5  # share of the edges' ends that a column has to hold
_RIVAL = 0.9  # share of the best column's coverage from which on another column is a second candidate
_ID_NAMES = ("id", "node_id", "nodeid", "node")
_PROBE = 1000  # rows


def guess_id(nodes: Table, wanted: set[str], label: str | None, guesses: list[str]) -> str:
    """The column that fits the ends of the edges (``wanted``); by its name only if no column does.

    Two columns that fit are an error, unless one of them is called "id" or the like: only the user knows which one the
    edges mean. A column without a name is never chosen, since pandas writes its row numbers so.
    """
    coverage = {
        column: len(wanted & spelled_cells(nodes, column)) / len(wanted)
        for column in nodes.frame.columns
        if wanted and column != label and _may_be_ids(nodes, column)
    }
    fitting = {column: share for column, share in coverage.items() if share >= _COVERED and column not in nodes.unnamed}
    if not fitting:
        if unnamed := [column for column, share in coverage.items() if share >= _COVERED]:
            raise GraphError(
                f"The ids of the edges are in a column of {nodes.name} that has no name: {first_few(unnamed)}.",
                f"Give it a name in the header, or choose it (--id {unnamed[0]}, id={unnamed[0]!r}).",
            )
        return guess_column(nodes, "id", [label], guesses, required=True) or ""
    best = max(fitting.values())
    rivals = [column for column, share in fitting.items() if share >= _RIVAL * best]
    rivals = [column for column in rivals if column.lower() in _ID_NAMES] or rivals
    if len(rivals) > 1 and not all(_equal(nodes, rivals[0], column) for column in rivals[1:]):
        raise GraphError(
            f"Columns {first_few(rivals)} of {nodes.name} all fit the ids of the edges.",
            f"Name the one that holds the node ids (--id {rivals[0]}, id={rivals[0]!r}).",
        )
    guesses.append(f"id {first_few(rivals[:1])} of {nodes.name}")
    return rivals[0]


def spelled_cells(table: Table, column: str) -> set[str]:
    """The different ids in a column, as text; none of a column of lists."""
    try:
        distinct = pd.Series(table.frame[column].unique(), dtype=object)
    except TypeError:
        return set()
    return {spell_id(cell) for cell in (unescaped(distinct) if table.is_text else distinct) if not is_missing(cell)}


def _may_be_ids(table: Table, column: str) -> bool:
    """Whether nearly all cells differ, and all are text or whole numbers."""
    cells = table.frame[column]
    try:
        if cells.nunique() < _UNIQUE * len(cells):
            return False
    except TypeError:  # lists
        return False
    probe = list(islice((cell for cell in cells if not is_missing(cell)), _PROBE))
    if not probe or not all(isinstance(cell, str | int | float | np.number) for cell in probe):
        return False
    return len(set(probe)) >= _UNIQUE * len(probe)


def _equal(table: Table, one: str, other: str) -> bool:
    return [spell_id(i) for i in table.frame[one]] == [spell_id(i) for i in table.frame[other]]
