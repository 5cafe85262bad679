"""Labels: of the table of nodes, of a further table, and of the nodes to classify."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import AMBIGUOUS_LABELS, MISSING_LABELS, is_missing, spell_id, spell_label
from dccgcn.tables.columns import Columns, TableOptions, find_column, spelled_cells
from dccgcn.tables.ids import check_ids
from dccgcn.tables.table import Table, unescaped_cells
from dccgcn.text import first_few


def node_labels(table: Table, column: str | None, options: TableOptions, findings: list[Finding]) -> list[Any] | None:
    """The labels of a table of nodes, None where missing. In a text file they are whole numbers if all of them are."""
    if column is None:
        return None
    unlabelled, classes = {str(mark) for mark in options.unlabelled or ()}, options.classes
    cells = unescaped_cells(table, column)
    if not table.is_text:
        check_ids(table.frame[column].dropna(), table, column, "label")
        cells = [None if is_missing(cell) else cell for cell in cells]
        texts = {cell for cell in cells if isinstance(cell, str) and cell not in unlabelled}
        findings += _label_findings(texts, table.name)
        return [None if cell is None or str(cell) in unlabelled else cell for cell in cells]
    exact = set(classes or ())  # listed class names keep their blanks; other labels are stripped
    cells = [cell if cell in exact else cell.strip() for cell in cells]
    labels = [None if is_missing(cell, unlabelled | MISSING_LABELS) else cell for cell in cells]
    known = {label for label in labels if label is not None}
    findings += _label_findings(known, table.name)
    if classes is None and all(re.fullmatch(r"-?(0|[1-9]\d{0,17})(\.\d{1,15})?", label) for label in known):
        return [None if label is None else _number(label) for label in labels]
    return labels


def _number(label: str) -> int | float:
    """A label as a number; a whole one with every digit, with or without a point."""
    whole, _, fraction = label.partition(".")
    return float(label) if fraction.strip("0") else int(whole)


def _label_findings(known: set[str], where: str) -> Iterator[Finding]:
    """Labels that may not be meant as the classes that they are read as."""
    count = Counter(map(str.casefold, known))
    if variants := sorted(name for name in known if count[name.casefold()] > 1):
        text = f"Labels of {where} that differ only in capitals are different classes: {first_few(variants)}."
        yield Finding("warning", "case-variant-labels", text)
    if ambiguous := sorted(label for label in known if label.strip().casefold() in AMBIGUOUS_LABELS):
        text = f"The label {first_few(ambiguous)} of {where} was read as a class; "
        text += f"if it means a missing label, pass --unlabelled {shlex.quote(ambiguous[0])}."
        yield Finding("warning", "ambiguous-labels", text)
    if several := sorted(label for label in known if set(re.split(r"\s*[;|]\s*", label)) - {label} & known):
        text = f"Labels of {where} that name several classes are classes of their own: {first_few(several)}."
        yield Finding("warning", "multiple-labels", f"{text} A node has one class here: keep one, or empty the cell.")


def add_labels(nodes: Table, columns: Columns, more: Table, findings: list[Finding]) -> Table:
    """The table of nodes with the labels of another table, which has a column of ids and one of labels.

    A label of the other table replaces one of the nodes, with a finding if it differs.
    """
    label = columns.label or ""
    ids = [spell_id(i) for i in unescaped_cells(nodes, columns.id)]
    id = _id_column(more, columns, set(ids))
    others = [column for column in more.frame.columns if column != id and column not in more.unnamed]
    source = others[0] if label not in more.frame and len(others) == 1 else find_column(more, label, "label")
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
    known = {str(spell_label(cell)): cell for cell in cells if not _is_empty(cell)}
    before, changed = list(cells), []
    added = [(row, cell) for row, cell in zip(rows, unescaped_cells(more, source), strict=True) if not _is_empty(cell)]
    for row, cell in added:
        spelled = str(spell_label(cell)).strip()
        cells[row] = known.get(spelled, spelled if nodes.is_text else cell)
        if not _is_empty(before[row]) and str(spell_label(before[row])).strip() != spelled:
            changed.append(ids[row])
    if changed:
        text = f"{len(changed)} labels of {nodes.name} were replaced by other ones of {more.name}"
        findings.append(Finding("warning", "replaced-labels", f"{text}: {first_few(changed)}."))
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


def _is_empty(cell: Any) -> bool:
    return is_missing(cell, MISSING_LABELS)


def nodes_to_classify(table: Table, conditions: Sequence[str]) -> np.ndarray | None:
    """(n,) bool: nodes for which one of the conditions "column=value" holds; None without conditions."""
    if not conditions:
        return None
    targets = np.zeros(len(table.frame), dtype=bool)
    for condition in conditions:
        column, equals, value = condition.partition("=")
        if not equals:
            raise GraphError(f"{condition!r} does not say which nodes to classify.", "Write COLUMN=VALUE: type=movie.")
        cells = unescaped_cells(table, find_column(table, column, "kind of node"))
        kinds = [str(spell_label(cell)).strip() for cell in cells]
        if value.strip() not in kinds:
            raise GraphError(
                f"No node of {table.name} has {column}={value}.",
                f"Its values are: {first_few(sorted(set(kinds)), 12)}.",
            )
        targets |= np.array([kind == value.strip() for kind in kinds])
    return targets


def labels_of_targets(
    labels: list[Any] | None, targets: np.ndarray | None, findings: list[Finding]
) -> list[Any] | None:
    """The labels of the nodes to classify; labels of other nodes are left out with a finding."""
    if labels is None or targets is None:
        return labels
    if others := sum(label is not None and not target for label, target in zip(labels, targets, strict=True)):
        text = f"{others} labels of nodes that are not to be classified were not used."
        findings.append(Finding("note", "labels-of-others", text))
    return [label if target else None for label, target in zip(labels, targets, strict=True)]
