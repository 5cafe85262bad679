"""Two tables, nodes and edges, as one checked graph."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from dccgcn.errors import Finding, GraphError, check_word
from dccgcn.graph import NodeGraph
from dccgcn.io import columns as choose
from dccgcn.io.columns import Columns
from dccgcn.io.encoder import FeatureEncoder, Impute
from dccgcn.io.frames import Source, Table, read_table, unescaped
from dccgcn.text import first_few

UnknownIds = Literal["error", "drop"]

_EMPTY_LABELS = frozenset({"", "nan", "NaN", "None", "null", "NULL", "<NA>"})
_PERHAPS_EMPTY = frozenset({"NA", "N/A", "n/a", "none", "?", "-", "unknown", "unlabelled", "unlabeled"})
_EXACT = 2**53  # from here on a float is no longer sure to be the whole number that it was made from


@dataclass(frozen=True, eq=False)
class Tables:
    """A graph read from two tables, and what is needed to read further nodes in the same way."""

    graph: NodeGraph
    encoder: FeatureEncoder
    columns: Columns


def read_tables(
    nodes: Source,
    edges: Source,
    *,
    label: str | None = None,
    id: str | None = None,
    features: Sequence[str] | None = None,
    text: Sequence[str] = (),
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    classes: Sequence[Any] | None = None,
    unlabelled: Sequence[Any] = (),
    unknown_ids: UnknownIds = "error",
    impute: Impute = "error",
    scale: bool = True,
    encoding: str = "utf-8",
    featureless: bool = False,
    name: str | None = None,
) -> Tables:
    """Read a graph from a table of nodes and a table of edges: CSV or TSV (plain or gzip), Parquet or DataFrames.

    Columns that are not named are guessed, and a finding says so. Ids of text files stay text, exactly as written.

    label, id : columns of the nodes. An empty label, or -1 among whole numbers, means unlabelled.
    features : feature columns, or patterns such as ``w*``; omitted: all that are left.
    text, categorical : which of them hold text or classes; omitted: seen from the cells.
    ignore : columns (or patterns) that are no features.
    source, target, weight : columns of the edges.
    classes, unlabelled : as for ``NodeGraph``.
    unknown_ids : an edge to an id that is not among the nodes is an "error", or the edge is "drop"ped.
    impute : a missing number is an "error", or replaced by "zero" or the "mean" of its column.
    scale : False uses all numbers as they are; True brings dense columns to mean 0 and variance 1.
    featureless : True takes no column for a feature: the edges alone are learned from.
    """
    check_word("impute", impute, get_args(Impute))
    check_word("unknown_ids", unknown_ids, get_args(UnknownIds))
    features = None if features is None else _listed(features)
    text, categorical, ignore, unlabelled = map(_listed, (text, categorical, ignore, unlabelled))
    node_table, edge_table = read_table(nodes, "nodes", encoding), read_table(edges, "edges", encoding)
    findings = [*node_table.findings, *edge_table.findings]
    chosen = _columns(node_table, edge_table, id, label, source, target, weight, findings)
    if featureless:
        _refuse_features(features, text, categorical)
    else:
        node_table, chosen = _with_features(node_table, chosen, features, text, categorical, ignore, scale, findings)
    with _guesses_told(findings):
        ids = read_ids(node_table, chosen.id)
        pairs, weights = read_edges(edge_table, chosen, ids, unknown_ids, findings)
    with node_table.named_in_errors():
        encoder = (
            FeatureEncoder.of_nothing()
            if featureless
            else FeatureEncoder.fit(node_table.frame, chosen.features, impute)
        )
        matrix = encoder.transform(node_table.frame)
    findings += encoder.filled(node_table)
    labels = read_labels(node_table, chosen.label, unlabelled, classes, findings)
    graph = NodeGraph(
        matrix,
        pairs,
        labels,
        ids=ids,
        classes=classes,
        edge_weights=weights,
        unlabelled=unlabelled,
        featureless=featureless,
        name=name or node_table.name,
        findings=findings,
    )
    return Tables(graph, encoder, chosen)


def read_ids(table: Table, column: str) -> list[Any]:
    """The ids of a table of nodes: none missing, none twice."""
    ids = _id_cells(table, column)
    same = pd.Series(_spelled(ids)).duplicated(keep=False).to_numpy()
    if same.any() and len({type(ids[i]) for i in np.flatnonzero(same)}) == 1:  # of two types: NodeGraph's own error
        first = next(ids[i] for i in np.flatnonzero(same))
        rows = np.array([i == first for i in ids])
        others = len({ids[i] for i in np.flatnonzero(same)}) - 1
        more = f"; {others} other ids repeat too" if others else ""
        raise GraphError(
            f"The node id {first_few([first])} occurs {int(rows.sum())} times, on {table.where(rows)}{more}.",
            "Give every node an id of its own.",
        )
    if table.is_text:
        _refuse_two_spellings(table, ids)
    return ids


def read_labels(
    table: Table, column: str | None, unlabelled: Sequence[Any], classes: Sequence[Any] | None, findings: list[Finding]
) -> list[Any] | None:
    """The labels of a table of nodes. In a text file they are whole numbers if all of them are."""
    if column is None:
        return None
    marks = {str(mark) for mark in unlabelled}
    if not table.is_text:
        return [None if cell is pd.NA or str(cell) in marks else cell for cell in table.frame[column].tolist()]
    marks |= _EMPTY_LABELS
    exact = set(classes or ())  # a class that was named may have blanks around it; any other has them by accident
    written = (cell if cell in exact else cell.strip() for cell in unescaped(table.frame[column]))
    cells = [None if cell.strip() in marks else cell for cell in written]
    known = {cell for cell in cells if cell is not None}
    count = Counter(map(str.casefold, known))
    if alike := sorted(name for name in known if count[name.casefold()] > 1):
        text = f"Labels of {table.name} that differ only in capitals are different classes: {first_few(alike)}."
        findings.append(Finding("warning", "alike-labels", text))
    doubtful = sorted(known & _PERHAPS_EMPTY)
    if doubtful:
        text = f"The label {first_few(doubtful)} was taken for a class; "
        text += f"--unlabelled {doubtful[0]} says that it means a missing label."
        findings.append(Finding("warning", "doubtful-labels", text))
    if classes is None and all(re.fullmatch(r"-?(0|[1-9]\d{0,17})(\.\d{1,15})?", cell) for cell in known):
        return [None if cell is None else float(cell) if "." in cell else int(cell) for cell in cells]
    return cells


def read_edges(
    table: Table, columns: Columns, ids: Sequence[Any], unknown_ids: UnknownIds, findings: list[Finding]
) -> tuple[np.ndarray, np.ndarray | None]:
    """(E, 2) positions in the ids, and the weights if there are any."""
    position = pd.Index(_spelled(ids), dtype=object)
    ends = [_id_cells(table, column) for column in (columns.source, columns.target)]
    pairs = np.stack([position.get_indexer(pd.Index(_spelled(cells), dtype=object)) for cells in ends], axis=1)
    known = (pairs >= 0).all(axis=1)
    if not known.all():
        unknown = [ends[end][row] for row, end in np.argwhere(pairs < 0)]
        text = f"{int((~known).sum())} edges lead to ids that are not among the nodes ({first_few(dict.fromkeys(unknown))})"
        if unknown_ids == "error":
            raise GraphError(
                f"{text}, on {table.where(~known)}.{_hint(unknown, position)}",
                "Add these nodes, or ask for such edges to be dropped (--unknown-ids drop, unknown_ids='drop').",
            )
        findings.append(Finding("warning", "dropped-edges", f"{text}, on {table.where(~known)}; dropped."))
    weights = _weights(table, columns.weight)
    return pairs[known].astype(np.int64), None if weights is None else weights[known]


def _columns(
    nodes: Table,
    edges: Table,
    id: str | None,
    label: str | None,
    source: str | None,
    target: str | None,
    weight: str | None,
    findings: list[Finding],
) -> Columns:
    if nodes.frame.empty:
        raise GraphError(f"{nodes.name} has no rows.", "Give a row for each node.")
    guessed: list[str] = []
    the_id, the_label = (_told(nodes, name, what) for name, what in ((id, "id"), (label, "label")))
    the_label = the_label or choose.guess(nodes, "label", [the_id], guessed)
    the_id = the_id or choose.guess(nodes, "id", [the_label], guessed, first=True) or ""
    if the_id == the_label:
        raise GraphError(f"Column {first_few([the_id])} cannot be both id and label.", "Name two columns.")
    if not (source and target) and choose.looks_headless(edges, nodes.frame[the_id]):
        raise GraphError(
            f"The first line of {edges.name} is an edge, not a header.", "Add a first line such as source,target."
        )
    ends = {"source": source, "target": target, "weight": weight}
    ends = {what: _told(edges, name, what) for what, name in ends.items()}
    for what in ("source", "target", "weight"):
        ends[what] = ends[what] or choose.guess(edges, what, ends.values(), guessed, first=what != "weight")
    if ends["source"] == ends["target"]:
        raise GraphError(f"Column {first_few([ends['source']])} cannot be both ends of an edge.", "Name two columns.")
    if guessed:
        text = f"Columns were guessed: {', '.join(guessed)}. Name them if that is wrong."
        findings.append(Finding("note", "guessed-columns", text))
    if unused := [column for column in edges.frame.columns if column not in ends.values()]:
        text = (
            f"Columns {first_few(unused)} of {edges.name} were not used; --weight takes one of numbers as edge weights."
        )
        findings.append(Finding("note", "unused-columns", text))
    return Columns(the_id, the_label, ends["source"] or "", ends["target"] or "", ends["weight"])


def _listed(given: Sequence[Any]) -> list[Any]:
    return [given] if isinstance(given, str) else list(given)


@contextmanager
def _guesses_told(findings: Sequence[Finding]) -> Iterator[None]:
    """An error about ids may come of a wrong guess, which nobody would be told of otherwise."""
    try:
        yield
    except GraphError as error:
        guesses = [finding.text for finding in findings if finding.code in ("guessed-columns", "index-left-out")]
        raise GraphError(error.what, " ".join([error.remedy, *guesses])) from None


def _told(table: Table, name: str | None, what: str) -> str | None:
    return None if name is None else choose.find(table, name, what)


def _refuse_features(*named: Sequence[str] | None) -> None:
    if any(named):
        raise GraphError(
            "Feature columns were named, and none was asked for (--featureless, featureless=True).",
            "Leave one of the two out.",
        )


def _with_features(
    table: Table,
    columns: Columns,
    features: Sequence[str] | None,
    text: Sequence[str],
    categorical: Sequence[str],
    ignore: Sequence[str],
    scale: bool,
    findings: list[Finding],
) -> tuple[Table, Columns]:
    """The table with its numbers parsed, and the role of each feature column."""
    declared: dict[str, choose.Role] = {name: "text" for name in choose.matching(table, text, "text")}
    declared |= {name: "categorical" for name in choose.matching(table, categorical, "categories")}
    ignored = {columns.id, columns.label, *choose.matching(table, ignore, "columns to ignore")}
    wanted = set(table.frame.columns if features is None else choose.matching(table, features, "features"))
    names = [name for name in table.frame.columns if (name in wanted or name in declared) and name not in ignored]
    if not names:
        raise GraphError(
            f"{table.name} has no feature columns beside the id and the label.",
            "Add numbers, classes or text about each node, or learn from the edges alone (--featureless, "
            "featureless=True).",
        )
    open_ = [name for name in names if name not in declared]
    table = replace(table, frame=choose.typed(table.frame, open_))
    roles = declared | choose.roles(table, open_, findings, scale)
    if not roles:
        raise GraphError(
            f"No column of {table.name} can serve as a feature: {first_few(names)}.",
            "Declare one of them text or categorical.",
        )
    return table, replace(columns, features={name: roles[name] for name in names if name in roles})


def _id_cells(table: Table, column: str) -> list[Any]:
    cells = table.frame[column]
    cells = unescaped(cells) if table.is_text else cells
    listed: list[Any] = cells.tolist()
    missing = np.array([i is None or i is pd.NA or i != i or (isinstance(i, str) and not i.strip()) for i in listed])
    if missing.any():
        raise GraphError(
            f"{int(missing.sum())} cells of column {first_few([column])} are empty, on {table.where(missing)}.",
            "Every node needs an id, and every edge two.",
        )
    if cells.dtype.kind == "f" and any(abs(i) >= _EXACT for i in listed):
        raise GraphError(
            f"The ids in column {first_few([column])} of {table.name} are floats too large to be exact.",
            "Read the column as whole numbers (Int64) or as text.",
        )
    return listed


def _spelled(ids: Sequence[Any]) -> list[str]:
    """Ids as they are compared: 1, 1.0 and "1" are one, since a column with gaps stores whole numbers as floats."""
    return [str(int(i)) if isinstance(i, float) and i.is_integer() else str(i) for i in ids]


def _refuse_two_spellings(table: Table, ids: Sequence[str]) -> None:
    whole = {i: m.group(1) for i in ids if (m := re.fullmatch(r"(\d+)\.0+", i))}
    twins = [(i, short) for i, short in whole.items() if short in set(ids)] if whole else []
    if twins:
        raise GraphError(
            f"{table.name} has ids that differ only in how a number is written: {first_few(twins[0])}.",
            "Write the id column in one way throughout.",
        )


def _hint(unknown: Sequence[Any], position: pd.Index) -> str:
    """What may be behind ids that do not match, where that can be seen."""
    spelled = _spelled(unknown)
    for how, mend in (
        ("blanks", lambda i: i.strip()),
        ("capitals", str.casefold),
        ("a decimal point", lambda i: re.sub(r"\.0+$", "", i)),
    ):
        if {mend(i) for i in spelled} <= {mend(str(i)) for i in position}:
            return f" They differ from the ids of the nodes by {how} only."
    return ""


def _weights(table: Table, column: str | None) -> np.ndarray | None:
    if column is None:
        return None
    values, wrong = choose.numbers(table.frame[[column]])
    bad = wrong[:, 0] | ~(np.isfinite(values[:, 0]) & (values[:, 0] > 0))
    if bad.any():
        raise GraphError(
            f"{int(bad.sum())} edge weights are negative, zero or no numbers, on {table.where(bad)}.",
            "Weights must be positive; leave edges that do not exist out, or name another weight column.",
        )
    return values[:, 0]
