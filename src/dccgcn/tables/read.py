"""A table of nodes and one or several tables of edges as one checked graph."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import DccgcnError, Finding, GraphError
from dccgcn.graph import NodeGraph, spell_id
from dccgcn.progress import Progress
from dccgcn.tables.columns import Columns, Decimal, Impute, TableOptions, UnknownIds, choose_columns
from dccgcn.tables.edges import ONE_KIND, EdgeSources, by_relation, open_edges, read_relations
from dccgcn.tables.encode import FeatureEncoder, Meaning
from dccgcn.tables.features import choose_features
from dccgcn.tables.files import is_graphml, read_graphml, read_table
from dccgcn.tables.meaning import WORDS, vectors_of
from dccgcn.tables.nodes import add_labels, labels_of_targets, node_labels, nodes_to_classify, read_ids
from dccgcn.tables.table import OpenTable, Table, TableSource, open_in_memory, unescaped_cells
from dccgcn.text import first_few


@dataclass(frozen=True, eq=False)
class Tables:
    """A graph read from tables, and what is needed to read further nodes in the same way."""

    graph: NodeGraph
    encoder: FeatureEncoder
    columns: Columns
    rows: pd.DataFrame | None = None  # cells of the nodes to show, in the order of the graph


def read_tables(
    nodes: TableSource,
    edges: "EdgeSources | None" = None,
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
    relation: str | None = None,
    directed: bool = False,
    classes: Sequence[Any] | None = None,
    unlabelled: Sequence[Any] = (),
    unknown_ids: UnknownIds = "error",
    impute: Impute = "mean",
    scale: bool = True,
    encoding: str = "utf-8",
    featureless: bool = False,
    name: str | None = None,
    labels: "TableSource | None" = None,
    node_name: str | None = None,
    classify: Sequence[str] = (),
    decimal: Decimal = ".",
    text_model: str | None = None,
) -> Tables:
    """Read a graph from a table of nodes and a table of edges.

    Columns that are not named are guessed, and a finding lists the guesses. The ids are the column whose cells differ
    and hold the ends of the edges; if two columns fit, that is an error. Ids of text files stay text, exactly as
    written.

    Parameters
    ----------
    nodes, edges : path or DataFrame
        CSV, TSV or JSON lines (plain or gzip), Parquet, Feather, Excel, a folder of such files, or a pandas DataFrame.
        Edges in CSV and Parquet files are read in pieces and never are in memory as text. A GraphML file is given as
        the nodes, without edges. Edges of several relations, such as citations and shared authors: a list of paths,
        whose file names are those of the relations, or a mapping of names to paths or DataFrames.
    label, id : str, optional
        Columns of the nodes. An empty label, or -1 among whole numbers, means unlabelled.
    features : sequence of str, optional
        Feature columns, or patterns such as ``w*``. Default: all remaining columns.
    text, categorical : sequence of str, default ()
        Feature columns that hold text or categories. Default: detected from the cells.
    ignore : sequence of str, default ()
        Columns or patterns that are not features.
    source, target, weight : str, optional
        Columns of the edges.
    relation : str, optional
        Column of the edges that names the relation (the kind) of each.
    directed : bool, default False
        Whether edges lead from source to target, so that both directions get channels of their own.
    classes, unlabelled : sequence, optional
        As for ``NodeGraph``.
    unknown_ids : {"error", "drop"}, default "error"
        An edge with an id that is not among the nodes is refused or dropped.
    impute : {"mean", "zero", "error"}, default "mean"
        A missing number is replaced by the mean of its column or by zero, with a warning and a feature that is 1 where
        the column is missing; or it is refused.
    scale : bool, default True
        Standardise dense numeric columns to mean 0 and variance 1. False: use all numbers as they are.
    encoding : str, default "utf-8"
        Encoding of text files.
    featureless : bool, default False
        Use no column as a feature: learn from the edges alone.
    name : str, optional
        Name of the graph. Default: the name of the nodes' file.
    labels : path or DataFrame, optional
        A further table of ids and labels, which are added to those of the nodes.
    node_name : str, optional
        Column with a name for each node, which predictions and reports show beside its id.
    classify : sequence of str, default ()
        Conditions such as ``"type=movie"``: only nodes that fulfil one of them are classified. The others stay in the
        graph without labels.
    decimal : {".", ","}, default "."
        The decimal sign of numbers in text.
    text_model : str, optional
        Folder with a table of token vectors (``tokenizer.json`` and ``model.safetensors``), by which texts are read
        beside their words. Default: that of the extra ``text``, if it is installed. "words": count words only.

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
    >>> read_tables(nodes, edges, label="topic", name="people").graph
    NodeGraph('people': 3 nodes, 2 edges, 1 feature, 2 classes, 2 labelled)
    """
    keywords = {**locals()}
    del keywords["nodes"], keywords["edges"]
    tables, problems = check_tables(nodes, edges, TableOptions(**keywords))
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
    problems: list[DccgcnError] = []
    findings: list[Finding] = []
    with _collected(problems):
        node_table, edge_tables = _read_all(nodes, edges, options, progress)
        findings += [*node_table.findings, *(f for table in edge_tables.values() for f in table.findings)]
        more = None if options.labels is None else read_table(options.labels, "labels", options.encoding)
        columns = choose_columns(node_table, edge_tables, options, findings, more)
    if problems:
        return None, problems
    rows = None if shown is None else shown(node_table.frame).reset_index(drop=True)
    with _collected(problems):
        node_table, columns = choose_features(node_table, columns, options, findings, progress)
    ids: list[Any] | None = None
    with _collected(problems, findings):
        ids = read_ids(node_table, columns.id)
    if ids is None:  # some repeat; are the edges right?
        ids = list(dict.fromkeys(map(spell_id, node_table.frame[columns.id])))
    with _collected(problems, findings):
        relations, errors = read_relations(
            edge_tables, columns.edges, ids, options.unknown_ids, options.decimal, findings, progress
        )
        problems += [_with_guesses(error, findings) for error in errors]
    encoder, vectors = FeatureEncoder.featureless(), None
    with _collected(problems), node_table.named_in_errors():
        if columns.features:
            encoder, features = FeatureEncoder.fit_transform(
                node_table.frame, columns.features, options.impute, progress
            )
        else:
            features = encoder.transform(node_table.frame)
        findings += encoder.imputation_findings(node_table)
        encoder, vectors = _read_meaning(node_table, columns, encoder, options, findings, progress)
    with _collected(problems):
        targets = nodes_to_classify(node_table, options.classify or ())
        if more is not None:
            node_table = add_labels(node_table, columns, more, findings)
        labels = labels_of_targets(node_labels(node_table, columns.label, options, findings), targets, findings)
    if problems:
        return None, problems
    name, names = node_table.name, columns.name and unescaped_cells(node_table, columns.name)
    del node_table, edge_tables  # checking the edges needs the memory of the cells
    with _collected(problems):
        graph = NodeGraph(
            features,
            relations.get(ONE_KIND, ()),
            labels,
            ids=ids,
            classes=options.classes,
            unlabelled=options.unlabelled or (),
            featureless=options.featureless,
            name=options.name or name,
            findings=findings,
        )
        if ONE_KIND not in relations:
            graph = graph.with_relations(relations, options.directed)
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
    if not texts or options.text_model == WORDS:
        return encoder, None
    listed, token_vectors = first_few(texts), vectors_of(options.text_model)
    if token_vectors is None:
        text = f"The words of {listed} are counted. Read by their meaning too, few labels often go further: "
        findings.append(Finding("note", "words-only", f"{text}pip install 'dccgcn[text]'."))
        return encoder, None
    meaning = Meaning.fit(table.frame, texts, columns.id, token_vectors)
    text = f"Texts of {first_few([*texts, *([meaning.id] if meaning.id else [])])} are read by their meaning "
    findings.append(Finding("note", "meaning", f"{text}({meaning.table}) beside their words."))
    return replace(encoder, meaning=meaning), meaning.vectors(table.frame, token_vectors, progress)


@contextmanager
def _collected(problems: list[DccgcnError], guesses: Sequence[Finding] = ()) -> Iterator[None]:
    """Keep an error, so that further steps can find theirs. guesses: findings, if guessed columns may be the cause."""
    try:
        yield
    except DccgcnError as error:
        problems.append(_with_guesses(error, guesses) if isinstance(error, GraphError) else error)


def _read_all(
    nodes: TableSource, edges: "EdgeSources | None", options: TableOptions, progress: Progress | None
) -> tuple[Table, dict[str, OpenTable]]:
    """The table of nodes, and the tables of edges by relation; a GraphML file is both."""
    if edges is not None:
        node_table = read_table(nodes, "nodes", options.encoding, progress)
        edge_tables = open_edges(edges, options.encoding)
    elif isinstance(nodes, str | os.PathLike) and is_graphml(Path(nodes)):
        node_table, edge_table = read_graphml(Path(nodes))
        edge_tables = {ONE_KIND: open_in_memory(edge_table)}
    else:
        raise GraphError("There is no table of edges.", "Give one (--edges), or a GraphML file as the nodes.")
    return node_table, by_relation(edge_tables, options.relation, options.directed)


def _with_guesses(error: DccgcnError, findings: Sequence[Finding]) -> DccgcnError:
    """The error with the guessed columns: a wrong guess may be the cause."""
    guesses = [finding.text for finding in findings if finding.code in ("guessed-columns", "index-left-out")]
    return type(error)(error.what, " ".join([error.remedy, *guesses]))
