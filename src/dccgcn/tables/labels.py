"""Labels beside the table of nodes: a further table of labels, the nodes to classify, columns that may be labels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import Finding, GraphError
from dccgcn.graph.cells import MISSING_LABELS, is_missing, spell_id, spell_label
from dccgcn.tables.columns import Columns, find_column
from dccgcn.tables.id_column import spelled_cells
from dccgcn.tables.table import Table, unescaped_cells
from dccgcn.text import first_few

_MOST_CLASSES = 50  # of a column that is proposed as the label
_LEAST_EMPTY = 0.2  # share of its cells


def add_labels(nodes: Table, columns: Columns, more: Table, findings: list[Finding]) -> Table:
    """The table of nodes with the labels of another table, which has a column of ids and one of labels.

    A label of the other table replaces one of the nodes, with a finding if it differs.
    """
    label = columns.label or ""
    ids = [spell_id(i) for i in unescaped_cells(nodes, columns.id)]
    id = _id_column(more, columns, set(ids))
    source = _label_column(more, label, id)
    position = {i: row for row, i in enumerate(ids)}
    rows = [position.get(spell_id(i), -1) for i in unescaped_cells(more, id)]
    if -1 in rows:
        unknown = np.array(rows) < 0
        raise GraphError(
            f"{int(unknown.sum())} labels are of ids that are not among the nodes "
            f"({first_few(more.frame[id][unknown].tolist())}), on {more.where(unknown)}.",
            f"Add these nodes to {nodes.name}, or leave their labels out.",
        )
    cells = unescaped_cells(nodes, label) if label in nodes.frame else [""] * len(ids)
    before, changed, known = list(cells), [], {str(spell_label(c)): c for c in cells if not _is_empty(c)}
    added = [(row, cell) for row, cell in zip(rows, unescaped_cells(more, source), strict=True) if not _is_empty(cell)]
    for row, cell in added:
        spelled = str(spell_label(cell)).strip()
        cells[row] = known.get(spelled, spelled if nodes.is_text else cell)
        if not _is_empty(before[row]) and str(spell_label(before[row])).strip() != spelled:
            changed.append(ids[row])
    if changed:
        text = (
            f"{len(changed)} labels of {nodes.name} were replaced by other ones of {more.name}: {first_few(changed)}."
        )
        findings.append(Finding("warning", "replaced-labels", text))
    findings.append(Finding("note", "more-labels", f"{len(added)} labels were read from {more.name}."))
    frame = nodes.frame.assign(**{label: pd.Series(cells, index=nodes.frame.index, dtype=object)})
    return replace(nodes, frame=frame)


def _id_column(more: Table, columns: Columns, ids: set[str]) -> str:
    """The column of the same name as at the nodes, else the one column that holds ids of nodes only."""
    if columns.id in more.frame:
        return columns.id
    fitting = [c for c in more.frame.columns if c not in more.unnamed and spelled_cells(more, c) <= ids]
    if len(fitting) == 1 or "node_id" in fitting:  # node_id: as label-next writes it
        return "node_id" if "node_id" in fitting else fitting[0]
    return find_column(more, columns.id, "id")


def _label_column(more: Table, label: str, id: str) -> str:
    others = [column for column in more.frame.columns if column != id and column not in more.unnamed]
    return others[0] if label not in more.frame and len(others) == 1 else find_column(more, label, "label")


def _is_empty(cell: Any) -> bool:
    return is_missing(cell, MISSING_LABELS)


def nodes_to_classify(table: Table, conditions: Sequence[str]) -> np.ndarray | None:
    """(n,) bool: nodes for which one of the conditions "column=value" holds; None without conditions."""
    if not conditions:
        return None
    chosen = np.zeros(len(table.frame), dtype=bool)
    for condition in conditions:
        column, equals, value = condition.partition("=")
        if not equals:
            raise GraphError(f"{condition!r} does not say which nodes to classify.", "Write COLUMN=VALUE: type=movie.")
        cells = [
            str(spell_label(cell)).strip()
            for cell in unescaped_cells(table, find_column(table, column, "kind of node"))
        ]
        hits = np.array([cell == value.strip() for cell in cells])
        if not hits.any():
            raise GraphError(
                f"No node of {table.name} has {column}={value}.",
                f"Its values are: {first_few(sorted(set(cells)), 12)}.",
            )
        chosen |= hits
    return chosen


def possible_labels(table: Table, id: str) -> list[str]:
    """Columns that are empty on many nodes and hold few different values: what a column of labels looks like."""
    return [c for c in table.frame.columns if c != id and c not in table.unnamed and _may_be_label(table.frame[c])]


def _may_be_label(cells: pd.Series) -> bool:
    known = [cell for cell in cells if not _is_empty(cell)]
    if not all(isinstance(cell, str | int | np.integer | bool | np.bool_) for cell in known[:1000]):
        return False
    n_classes = len(set(known))
    return (
        len(known) <= (1 - _LEAST_EMPTY) * len(cells)
        and 2 <= n_classes <= min(_MOST_CLASSES, max(2, len(known) / 2))
        and not _all_fractions(known)
    )


def _all_fractions(known: Sequence[Any]) -> bool:
    """Whether the cells are text like 1.5: measurements with gaps."""
    return all(isinstance(cell, str) and "." in cell and cell.replace(".", "").strip("- ").isdigit() for cell in known)
