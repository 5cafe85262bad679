"""Ids and labels of a table. Errors name the lines."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import Finding, GraphError
from dccgcn.graph.cells import AMBIGUOUS_LABELS, MISSING_LABELS, is_missing, is_too_long, spell_id
from dccgcn.io.table import Table, unescaped
from dccgcn.text import first_few

MAX_RELATIONS = 20  # that a column may name

# floats from here on may not be the whole numbers that they were made from, by bytes of the type
_EXACT = {2: 2**11, 4: 2**24, 8: 2**53}


def read_ids(table: Table, column: str) -> list[Any]:
    """The ids of a table of nodes: none missing, none twice."""
    ids = _id_cells(table, column)
    same = pd.Series([spell_id(i) for i in ids], dtype=object).duplicated(keep=False).to_numpy()
    if same.any():
        first = next(ids[i] for i in np.flatnonzero(same))
        alike = [i for i in ids if spell_id(i) == spell_id(first)]
        if len({type(i) for i in alike}) > 1:
            raise GraphError(
                f"The ids {alike[0]!r} and {alike[1]!r} differ only in type, on {table.where(same)}.",
                "Read the id column as text, or as numbers, throughout.",
            )
        rows = np.array([i == first for i in ids])
        others = len({ids[i] for i in np.flatnonzero(same)}) - 1
        more = f"; {others} other ids repeat too" if others else ""
        raise GraphError(
            f"The node id {first_few([first])} occurs {int(rows.sum())} times, on {table.where(rows)}{more}.",
            "Give every node a unique id.",
        )
    if table.is_text:
        _refuse_two_spellings(table, ids)
    return ids


def read_labels(
    table: Table, column: str | None, unlabelled: Sequence[Any], classes: Sequence[Any] | None, findings: list[Finding]
) -> list[Any] | None:
    """The labels of a table of nodes, None where missing. In a text file they are whole numbers if all of them are."""
    if column is None:
        return None
    marks = {str(mark) for mark in unlabelled}
    if not table.is_text:
        check_ids(table.frame[column].dropna(), table, column, "label")
        cells = [None if is_missing(cell) else cell for cell in table.frame[column].tolist()]
        findings += label_findings({cell for cell in cells if isinstance(cell, str) and cell not in marks}, table.name)
        return [None if cell is None or str(cell) in marks else cell for cell in cells]
    marks |= MISSING_LABELS
    exact = set(classes or ())  # listed class names keep their blanks; other labels are stripped
    cells = [cell if cell in exact else cell.strip() for cell in unescaped(table.frame[column])]
    labels = [None if is_missing(cell, marks) else cell for cell in cells]
    known = {label for label in labels if label is not None}
    findings += label_findings(known, table.name)
    if classes is None and all(re.fullmatch(r"-?(0|[1-9]\d{0,17})(\.\d{1,15})?", label) for label in known):
        return [None if label is None else _number(label) for label in labels]
    return labels


def _number(label: str) -> int | float:
    """A label as a number; a whole one with every digit, with or without a point."""
    whole, _, fraction = label.partition(".")
    return float(label) if fraction.strip("0") else int(whole)


def label_findings(known: set[str], where: str) -> Iterator[Finding]:
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


def _id_cells(table: Table, column: str) -> list[Any]:
    cells = table.frame[column]
    cells = unescaped(cells) if table.is_text else cells
    ids: list[Any] = cells.tolist()
    missing = np.array([is_missing(i) for i in ids])
    if missing.any():
        raise GraphError(
            f"{int(missing.sum())} cells of column {first_few([column])} are empty, on {table.where(missing)}.",
            "Every node needs an id, and every edge two.",
        )
    check_ids(cells, table, column)
    return ids


def check_ids(cells: pd.Series, table: Table, column: str, what: str = "id") -> None:
    """Raise a GraphError unless ids or labels that are not missing are text or numbers, and the numbers exact."""
    _refuse_other_types(table, column, cells.tolist(), "a label" if what == "label" else "an id")
    if cells.dtype.kind == "f" and any(abs(i) >= _EXACT.get(cells.dtype.itemsize, 2**53) for i in cells):
        raise GraphError(
            f"The {what}s in column {first_few([column])} of {table.name} are floats too large to be exact.",
            "Read the column as whole numbers (Int64) or as text.",
        )


def _refuse_other_types(table: Table, column: str, cells: Sequence[Any], what: str) -> None:
    """Ids and labels are text or numbers. A Parquet file or DataFrame may hold lists, times, bytes and records."""
    others = [cell for cell in cells if not isinstance(cell, str | int | float | np.bool_ | np.number)]
    if any(map(is_too_long, cells)):
        text = f"Column {first_few([column])} of {table.name} holds a number of more than 3,000 digits"
        raise GraphError(f"{text}, which cannot be {what}.", "Write shorter ones.")
    if others:
        raise GraphError(
            f"Column {first_few([column])} of {table.name} holds a {type(others[0]).__name__}, which cannot be {what}: "
            f"{first_few(others)}.",
            "Write the column as text or whole numbers, or name another one.",
        )


def _refuse_two_spellings(table: Table, ids: Sequence[str]) -> None:
    whole = {i: m.group(1) for i in ids if (m := re.fullmatch(r"(\d+)\.0+", i))}
    pairs = [(i, short) for i, short in whole.items() if short in set(ids)] if whole else []
    if pairs:
        raise GraphError(
            f"{table.name} has ids that differ only in how a number is written: {first_few(pairs[0])}.",
            "Write all ids of the column in one way.",
        )
