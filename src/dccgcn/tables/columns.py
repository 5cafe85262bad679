"""The columns of all tables by role: ids, labels, ends of the edges. What is not named is guessed from the values.

Ids and ends are chosen together: those columns of the nodes and of the edges whose values are the same.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import MISSING_LABELS, is_missing, spell_id
from dccgcn.tables.options import TableOptions
from dccgcn.tables.table import INDEX, Table
from dccgcn.text import did_you_mean, first_few

Role = Literal["as-is", "max-abs", "standard", "categorical", "text"]
NUMERIC: tuple[Role, ...] = ("as-is", "max-abs", "standard")

_NAMES = {
    "id": ("id", "node_id", "nodeid", "node", "key", "name"),
    "label": ("label", "class", "y", "target", "category", "topic"),
    "source": ("source", "src", "from", "u", "node1", "source_id", "citing"),
    "target": ("target", "dst", "to", "v", "node2", "target_id", "cited"),
    "weight": ("weight", "edge_weight", "w"),
}
_ENDS = {*_NAMES["source"], *_NAMES["target"]}
_ID = re.compile(r"([\W_]id|[a-z]I[dD])$|^id[\W_]", re.ASCII)  # paper_id, paperId, id_paper
_PLAIN_IDS = ("id", "node_id", "nodeid", "node")
_UNIQUE = 0.9  # share of different cells in a column of ids; a few duplicates are an error that names them
_COVERED = 0.5  # share of the different values of an end that a column of ids has to hold
_RIVAL = 0.9  # share of the best coverage from which on another column is a second candidate
_FEWEST = 8  # nodes of an adjacency matrix
_PROBE = 1000  # cells
_MOST_CLASSES = 50  # of a column that is proposed as the label
_LEAST_EMPTY = 0.2  # share of its cells


class Stored(BaseModel):
    """Values that a model folder keeps as JSON; every field is checked when they are read."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class EdgeColumns(Stored):
    """The columns of a table of edges by role."""

    source: str
    target: str
    weight: str | None
    relation: str | None  # names the relation of each edge


class Columns(Stored):
    """The columns of all tables by role; enough to read further tables of the same form."""

    id: str
    label: str | None
    edges: dict[str, EdgeColumns]  # by the relation that a table holds; "": of one kind, or as a column names it
    name: str | None = None
    features: dict[str, Role] = {}


@dataclass(frozen=True)
class _Match:
    """A column of ids with the two columns of each table of edges that fit it best."""

    id: str
    ends: Mapping[str, tuple[str, str]]  # by relation
    coverage: float  # mean share of the different values of the ends that are ids


def choose_columns(
    nodes: Table, edges: Mapping[str, Table], options: TableOptions, findings: list[Finding], labels: Table | None
) -> tuple[Columns, list[str]]:
    """The columns of ids, labels and edges, and which of them were guessed.

    edges: tables by relation. labels: a further table of labels.
    """
    if nodes.frame.empty:
        raise GraphError(f"{nodes.name} has no rows.", "Give a row for each node.")
    for table in edges.values():
        if len(nodes.frame) > _FEWEST and len(table.frame.columns) - len(nodes.frame) in (0, 1):
            text = f"{table.name} has as many columns as there are nodes: it looks like an adjacency matrix."
            remedy = "Write a row for each edge, or give the matrix in Python: NodeGraph(features, matrix, labels)."
            raise GraphError(text, remedy)
    id, label = options["id"] and find_column(nodes, options["id"], "id"), options["label"]
    name = options["name"] and find_column(nodes, options["name"], "name")
    guesses: list[str] = []
    if labels is None or label is None or label in nodes.frame:  # all labels may be in the further table
        label = label and find_column(nodes, label, "label")
        measured = [c for c in nodes.frame if c.lower() in _NAMES["label"] and _has_fractions(nodes.frame[c])]
        label = label or _guess_column(nodes, "label", [id, *measured], guesses)
    roles = {relation: _named_edge_columns(table, edges, options) for relation, table in edges.items()}
    match = _best_match(nodes, edges, roles, id, label)
    if id is None:
        id = match.id if match else _guess_column(nodes, "id", [label], guesses, required=True) or ""
        guesses += [f"id {first_few([id])} of {nodes.name}"] if match else []
    if id == label:
        raise GraphError(f"Column {first_few([id])} cannot be both id and label.", "Name two columns.")
    edge_columns = {
        relation: _edge_columns(table, roles[relation], match.ends[relation] if match else None, guesses)
        for relation, table in edges.items()
    }
    for relation, table in edges.items():
        used = {*vars(edge_columns[relation]).values(), INDEX}
        if unused := [column for column in table.frame.columns if column not in used]:
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
    return Columns(id=id, label=label, edges=edge_columns, name=name), guesses


def find_column(table: Table, name: str, role: str) -> str:
    """The column of this name, or an error that lists the columns of the table."""
    columns = table.frame.columns
    if name in columns:
        return name
    raise GraphError(
        f"{table.name} has no column {name[:60]!r} for the {role}.{did_you_mean(name, columns)}",
        f"Its columns are: {first_few(columns, 12)}.",
    )


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


def _named_edge_columns(table: Table, all_tables: Mapping[str, Table], options: TableOptions) -> dict[str, str | None]:
    """The columns of a table of edges that were named. One may be missing in some of several tables, not in all."""
    roles: dict[str, str | None] = {}
    for role in ("source", "target", "weight", "relation"):
        named: Any = options[role]
        if named is not None and not any(named in other.frame for other in all_tables.values() if other is not table):
            named = find_column(table, named, role)
        roles[role] = named if named in table.frame else None
    if roles["source"] is not None and roles["source"] == roles["target"]:
        raise GraphError(f"Column {first_few([roles['source']])} cannot be both ends of an edge.", "Name two columns.")
    if roles["relation"] and roles["relation"] in (roles["source"], roles["target"]):
        raise GraphError(f"Column {first_few([roles['relation']])} is an end of the edges.", "Name another --relation.")
    return roles


def _edge_columns(
    table: Table, roles: Mapping[str, str | None], ends: tuple[str, str] | None, guesses: list[str]
) -> EdgeColumns:
    """The columns of one table of edges: as named, as their values match, else by their names."""
    columns = dict(roles)
    for role, end in zip(("source", "target"), ends or (None, None), strict=True):
        if columns[role] is None and end is not None:
            columns[role] = end
            guesses.append(f"{role} {first_few([end])} of {table.name}")
    for role in ("source", "target", "weight"):
        if columns[role] is None:
            columns[role] = _guess_column(table, role, columns.values(), guesses, required=role != "weight")
    return EdgeColumns(**columns)  # type: ignore[arg-type]  # source and target are known now


def _best_match(
    nodes: Table,
    edges: Mapping[str, Table],
    roles: Mapping[str, Mapping[str, str | None]],
    id: str | None,
    label: str | None,
) -> _Match | None:
    """The ids and ends that fit together best; None if nothing fits.

    Two columns of ids that fit the same ends are an error, unless one of them is called "id" or the like: only the user
    knows which one the edges mean. A column without a name is never chosen, since pandas writes its row numbers so.
    """
    values = {
        relation: {
            column: spelled_cells(table, column)
            for column in table.frame.columns
            if column in roles[relation].values() or column not in table.unnamed
        }
        for relation, table in edges.items()
    }
    possible = [id] if id is not None else [c for c in nodes.frame.columns if c != label and _may_be_ids(nodes, c)]
    found = [m for c in possible if (m := _match(c, spelled_cells(nodes, c), values, roles)) and m.coverage >= _COVERED]
    named = [match for match in found if match.id not in nodes.unnamed or match.id in (id, INDEX)]
    if not named:
        if found:
            raise GraphError(
                f"The ids of the edges are in a column of {nodes.name} that has no name: {first_few([found[0].id])}.",
                f"Give it a name in the header, or choose it (--id {found[0].id}, id={found[0].id!r}).",
            )
        return None
    best = max(named, key=lambda match: (match.coverage, bool(_ID.search(match.id))))
    rivals = [m for m in named if m.coverage >= _RIVAL * best.coverage and m.ends == best.ends and m.id != INDEX]
    rivals = [match for match in rivals if match.id.lower() in _PLAIN_IDS] or rivals or [best]
    cells = [list(map(spell_id, nodes.frame[match.id])) for match in (rivals if len(rivals) > 1 else ())]
    if any(column != cells[0] for column in cells):
        raise GraphError(
            f"Columns {first_few([match.id for match in rivals])} of {nodes.name} all fit the ids of the edges.",
            f"Name the one that holds the node ids (--id {rivals[0].id}, id={rivals[0].id!r}).",
        )
    return rivals[0]


def _match(
    id: str,
    known: set[str],
    values: Mapping[str, Mapping[str, set[str]]],
    roles: Mapping[str, Mapping[str, str | None]],
) -> _Match | None:
    """The ends that a column of ids fits. values: of each column of the edges, by relation; roles: columns named."""
    ends, covered = {}, []
    for relation, cells in values.items():
        share = {c: len(found & known) / len(found) if found else 0.0 for c, found in cells.items()}
        named = [roles[relation]["source"], roles[relation]["target"]]
        taken = {*roles[relation].values(), *(c for c in cells if c.lower() in _NAMES["weight"])}
        free = [c for c in cells if c not in taken and share[c] >= _COVERED]
        best = max((share[c] for c in free), default=0.0)
        # of numbers such as amounts some may be ids by chance: ends hold more of the ids
        free.sort(key=lambda c: (c.lower() not in _ENDS, share[c] < _RIVAL * best, -len(cells[c] & known)))
        chosen = sorted(free[: named.count(None)], key=list(cells).index)
        if len(chosen) == 2 and chosen[0].lower() in _NAMES["target"] and chosen[1].lower() in _NAMES["source"]:
            chosen.reverse()
        for i, role in enumerate(("source", "target")):
            usual = (c for c in cells if c.lower() in _NAMES[role] and c not in (*named, *chosen))  # few are ids
            named[i] = named[i] or (chosen.pop(0) if chosen else next(usual, None))
        if None in named:
            return None
        covered += [share[str(end)] for end in named]
        ends[relation] = (str(named[0]), str(named[1]))
    return _Match(id, ends, float(np.mean(covered)))


def lacks_header(table: Table, others: Iterable[Table], n_names: int) -> bool:
    """Whether the names of a table's first columns, as its cells, stand in one column of others: it has no header."""
    names = [name for name in table.frame.columns if name not in table.unnamed][:n_names]
    usual = {name for listed in _NAMES.values() for name in listed}
    if not table.is_text or not names or names == ["0", "1"] or {name.lower() for name in names} & usual:
        return False  # pandas calls the columns of an array 0 and 1
    for cells in (other.frame[column] for other in others for column in other.frame.columns):
        held = [bool((cells == name).any()) for name in names]
        if any(held) and all(is_cell or name == cells.name for name, is_cell in zip(names, held, strict=True)):
            below, above = set(table.frame[names[-1]]), set(cells)
            return len(below & above) >= _COVERED * min(len(below), len(above - {*names}))
    return False


def spelled_cells(table: Table, column: str) -> set[str]:
    """The different ids in a column, as text; none of a column of lists."""
    try:
        distinct = pd.Series(table.frame[column].unique(), dtype=object)
    except TypeError:
        return set()
    return {spell_id(cell) for cell in distinct if not is_missing(cell)}


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
        and not _has_fractions(cells)  # measurements with gaps
    )


def _has_fractions(cells: pd.Series) -> bool:
    """Whether cells are measurements, which are no classes."""
    probe = (cell for cell in cells.iloc[:_PROBE] if isinstance(cell, str | float))
    return any(re.fullmatch(r"\s*-?\d*\.\d*[1-9]\d*\s*", str(cell)) for cell in probe)
