"""A table of nodes and one or several tables of edges as one checked graph."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd

from dccgcn.errors import DccgcnError, Finding, GraphError
from dccgcn.graph import NodeGraph, spell_id
from dccgcn.progress import Progress
from dccgcn.tables.columns import Columns, choose_columns, lacks_header
from dccgcn.tables.edges import ONE_KIND, EdgeSources, by_relation, open_edges, read_relations
from dccgcn.tables.encode import FeatureEncoder, Meaning
from dccgcn.tables.features import choose_features
from dccgcn.tables.files import read_table
from dccgcn.tables.graph_files import is_graph_file, read_graph_file
from dccgcn.tables.meaning import WORDS, vectors_of
from dccgcn.tables.nodes import add_labels, labels_of_targets, leaking_columns, node_labels, nodes_to_classify, read_ids
from dccgcn.tables.options import TableOptions, checked_options, with_table_options
from dccgcn.tables.table import OpenTable, Table, TableSource, open_in_memory
from dccgcn.text import first_few

# what was chosen is said first, then what is not used
_FIRST = ("no-header", "guessed-columns", "ignored-columns", "unused-columns", "unnamed-columns", "empty-columns")


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """A graph read from tables, and what is needed to read further nodes in the same way."""

    graph: NodeGraph
    encoder: FeatureEncoder
    columns: Columns
    rows: pd.DataFrame | None = None  # cells of the nodes to show, in the order of the graph

    def __repr__(self) -> str:
        features = ", ".join(f"{name}: {role}" for name, role in list(self.columns.features.items())[:5])
        return f"Tables({self.graph!r}, id={self.columns.id!r}, label={self.columns.label!r}, features={{{features}…}})"


@with_table_options
def read_tables(
    nodes: TableSource,
    edges: "EdgeSources | None" = None,
    **options: Unpack[TableOptions],
) -> Tables:
    """Read a graph from a table of nodes and a table of edges.

    Columns that are not named are guessed, and a finding lists the guesses. The ids and the ends of the edges are the
    columns whose values match; if two columns of ids fit equally, that is an error. Ids of text files stay text,
    exactly as written.

    Parameters
    ----------
    nodes, edges : path, DataFrame, mapping or array
        CSV, TSV or JSON lines (plain or gzip), Parquet, Feather, Excel, a folder of such files, a table of a database
        (``"shop.sqlite?table=customers"``, ``"shop.duckdb?query=SELECT …"``); a DataFrame of pandas, polars, PyArrow or
        DuckDB; a mapping of column names to lists; edges also as pairs of ids, (E, 2). Edges in CSV and Parquet files
        are read in pieces and never are in memory as text. A GraphML or GML file is given as the nodes, without edges.
        Edges of several relations, such as citations and shared authors: a list of paths, whose file names are those of
        the relations, or a mapping of names to tables.
    **options

    Returns
    -------
    Tables
        The graph, the fitted feature encoder and the columns used.

    Raises
    ------
    GraphError, DataFileError
        If a file cannot be read or the tables do not fit together. The message names the lines.

    Examples
    --------
    >>> import pandas as pd
    >>> nodes = pd.DataFrame({"id": ["a", "b", "c"], "topic": ["x", "y", None], "age": [30, 40, 50]})
    >>> edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    >>> read_tables(nodes, edges, label="topic", graph_name="people").graph
    NodeGraph('people': 3 nodes, 2 edges, 1 feature, 2 classes, 2 labelled)
    """
    tables, problems = check_tables(nodes, edges, options)
    if tables is None:
        raise problems[0]
    return tables


def check_tables(
    nodes: TableSource,
    edges: "EdgeSources | None",
    options: TableOptions,
    progress: Progress | None = None,
    shown: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
) -> tuple[Tables | None, list[DccgcnError]]:
    """The graph, or None and everything that is wrong with the tables, the most basic first.

    shown : picks the columns of the nodes whose cells are kept to be shown; omitted, none are kept.
    """
    options = checked_options(options)
    problems: list[DccgcnError] = []
    findings: list[Finding] = []
    guesses: list[str] = []
    dates: dict[str, str] = {}
    with _collected(problems):
        node_table, edge_tables = _read_all(nodes, edges, options, progress)
        findings += [*node_table.findings, *(f for table in edge_tables.values() for f in table.findings)]
        more = None if options["labels"] is None else read_table(options["labels"], "labels", options["encoding"])
        columns, guesses = choose_columns(node_table, edge_tables, options, findings, more)
    if problems:
        return None, problems
    rows = None if shown is None else shown(node_table.frame).reset_index(drop=True)
    with _collected(problems):
        node_table, columns, dates = choose_features(node_table, columns, options, findings, progress)
    ids: list[Any] | None = None
    with _collected(problems, guesses):
        ids = read_ids(node_table, columns.id)
    if ids is None:  # some repeat; are the edges right?
        ids = list(dict.fromkeys(map(spell_id, node_table.frame[columns.id])))
    with _collected(problems, guesses):
        relations, (matched, n_ends), errors = read_relations(
            edge_tables, columns.edges, ids, options["unknown_ids"], options["decimal"], findings, progress
        )
        problems += [_with_guesses(error, guesses) for error in errors]
        if guesses:
            text = f"{_guessed(guesses)}; {matched:,} of {n_ends:,} ends of edges are ids of nodes"
            findings.append(Finding("note", "guessed-columns", f"{text}. Name them if that is wrong."))
    encoder, vectors = FeatureEncoder(), None
    with _collected(problems), node_table.named_in_errors():
        if columns.features:
            encoder, features = FeatureEncoder.fit_transform(
                node_table.frame, columns.features, options["impute"], progress, dates
            )
        else:
            features = encoder.transform(node_table.frame)
        findings += encoder.imputation_findings(node_table)
        encoder, vectors = _read_meaning(node_table, columns, encoder, options, findings, progress)
    with _collected(problems):
        targets = nodes_to_classify(node_table, options["classify"])
        if more is not None:
            node_table = add_labels(node_table, columns, more, options["unlabelled"], findings)
        labels = labels_of_targets(node_labels(node_table, columns.label, options, findings), targets, findings)
        findings += leaking_columns(node_table, columns, labels or [])
    if problems:
        return None, problems
    name, names = node_table.name, columns.name and node_table.frame[columns.name].tolist()
    del node_table, edge_tables  # checking the edges needs the memory of the cells
    with _collected(problems):
        graph = NodeGraph(
            features,
            relations.get(ONE_KIND, ()),
            labels,
            ids=ids,
            classes=options["classes"],
            unlabelled=options["unlabelled"],
            featureless=options["featureless"],
            name=options["graph_name"] or name,
            findings=sorted(findings, key=lambda finding: (*_FIRST, finding.code).index(finding.code)),
        )
        if ONE_KIND not in relations:
            graph = graph.with_relations(relations, options["directed"])
        graph = graph.with_targets(targets)
        if names is not None:
            graph = graph.with_names(names)
        graph = graph.with_vectors(vectors)
    return (None, problems) if problems else (Tables(graph, encoder, columns, rows), [])


def _read_meaning(
    table: Table,
    columns: Columns,
    encoder: FeatureEncoder,
    options: TableOptions,
    findings: list[Finding],
    progress: Progress | None,
) -> tuple[FeatureEncoder, np.ndarray | None]:
    """The encoder with the text columns that are read by their meaning, and the vector of each node, (n, width)."""
    texts = [words.column for words in encoder.texts]
    if not texts or options["text_model"] == WORDS:
        return encoder, None
    listed, token_vectors = first_few(texts), vectors_of(options["text_model"])
    if token_vectors is None:
        text = f"The words of {listed} are counted. Read by their meaning too, few labels often go further: "
        findings.append(Finding("note", "words-only", f"{text}pip install 'dccgcn[text]'."))
        return encoder, None
    meaning = Meaning.fit(table.frame, texts, columns.id, token_vectors)
    text = f"Texts of {first_few([*texts, *([meaning.id] if meaning.id else [])])} are read by their meaning "
    findings.append(Finding("note", "meaning", f"{text}({meaning.table}) beside their words."))
    return encoder.model_copy(update={"meaning": meaning}), meaning.vectors(table.frame, token_vectors, progress)


@contextmanager
def _collected(problems: list[DccgcnError], guesses: Sequence[str] = ()) -> Iterator[None]:
    """Keep an error, so that further steps can find theirs. guesses: guessed columns, which may be the cause."""
    try:
        yield
    except DccgcnError as error:
        problems.append(_with_guesses(error, guesses) if isinstance(error, GraphError) else error)


def _read_all(
    nodes: TableSource, edges: "EdgeSources | None", options: TableOptions, progress: Progress | None
) -> tuple[Table, dict[str, OpenTable]]:
    """The table of nodes, and the tables of edges by relation; a GraphML or GML file is both."""
    encoding = options["encoding"]
    if edges is not None:
        node_table, edge_tables = read_table(nodes, "nodes", encoding, progress), open_edges(edges, encoding)
        if any(lacks_header(table, [node_table], 2) for table in edge_tables.values()):
            edge_tables = open_edges(edges, encoding, header=False)
        if lacks_header(node_table, edge_tables.values(), 1):
            node_table = read_table(nodes, "nodes", encoding, progress, header=False)
    elif is_graph_file(nodes):
        node_table, edge_table = read_graph_file(Path(nodes))
        edge_tables = {ONE_KIND: open_in_memory(edge_table)}
    else:
        raise GraphError("There is no table of edges.", "Give one (--edges), or a GraphML or GML file as the nodes.")
    return node_table, by_relation(edge_tables, options["relation"], options["directed"])


def _with_guesses(error: DccgcnError, guesses: Sequence[str]) -> DccgcnError:
    """The error with the guessed columns: a wrong guess may be the cause."""
    return type(error)(error.what, f"{error.remedy} {_guessed(guesses)}.") if guesses else error


def _guessed(guesses: Sequence[str]) -> str:
    return f"Columns were guessed: {', '.join(guesses)}"
