"""The columns of all tables by role (ids, labels, ends of the edges), as named or guessed, and the options of reading.

A guess is reported in a finding.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from dccgcn.errors import Finding, GraphError, check_choice
from dccgcn.graph import MISSING_LABELS, is_missing, spell_id
from dccgcn.tables.table import Table, unescaped
from dccgcn.text import did_you_mean, first_few

Impute = Literal["error", "zero", "mean"]
UnknownIds = Literal["error", "drop"]
Decimal = Literal[".", ","]
Role = Literal["as-is", "max-abs", "standard", "categorical", "text"]
NUMERIC: tuple[Role, ...] = ("as-is", "max-abs", "standard")

_NAMES = {
    "id": ("id", "node_id", "nodeid", "node", "key", "name"),
    "label": ("label", "class", "y", "target", "category", "topic"),
    "source": ("source", "src", "from", "u", "node1", "source_id", "citing"),
    "target": ("target", "dst", "to", "v", "node2", "target_id", "cited"),
    "weight": ("weight", "edge_weight", "w"),
}
_ID = re.compile(r"([\W_]id|[a-z]I[dD])$|^id[\W_]", re.ASCII)  # paper_id, paperId, id_paper
_PLAIN_IDS = ("id", "node_id", "nodeid", "node")
_UNIQUE = 0.9  # share of different cells in a column of ids; a few duplicates are an error that names them
_COVERED = 0.5  # share of the edges' ends that a column of ids has to hold
_RIVAL = 0.9  # share of the best column's coverage from which on another column is a second candidate
_PROBE = 1000  # cells
_MOST_CLASSES = 50  # of a column that is proposed as the label
_LEAST_EMPTY = 0.2  # share of its cells


@dataclass(frozen=True)
class TableOptions:
    """The keywords of ``read_tables``, checked. A single name counts as a list of one, None as an empty list.

    ``features`` alone distinguishes None (all remaining columns) from an empty list (none of them).
    """

    label: str | None = None
    id: str | None = None
    features: Sequence[str] | None = None
    text: Sequence[str] | None = ()
    categorical: Sequence[str] | None = ()
    ignore: Sequence[str] | None = ()
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    relation: str | None = None
    directed: bool = False
    classes: Sequence[Any] | None = None
    unlabelled: Sequence[Any] | None = ()
    unknown_ids: UnknownIds = "error"
    impute: Impute = "mean"
    scale: bool = True
    encoding: str = "utf-8"
    featureless: bool = False
    name: str | None = None
    labels: Any = None  # a further table, as for ``read_table``
    node_name: str | None = None
    classify: Sequence[str] | None = ()
    decimal: Decimal = "."
    text_model: str | None = None

    def __post_init__(self) -> None:
        for name, choices in (("impute", Impute), ("unknown_ids", UnknownIds), ("decimal", Decimal)):
            check_choice(name, getattr(self, name), get_args(choices))
        for name in ("features", "text", "categorical", "ignore", "unlabelled", "classify"):
            names = getattr(self, name)
            if names is not None or name != "features":
                object.__setattr__(self, name, (names,) if isinstance(names, str) else tuple(names or ()))


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of a table of edges by role."""

    source: str
    target: str
    weight: str | None = None
    relation: str | None = None  # names the relation of each edge


@dataclass(frozen=True)
class Columns:
    """The columns of all tables by role; enough to read further tables of the same form."""

    id: str
    label: str | None
    edges: Mapping[str, EdgeColumns]  # by the relation that a table holds; "": of one kind, or as a column names it
    name: str | None = None
    features: Mapping[str, Role] = field(default_factory=dict)


def choose_columns(
    nodes: Table, edges: Mapping[str, Table], options: TableOptions, findings: list[Finding], labels: Table | None
) -> Columns:
    """The columns of ids, labels and edges: as named, else guessed with a finding.

    edges: tables by relation. labels: a further table of labels.
    """
    if nodes.frame.empty:
        raise GraphError(f"{nodes.name} has no rows.", "Give a row for each node.")
    guesses: list[str] = []
    id = _named_column(nodes, options.id, "id")
    label = options.label  # all labels may be in the further table
    if labels is None or label is None or label in nodes.frame:
        label = _named_column(nodes, label, "label") or _guess_column(nodes, "label", [id], guesses)
    edge_guesses: list[str] = []
    if options.source and options.target:
        ids = {}
    else:  # what the ends of the edges may mean
        ids = {c: spelled_cells(nodes, c) for c in nodes.frame.columns if c == id or (id is None and c != label)}
        ids = {c: known for c, known in ids.items() if c == id or _may_be_ids(nodes, c)}
    edge_columns = {
        relation: _edge_columns(table, edges, options, ids, edge_guesses) for relation, table in edges.items()
    }
    if id is None:
        ends = [(edges[relation], end) for relation, c in edge_columns.items() for end in (c.source, c.target)]
        id = _guess_id(nodes, set().union(*(spelled_cells(*end) for end in ends)), label, guesses)
    if id == label:
        raise GraphError(f"Column {first_few([id])} cannot be both id and label.", "Name two columns.")
    for table in edges.values():
        if not (options.source and options.target) and _lacks_header(table, spelled_cells(nodes, id)):
            raise GraphError(
                f"The first line of {table.name} is an edge, not a header.", "Add a first line such as source,target."
            )
    if guesses := guesses + edge_guesses:
        text = f"Columns were guessed: {', '.join(guesses)}. Name them if that is wrong."
        findings.append(Finding("note", "guessed-columns", text))
    for relation, table in edges.items():
        if unused := [column for column in table.frame.columns if column not in vars(edge_columns[relation]).values()]:
            text = f"Columns {first_few(unused)} of {table.name} were not used; --weight names a column of edge weights"
            text += ", --relation one that says of which kind an edge is."
            findings.append(Finding("note", "unused-columns", text))
    if label is None and labels is not None:
        raise GraphError(
            f"It is not clear which labels {labels.name} adds to.", "Name the label column: --label topic."
        )
    if label is None and (proposed := possible_labels(nodes, id)):
        text = f"Columns {first_few(proposed)} of {nodes.name} are empty on many nodes and may hold the labels"
        findings.append(Finding("warning", "possible-labels", f"{text}: --label {proposed[0]}."))
    return Columns(id, label, edge_columns, _named_column(nodes, options.node_name, "name"))


def find_column(table: Table, name: str, role: str) -> str:
    """The column of this name, or an error that lists the columns of the table."""
    columns = table.frame.columns
    if name in columns:
        return name
    raise GraphError(
        f"{table.name} has no column {name[:60]!r} for the {role}.{did_you_mean(name, columns)}",
        f"Its columns are: {first_few(columns, 12)}.",
    )


def _named_column(table: Table, name: str | None, role: str) -> str | None:
    """The column that the user named, checked; None if none was named."""
    return None if name is None else find_column(table, name, role)


def _guess_column(
    table: Table, role: str, taken: Iterable[str | None], guesses: list[str], required: bool = False
) -> str | None:
    """A free column with a usual name for the role. The guess is appended to ``guesses``.

    If there is none and the role is required: a column whose name ends like an id (for ids), else the first free one.
    Columns without a name are never free.
    """
    free = [column for column in table.frame.columns if column not in {*taken, *table.unnamed}]
    by_name = {column.lower(): column for column in reversed(free)}
    guess = next((by_name[name] for name in _NAMES[role] if name in by_name), None)
    if guess is None and required:
        if not free:
            raise GraphError(
                f"{table.name} has {len(table.frame.columns)} columns, and none is left for the {role}.",
                f"Its columns are: {first_few(table.frame.columns, 12)}. Name the {role} column.",
            )
        guess = next((column for column in free if role == "id" and _ID.search(column)), free[0])
    if guess is not None:
        guesses.append(f"{role} {first_few([guess])} of {table.name}")
    return guess


def _ends_among_ids(table: Table, ids: Mapping[str, set[str]], taken: Iterable[str | None]) -> list[str]:
    """The two columns whose cells are ids of the nodes, both of the same column; none if there are no two.

    Columns with usual names come first, then the order of the table.
    """
    cells = {c: spelled_cells(table, c) for c in table.frame.columns if c not in {*taken, *table.unnamed}}
    usual = [*_NAMES["source"], *_NAMES["target"]]
    found: list[list[str]] = []
    for known in ids.values():
        fitting = [c for c, values in cells.items() if values and len(values & known) >= _COVERED * len(values)]
        if len(fitting) > 1:
            found.append(sorted(fitting, key=lambda c: c.lower() not in usual)[:2])
    ends = max(found, key=lambda two: sum(c.lower() in usual for c in two), default=[])
    is_turned = bool(ends) and ends[0].lower() in _NAMES["target"] and ends[1].lower() in _NAMES["source"]
    return ends[::-1] if is_turned else ends


def _edge_columns(
    table: Table,
    all_tables: Mapping[str, Table],
    options: TableOptions,
    ids: Mapping[str, set[str]],
    guesses: list[str],
) -> EdgeColumns:
    """The columns of one table of edges. A named column may be missing in some of several tables, if others have it.

    ids: values of each column of the nodes that may hold their ids.
    """
    columns: dict[str, str | None] = {}
    for role in ("relation", "source", "target", "weight"):
        named = getattr(options, role)
        if named is not None and not any(named in other.frame for other in all_tables.values() if other is not table):
            named = find_column(table, named, role)
        columns[role] = named if named in table.frame else None
    if columns["source"] is None and columns["target"] is None:
        for role, end in zip(("source", "target"), _ends_among_ids(table, ids, columns.values()), strict=False):
            columns[role] = end
            guesses.append(f"{role} {first_few([end])} of {table.name}")
    for role in ("source", "target", "weight"):
        if columns[role] is None:
            columns[role] = _guess_column(table, role, columns.values(), guesses, required=role != "weight")
    source, target, relation = columns["source"] or "", columns["target"] or "", columns["relation"]
    if source == target:
        raise GraphError(f"Column {first_few([source])} cannot be both ends of an edge.", "Name two columns.")
    if relation in (source, target):
        raise GraphError(f"Column {first_few([relation])} is an end of the edges.", "Name another --relation.")
    return EdgeColumns(source, target, columns["weight"], relation)


def _lacks_header(edges: Table, ids: set[str]) -> bool:
    """Whether the column names of an edge table are ids of nodes: its first line is an edge."""
    names = edges.frame.columns[:2]
    usual = {*_NAMES["source"], *_NAMES["target"]}
    return edges.is_text and set(names) <= ids and not {name.lower() for name in names} <= usual


def _guess_id(nodes: Table, ends: set[str], label: str | None, guesses: list[str]) -> str:
    """The column that fits the ends of the edges; by its name only if no column does.

    Two columns that fit are an error, unless one of them is called "id" or the like: only the user knows which one the
    edges mean. A column without a name is never chosen, since pandas writes its row numbers so.
    """
    coverage = {
        column: len(ends & spelled_cells(nodes, column)) / len(ends)
        for column in nodes.frame.columns
        if ends and column != label and _may_be_ids(nodes, column)
    }
    fitting = [column for column, share in coverage.items() if share >= _COVERED]
    named = [column for column in fitting if column not in nodes.unnamed]
    if not named:
        if fitting:
            raise GraphError(
                f"The ids of the edges are in a column of {nodes.name} that has no name: {first_few(fitting)}.",
                f"Give it a name in the header, or choose it (--id {fitting[0]}, id={fitting[0]!r}).",
            )
        return _guess_column(nodes, "id", [label], guesses, required=True) or ""
    best = max(coverage[column] for column in named)
    rivals = [column for column in named if coverage[column] >= _RIVAL * best]
    rivals = [column for column in rivals if column.lower() in _PLAIN_IDS] or rivals
    cells = [list(map(spell_id, nodes.frame[column])) for column in (rivals if len(rivals) > 1 else ())]
    if any(column != cells[0] for column in cells):
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


def possible_labels(table: Table, id: str) -> list[str]:
    """Columns that are empty on many nodes and hold few different values: what a column of labels looks like."""
    return [c for c in table.frame.columns if c != id and c not in table.unnamed and _may_be_label(table.frame[c])]


def _may_be_label(cells: pd.Series) -> bool:
    known = [cell for cell in cells if not is_missing(cell, MISSING_LABELS)]
    if not all(isinstance(cell, str | int | np.integer | bool | np.bool_) for cell in known[:1000]):
        return False
    n_classes = len(set(known))
    return (
        len(known) <= (1 - _LEAST_EMPTY) * len(cells)
        and 2 <= n_classes <= min(_MOST_CLASSES, max(2, len(known) / 2))
        and not all(isinstance(cell, str) and _is_fraction(cell) for cell in known)  # measurements with gaps
    )


def _is_fraction(text: str) -> bool:
    return "." in text and text.replace(".", "").strip("- ").isdigit()
