"""Tables of edges: one, or one of each relation."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp

from dccgcn.errors import DccgcnError, Finding, GraphError
from dccgcn.graph import MISSING_LABELS, check_relation_names, is_missing, spell_id, spell_label
from dccgcn.kernels import BLANK, UNKNOWN, TextIndex, Texts
from dccgcn.progress import Progress
from dccgcn.tables.columns import EdgeColumns
from dccgcn.tables.files import open_table
from dccgcn.tables.nodes import check_ids
from dccgcn.tables.options import Decimal, UnknownIds
from dccgcn.tables.table import Cells, OpenTable, Table, is_pairs
from dccgcn.tables.values import refuse_decimal_commas, to_numbers
from dccgcn.text import first_few

EdgeSources: TypeAlias = Any  # a table, paths, or tables by the names of their relations

ONE_KIND = ""  # key of a table whose name is not that of a relation
MAX_RELATIONS = 20  # that a column may name
_MOST_STRANGERS = 10_000  # unknown ids that are looked at for what they have in common
_MOST_LISTED = 5  # rows in a message
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")  # as spell_id writes an int
_DIFFERENCES: dict[str, Callable[[str], str]] = {
    "blanks": str.strip,
    "capitals": str.casefold,
    "a decimal point": lambda i: re.sub(r"\.0+$", "", i),
    "leading zeros": lambda i: i.lstrip("0"),
    "the form of their accents (Unicode NFC and NFD)": lambda i: unicodedata.normalize("NFC", i),
}


def open_edges(edges: EdgeSources, encoding: str, header: bool = True) -> dict[str, OpenTable]:
    """The tables by the names of their relations. A single table has the key ""."""
    if isinstance(edges, Mapping | list | tuple) and not edges:
        raise GraphError("There is no table of edges.", "Give at least one (--edges).")
    if isinstance(edges, Mapping) and not all(map(_is_column, edges.values())):
        return {name: open_table(source, f"edges of {name}", encoding, header) for name, source in edges.items()}
    sources = list(edges) if isinstance(edges, list | tuple) and not is_pairs(edges) else [edges]
    if len(sources) == 1:
        return {ONE_KIND: open_table(sources[0], "edges", encoding, header)}
    if not all(isinstance(source, str | os.PathLike) for source in sources):
        raise GraphError("Several DataFrames of edges need names.", "Give a mapping: {'cites': …, 'likes': …}.")
    tables: dict[str, OpenTable] = {}
    for source in sources:
        table = open_table(source, "edges", encoding, header)
        name = relation_name(table)
        if name in tables:
            raise GraphError(
                f"Several tables of edges are called {name}, and the name of a table is that of its relation.",
                "Name them (--edges cites=a/edges.csv --edges likes=b/edges.csv), or write edges of one kind into one "
                "table.",
            )
        tables[name] = table
    return tables


def _is_column(cells: Any) -> bool:
    """Whether a value of a mapping is a column of a table of edges, and not the table of a relation."""
    is_table = isinstance(cells, str | os.PathLike | Mapping) or hasattr(cells, "columns") or is_pairs(cells)
    return not is_table and hasattr(cells, "__len__")


def relation_name(table: Table) -> str:
    """The name of a table's file without its endings, or of its folder: cites of cites.csv.gz; else "edges"."""
    file = table.name.removesuffix(".gz")
    name = Path(file).stem if Path(file).suffix or "/" in file else "edges"
    try:
        check_relation_names([name])
    except GraphError as error:
        remedy = f"{error.remedy} To name the relation of a file otherwise: --edges cites={table.name}."
        raise GraphError(f"{table.name}: {error.what}", remedy) from None
    return name


def by_relation(tables: dict[str, OpenTable], relation: str | None, directed: bool) -> dict[str, OpenTable]:
    """The tables under the keys that their edges are read by: a single directed one has a relation's name too."""
    check_relation_names(name for name in tables if name != ONE_KIND)
    if relation is not None and ONE_KIND not in tables:
        raise GraphError(
            f"Each table of edges is a relation ({first_few(list(tables))}), and so is each value of column "
            f"{relation[:60]!r}.",
            "Give one table of edges and its column of relations (--relation), or several tables.",
        )
    if directed and relation is None and ONE_KIND in tables:
        return {relation_name(tables[ONE_KIND]): tables[ONE_KIND]}
    return tables


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


def read_relations(
    tables: Mapping[str, OpenTable],
    columns: Mapping[str, EdgeColumns],
    ids: Sequence[Any],
    unknown_ids: UnknownIds,
    decimal: Decimal,
    findings: list[Finding],
    progress: Progress | None = None,
) -> tuple[dict[str, sp.coo_array], tuple[int, int], list[DccgcnError]]:
    """The edges of each relation, how many of how many ends are ids, and everything that is wrong with the tables.

    The edges are (n, n) with duplicates and weights; those of a single kind have the key "".
    """
    n, index = len(ids), IdIndex(ids)
    relations: dict[str, sp.coo_array] = {}
    errors: list[DccgcnError] = []
    matched = n_ends = 0
    for name, table in tables.items():
        pairs, known, cells, problems = _read_pairs(table, columns[name], index, unknown_ids, findings, progress)
        errors += problems
        matched, n_ends = matched + int((pairs >= 0).sum()), n_ends + pairs.size
        try:
            weights = _weights(cells, columns[name].weight, decimal)
            names = _relation_names(cells, columns[name].relation)
        except DccgcnError as error:
            errors.append(error)
            continue
        values = np.ones(len(pairs), np.float32) if weights is None else weights
        parts = {name: known} if names is None else {r: known & (names == r) for r in sorted(set(names[known]))}
        for relation, part in parts.items():
            rows = slice(None) if part.all() else part
            relations[relation] = sp.coo_array((values[rows], tuple(pairs[rows].T)), shape=(n, n))
    return relations, (matched, n_ends), errors


def _read_pairs(
    table: OpenTable,
    columns: EdgeColumns,
    index: IdIndex,
    unknown_ids: UnknownIds,
    findings: list[Finding],
    progress: Progress | None,
) -> tuple[np.ndarray, np.ndarray, Table, list[DccgcnError]]:
    """(E, 2) positions of the ends, which edges have two, the other columns, and errors."""
    ends = (columns.source, columns.target)
    others = [column for column in (columns.weight, columns.relation) if column]
    parts, cells = [np.empty((0, 2), np.int32)], [pd.DataFrame(index=pd.Index([], name=table.frame.index.name))]
    empty, unknown = {end: _RowList(table) for end in ends}, _RowList(table)
    strangers: dict[Any, None] = {}  # some of the unknown ids
    n_rows = 0
    for rows in table.batches(list(dict.fromkeys([*ends, *others]))):
        pairs = np.stack([index.positions(rows.columns[end], table, end) for end in ends], axis=1)
        for end, positions in zip(ends, pairs.T, strict=True):
            empty[end].add(rows.numbers, positions == BLANK)
            missing = np.flatnonzero(positions == UNKNOWN)[: _MOST_STRANGERS - len(strangers)]
            strangers |= dict.fromkeys(rows.columns[end][missing].tolist())
        unknown.add(rows.numbers, (pairs == UNKNOWN).any(axis=1))
        parts.append(pairs)
        cells.append(pd.DataFrame({c: _shared(rows.columns[c]) for c in others}, index=rows.numbers))
        n_rows += len(pairs)
        if progress is not None:
            progress(f"edges of {table.name}", n_rows, max(table.n_rows, n_rows))
    if progress is not None:
        progress(f"edges of {table.name}", n_rows, n_rows)
    pairs = np.concatenate(parts)
    known: np.ndarray = np.all(pairs >= 0, axis=1)
    errors: list[DccgcnError] = [
        GraphError(
            f"{rows.count} cells of column {first_few([end])} are empty, on {rows}.",
            "Every node needs an id, and every edge two.",
        )
        for end, rows in empty.items()
        if rows.count
    ]
    if unknown.count:
        text = f"{unknown.count} edges have an end that is not among the nodes ({first_few(strangers)}), on {unknown}"
        if unknown_ids == "error" or not known.any():
            reason = index.likely_reason(strangers)
            remedy = "Add these nodes, or drop such edges (--unknown-ids drop, unknown_ids='drop')."
            errors.append(GraphError(f"{text}.{reason}", remedy))
        else:
            findings.append(Finding("warning", "dropped-edges", f"{text}; dropped."))
    frame = pd.concat(cells).rename_axis(table.frame.index.name).reindex(columns=others)  # also without rows
    return pairs, known, Table(frame, table.name), errors


@dataclass(eq=False)
class _RowList:
    """How many rows of a table are of some kind, and the numbers of the first ones."""

    table: Table
    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, numbers: np.ndarray, is_listed: np.ndarray) -> None:
        at = np.flatnonzero(is_listed)
        self.count += len(at)
        self.first += numbers[at[: _MOST_LISTED - len(self.first)]].tolist()

    def __str__(self) -> str:
        return self.table.places(self.first, self.count)


def _shared(cells: Cells) -> np.ndarray:
    """Cells as objects, of which equal texts are one."""
    if not isinstance(cells, Texts):
        return cells.array
    codes, distinct = pd.factorize(np.array(cells.tolist(), dtype=object))
    return distinct[codes]


def _weights(table: Table, column: str | None, decimal: Decimal) -> np.ndarray | None:
    if column is None:
        return None
    values, wrong = to_numbers(table.frame[[column]], decimal)
    refuse_decimal_commas(table.frame[column][wrong[:, 0]], table.name)
    bad = wrong[:, 0] | ~(np.isfinite(values[:, 0]) & (values[:, 0] > 0))
    if bad.any():
        raise GraphError(
            f"{int(bad.sum())} edge weights are negative, zero or not numbers, on {table.where(bad)}.",
            "Weights must be positive; leave edges that do not exist out, or name another weight column.",
        )
    return values[:, 0]


def _relation_names(table: Table, column: str | None) -> np.ndarray | None:
    """(E,) the relation of each edge, as text."""
    if column is None:
        return None
    cells = table.frame[column].tolist()
    missing = np.array([is_missing(cell, MISSING_LABELS) for cell in cells], dtype=bool)
    if missing.any():
        raise GraphError(
            f"{int(missing.sum())} edges have no relation in column {first_few([column])}, on {table.where(missing)}.",
            "Name the kind of every edge, for example other.",
        )
    names = np.array([str(spell_label(cell)).strip() for cell in cells], dtype=object)
    if len(distinct := set(names)) > MAX_RELATIONS:
        raise GraphError(
            f"Column {first_few([column])} of {table.name} has {len(distinct)} different values "
            f"({first_few(sorted(distinct))}), but each relation gets channels of its own, and {MAX_RELATIONS} are the "
            "most.",
            "Name a column of few kinds, or call the rare ones other.",
        )
    with table.named_in_errors():
        check_relation_names(sorted(distinct))
    return names
