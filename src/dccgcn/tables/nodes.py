"""Ids and labels of the nodes: read from their table, checked, and added from a further table of labels.

Errors name the lines.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import AMBIGUOUS_LABELS, MISSING_LABELS, is_missing, is_too_long, spell_id, spell_label
from dccgcn.tables.columns import Columns, find_column, spelled_cells
from dccgcn.tables.options import TableOptions
from dccgcn.tables.table import Table
from dccgcn.tables.values import to_numbers
from dccgcn.text import first_few

# floats from here on may not be the whole numbers that they were made from, by bytes of the type
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})(\.0*)?")
_MOST_WHOLE = 100  # different whole numbers that are classes, however few nodes each has
_FEW_LABELS, _FEW_FLAGS = 10, 50
_TOLD = 0.95  # share of the labels of each class that a column tells which gives them away
_EXACT = {2: 2**11, 4: 2**24, 8: 2**53}


def read_ids(table: Table, column: str) -> list[Any]:
    """The ids of a table of nodes: none missing, none twice."""
    ids = table.frame[column].tolist()
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
    kind, listed = "a label" if what == "label" else "an id", cells.tolist()
    if any(map(is_too_long, listed)):
        text = f"Column {first_few([column])} of {table.name} holds a number of more than 3,000 digits"
        raise GraphError(f"{text}, which cannot be {kind}.", "Write shorter ones.")
    if others := [cell for cell in listed if not isinstance(cell, str | int | float | np.bool_ | np.number)]:
        raise GraphError(
            f"Column {first_few([column])} of {table.name} holds a {type(others[0]).__name__}, which cannot be {kind}: "
            f"{first_few(others)}.",
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


def node_labels(table: Table, column: str | None, options: TableOptions, findings: list[Finding]) -> list[Any] | None:
    """The labels of a table of nodes, None where missing. In a text file they are whole numbers if all of them are.

    Measurements, cells with several labels, and a column full of marks for a missing label are errors.
    """
    if column is None:
        return None
    marks, exact = {str(mark) for mark in options["unlabelled"]}, set(options["classes"] or ())
    cells = table.frame[column].tolist()
    if table.is_text:  # listed class names keep their blanks; other labels are stripped
        cells = [cell if cell in exact else cell.strip() for cell in cells]
    else:
        check_ids(table.frame[column].dropna(), table, column, "label")
    spellings = marks | MISSING_LABELS if table.is_text else {""}
    labels = [None if is_missing(cell, spellings) or str(cell) in marks else cell for cell in cells]
    count = Counter(label for label in labels if label is not None)
    values = _numbers(list(count)) if options["classes"] is None else None
    where = f"column {first_few([column])} of {table.name}"
    if options["bins"]:
        if values is None:
            raise GraphError(f"Labels in {where} are no numbers, which --bins (bins) could group.", "Leave it out.")
        return _binned(labels, dict(zip(count, values, strict=True)), options["bins"])
    texts = {label for label in count if isinstance(label, str)}
    if values is None:
        _refuse_marks(count, where, options)
        if not exact:
            _refuse_several(texts, where)
        findings += _label_findings(texts, table.name)
    elif (values % 1 != 0).any() or len(count) > max(_MOST_WHOLE, sum(count.values()) / 4):
        raise GraphError(
            f"Labels in {where} are measurements, not classes: {len(count):,} different numbers ({first_few(count)}).",
            "Make classes of them: --bins 5 (bins=5) makes five of about as many nodes each; or name another column.",
        )
    elif table.is_text and all(_WHOLE.fullmatch(label) for label in texts):
        return [None if label is None else int(label.partition(".")[0]) for label in labels]
    return labels


def _numbers(labels: list[Any]) -> np.ndarray | None:
    """Labels as numbers, if all are."""
    if not labels or any(isinstance(label, bool | np.bool_) for label in labels):
        return None
    values, wrong = to_numbers(pd.DataFrame({"label": labels}, dtype=object))
    return None if wrong.any() or not np.isfinite(values).all() else values[:, 0]


def _binned(labels: list[Any], values: dict[Any, float], bins: int) -> list[Any]:
    """The name of the interval of each label that is a number; each interval has about as many nodes."""
    known = [values[label] for label in labels if label is not None]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, bins + 1)[1:-1], method="inverted_cdf"))
    ends = [f"{edge:.4g}" for edge in edges[edges < max(known)]]
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    names = [f"up to {ends[0]}", *between, f"over {ends[-1]}"] if ends else ["all"]
    digits = len(str(len(names)))
    names = [f"{i:0{digits}}: {name}" for i, name in enumerate(names, 1)]
    return [
        None if label is None else names[min(int(np.searchsorted(edges, values[label])), len(ends))] for label in labels
    ]


def _refuse_marks(count: Counter[Any], where: str, options: TableOptions) -> None:
    label, times = count.most_common(1)[0] if count else ("", 0)
    is_mark = isinstance(label, str) and label.strip().casefold() in AMBIGUOUS_LABELS
    if is_mark and times > (total := sum(count.values())) / 2 and not (options["unlabelled"] or options["classes"]):
        raise GraphError(
            f"{times:,} of {total:,} labels in {where} are {label!r}, which looks like a mark for a missing one.",
            f"If it is, pass --unlabelled {shlex.quote(label)} (unlabelled=[{label!r}]); if it is a class, "
            "--unlabelled '' (unlabelled=['']).",
        )


def _refuse_several(known: set[str], where: str) -> None:
    parts = {label: {part for part in re.split(r"\s*[;|,]\s*", label) if part} for label in known}
    several = sorted(label for label in known if (parts[label] - {label}) & known)
    if not several and sum(";" in label or "|" in label for label in known) > len(known) / 2 > 1:
        several = sorted(label for label in known if len(parts[label]) > 1)
    if several:
        raise GraphError(
            f"Labels in {where} name several classes: {first_few(several)}. A node has one class here.",
            "Keep one in each cell; or make a column of yes and no for each class, and run once for each.",
        )


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


def leaking_columns(table: Table, columns: Columns, labels: Sequence[Any]) -> list[Finding]:
    """A warning about features that give the label away: nearly all nodes of a value have one label, in each class."""
    known = [label is not None for label in labels]
    y = pd.factorize(np.array([label for label in labels if label is not None], dtype=object))[0]
    names = [name for name, role in columns.features.items() if role not in ("text", "as-is")]
    flags = [name for name, role in columns.features.items() if role == "as-is"]
    names += flags if len(flags) <= _FEW_FLAGS else []
    found = []
    for name in names if len(y) >= _FEW_LABELS and y.max() > 0 else ():
        cells = pd.factorize(table.frame[name][known])[0]
        rows = pd.DataFrame({"y": y, "cells": cells})[cells >= 0]
        by_cell = rows.groupby("cells")["y"]
        told = (by_cell.transform("nunique") == 1) & (by_cell.transform("size") > 1)
        if (
            len(rows) > len(y) / 2
            and told.groupby(rows["y"]).mean().min() >= _TOLD
            and rows["y"].nunique() == y.max() + 1
        ):
            found.append(name)
    text = f"Columns {first_few(found)} of {table.name} give the label away: nodes of equal values have equal labels"
    text += "; if they were made from the label, leave them out (--ignore)."
    return [Finding("warning", "label-given-away", text)] if found else []


def add_labels(nodes: Table, columns: Columns, more: Table, marks: Sequence[Any], findings: list[Finding]) -> Table:
    """The table of nodes with the labels of another table, which has a column of ids and one of labels.

    A label of the other table replaces one of the nodes, with a finding if it differs. marks: of missing labels.
    """
    label = columns.label or ""
    ids = [spell_id(i) for i in nodes.frame[columns.id].tolist()]
    id = _id_column(more, columns, set(ids))
    others = [column for column in more.frame.columns if column != id and column not in more.unnamed]
    source = others[0] if label not in more.frame and len(others) == 1 else find_column(more, label, "label")
    position = {i: row for row, i in enumerate(ids)}
    rows = [position.get(spell_id(i), -1) for i in more.frame[id].tolist()]
    if -1 in rows:
        unknown = np.array(rows) < 0
        raise GraphError(
            f"{int(unknown.sum())} labels are of ids that are not among the nodes "
            f"({first_few(more.frame[id][unknown].tolist())}), on {more.where(unknown)}.",
            f"Add these nodes to {nodes.name}, or leave their labels out.",
        )
    cells = nodes.frame[label].tolist() if label in nodes.frame else [""] * len(ids)
    known = {str(spell_label(cell)): cell for cell in cells if not _is_empty(cell)}
    unlabelled = MISSING_LABELS | {str(mark) for mark in marks}
    before, changed = list(cells), []
    added = [(row, cell) for row, cell in zip(rows, more.frame[source].tolist(), strict=True) if not _is_empty(cell)]
    for row, cell in added:
        spelled = str(spell_label(cell)).strip()
        cells[row] = known.get(spelled, spelled if nodes.is_text else cell)
        old = str(spell_label(before[row])).strip()
        if not is_missing(before[row], unlabelled) and old not in unlabelled | {spelled}:
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
        cells = table.frame[find_column(table, column, "kind of node")].tolist()
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
