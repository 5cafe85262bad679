"""Tables of edges: one, or one of each relation."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError
from dccgcn.graph.cells import is_missing
from dccgcn.graph.relations import check_relation_names
from dccgcn.io.columns import EdgeColumns, decimal_points
from dccgcn.io.frames import Source, read_table
from dccgcn.io.options import Decimal, UnknownIds
from dccgcn.io.parse import read_edges
from dccgcn.io.pieces import LargeTable, large_edges, read_large_edges
from dccgcn.io.table import Table
from dccgcn.progress import Progress
from dccgcn.text import first_few

EdgeSources: TypeAlias = "Source | Sequence[Source] | Mapping[str, Source]"

ONE_KIND = ""  # key of a table whose name is not that of a relation


def read_edge_tables(given: EdgeSources, encoding: str, whole: bool = True) -> dict[str, Table]:
    """The tables by the names of their relations. A single file or DataFrame has the key "".

    ``whole``: with all rows; else those of large tables stay in their files.
    """

    def read(source: Source, what: str) -> Table:
        large = None if whole or isinstance(source, pd.DataFrame) else large_edges(Path(source), encoding)
        return large or read_table(source, what, encoding)

    if isinstance(given, Mapping | list | tuple) and not given:
        raise GraphError("There is no table of edges.", "Give at least one (--edges).")
    if isinstance(given, Mapping):
        return {name: read(source, f"edges of {name}") for name, source in given.items()}
    sources = [given] if isinstance(given, str | os.PathLike | pd.DataFrame) else list(given)
    if len(sources) == 1:
        return {ONE_KIND: read(sources[0], "edges")}
    if any(isinstance(source, pd.DataFrame) for source in sources):
        raise GraphError("Several DataFrames of edges need names.", "Give a mapping: {'cites': …, 'likes': …}.")
    tables: dict[str, Table] = {}
    for source in sources:
        table = read(source, "edges")
        name = relation_name(table)
        if name in tables:
            raise GraphError(
                f"Several tables of edges are called {name}, and the name of a table is that of its relation.",
                "Name them (--edges cites=a/edges.csv --edges likes=b/edges.csv), or write edges of one kind into one "
                "table.",
            )
        tables[name] = table
    return tables


def relation_name(table: Table) -> str:
    """The name of a table's file without its endings, or of its folder: cites of cites.csv.gz; else "edges"."""
    file = table.name.removesuffix(".gz")
    name = Path(file).stem if Path(file).suffix or file.endswith("/") else "edges"
    try:
        check_relation_names([name])
    except GraphError as error:
        remedy = f"{error.remedy} To name the relation of a file otherwise: --edges cites={table.name}."
        raise GraphError(f"{table.name}: {error.what}", remedy) from None
    return name


def by_relation(tables: dict[str, Table], relation: str | None, directed: bool) -> dict[str, Table]:
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


def read_relations(
    tables: Mapping[str, Table],
    columns: Mapping[str, EdgeColumns],
    ids: Sequence[Any],
    unknown_ids: UnknownIds,
    decimal: Decimal,
    findings: list[Finding],
    progress: Progress | None = None,
) -> dict[str, sp.coo_array]:
    """The edges of each relation, (n, n) with duplicates and weights; those of a single kind have the key ""."""
    n, found = len(ids), dict[str, sp.coo_array]()
    for name, table in tables.items():
        at = columns[name]
        if isinstance(table, LargeTable):
            pairs, weights = read_large_edges(table, at, ids, unknown_ids, decimal, findings, progress)
            relations = None
        else:
            table = decimal_points(table, [at.weight] if at.weight else [], decimal)
            pairs, weights, relations = read_edges(table, at, ids, unknown_ids, findings)
        values = np.ones(len(pairs), np.float32) if weights is None else weights
        parts = {name: slice(None)} if relations is None else {r: relations == r for r in sorted(set(relations))}
        for relation, part in parts.items():
            found[relation] = sp.coo_array((values[part], tuple(pairs[part].T)), shape=(n, n))
    return found


def with_both_ends(table: Table, columns: EdgeColumns) -> Table:
    """The rows in which neither end is empty; a table that stays in its files as it is."""
    if isinstance(table, LargeTable):
        return table
    ends = table.frame[[columns.source, columns.target]]
    filled = ~ends.map(is_missing).any(axis=1)
    return table if filled.all() else replace(table, frame=table.frame[filled])
