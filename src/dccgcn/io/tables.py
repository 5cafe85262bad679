"""A table of nodes and a table of edges as one checked graph."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import NodeGraph
from dccgcn.io import columns as choose
from dccgcn.io.columns import Columns, Role
from dccgcn.io.encoder import FeatureEncoder
from dccgcn.io.frames import Source, Table, read_table
from dccgcn.io.options import Impute, TableOptions, UnknownIds
from dccgcn.io.parse import read_edges, read_ids, read_labels
from dccgcn.text import first_few


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
    """Read a graph from a table of nodes and a table of edges.

    Columns that are not named are guessed, and a finding lists the guesses. Ids of text files stay text, exactly as
    written.

    Parameters
    ----------
    nodes, edges : path or DataFrame
        CSV or TSV (plain or gzip), Parquet, or a pandas DataFrame.
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
    classes, unlabelled : sequence, optional
        As for ``NodeGraph``.
    unknown_ids : {"error", "drop"}, default "error"
        An edge with an id that is not among the nodes is refused or dropped.
    impute : {"error", "zero", "mean"}, default "error"
        A missing number is refused, or replaced by zero or by the mean of its column.
    scale : bool, default True
        Standardise dense numeric columns to mean 0 and variance 1. False: use all numbers as they are.
    encoding : str, default "utf-8"
        Encoding of text files.
    featureless : bool, default False
        Use no column as a feature: learn from the edges alone.
    name : str, optional
        Name of the graph. Default: the name of the nodes' file.

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
    NodeGraph('people': 3 nodes, 2 edges, 1 features, 2 classes, 2 labelled)
    """
    options = TableOptions(
        label=label,
        id=id,
        features=features,
        text=text,
        categorical=categorical,
        ignore=ignore,
        source=source,
        target=target,
        weight=weight,
        classes=classes,
        unlabelled=unlabelled,
        unknown_ids=unknown_ids,
        impute=impute,
        scale=scale,
        encoding=encoding,
        featureless=featureless,
        name=name,
    )
    return read_with_options(nodes, edges, options)


def read_with_options(nodes: Source, edges: Source, options: TableOptions) -> Tables:
    """``read_tables`` with its keywords in one object."""
    node_table = read_table(nodes, "nodes", options.encoding)
    edge_table = read_table(edges, "edges", options.encoding)
    findings = [*node_table.findings, *edge_table.findings]
    columns = _choose_columns(node_table, edge_table, options, findings)
    if options.featureless:
        _refuse_features(options)
    else:
        node_table, columns = _choose_features(node_table, columns, options, findings)
    with _guesses_in_errors(findings):
        ids = read_ids(node_table, columns.id)
        pairs, weights = read_edges(edge_table, columns, ids, options.unknown_ids, findings)
    with node_table.named_in_errors():
        if options.featureless:
            encoder = FeatureEncoder.featureless()
            features = encoder.transform(node_table.frame)
        else:
            encoder, features = FeatureEncoder.fit_transform(node_table.frame, columns.features, options.impute)
    findings += encoder.imputation_findings(node_table)
    graph = NodeGraph(
        features,
        pairs,
        read_labels(node_table, columns.label, options.unlabelled or (), options.classes, findings),
        ids=ids,
        classes=options.classes,
        edge_weights=weights,
        unlabelled=options.unlabelled or (),
        featureless=options.featureless,
        name=options.name or node_table.name,
        findings=findings,
    )
    return Tables(graph, encoder, columns)


def _choose_columns(nodes: Table, edges: Table, options: TableOptions, findings: list[Finding]) -> Columns:
    """The columns of ids, labels and edges: as named, else guessed with a finding."""
    if nodes.frame.empty:
        raise GraphError(f"{nodes.name} has no rows.", "Give a row for each node.")
    guesses: list[str] = []
    id = _named_column(nodes, options.id, "id")
    label = _named_column(nodes, options.label, "label") or choose.guess_column(nodes, "label", [id], guesses)
    id = id or choose.guess_column(nodes, "id", [label], guesses, required=True) or ""
    if id == label:
        raise GraphError(f"Column {first_few([id])} cannot be both id and label.", "Name two columns.")
    if not (options.source and options.target) and choose.lacks_header(edges, nodes.frame[id]):
        raise GraphError(
            f"The first line of {edges.name} is an edge, not a header.", "Add a first line such as source,target."
        )
    ends = {
        role: _named_column(edges, named, role)
        for role, named in (("source", options.source), ("target", options.target), ("weight", options.weight))
    }
    for role in ends:
        ends[role] = ends[role] or choose.guess_column(edges, role, ends.values(), guesses, required=role != "weight")
    if ends["source"] == ends["target"]:
        raise GraphError(f"Column {first_few([ends['source']])} cannot be both ends of an edge.", "Name two columns.")
    if guesses:
        text = f"Columns were guessed: {', '.join(guesses)}. Name them if that is wrong."
        findings.append(Finding("note", "guessed-columns", text))
    if unused := [column for column in edges.frame.columns if column not in ends.values()]:
        text = f"Columns {first_few(unused)} of {edges.name} were not used; --weight names a column of edge weights."
        findings.append(Finding("note", "unused-columns", text))
    return Columns(id, label, ends["source"] or "", ends["target"] or "", ends["weight"])


def _named_column(table: Table, name: str | None, role: str) -> str | None:
    return None if name is None else choose.find_column(table, name, role)


def _refuse_features(options: TableOptions) -> None:
    if options.features or options.text or options.categorical:
        raise GraphError(
            "Feature columns were named although the graph is read without features (--featureless, featureless=True).",
            "Leave out one of the two.",
        )


def _choose_features(
    table: Table, columns: Columns, options: TableOptions, findings: list[Finding]
) -> tuple[Table, Columns]:
    """The table with its numbers parsed, and the columns with the role of each feature column."""
    declared: dict[str, Role] = {name: "text" for name in choose.match_columns(table, options.text or (), "text")}
    declared |= {name: "categorical" for name in choose.match_columns(table, options.categorical or (), "categories")}
    ignored = {columns.id, columns.label, *choose.match_columns(table, options.ignore or (), "columns to ignore")}
    wanted = table.frame.columns
    if options.features is not None:
        wanted = choose.match_columns(table, options.features, "features")
    candidates = {*wanted, *declared} - ignored
    names = [name for name in table.frame.columns if name in candidates]
    if not names:
        raise GraphError(
            f"{table.name} has no feature columns beside the id and the label.",
            "Add numbers, categories or text about each node, or learn from the edges alone (--featureless, "
            "featureless=True).",
        )
    undeclared = [name for name in names if name not in declared]
    table = replace(table, frame=choose.parse_numeric_columns(table.frame, undeclared))
    roles = declared | choose.guess_roles(table, undeclared, findings, options.scale)
    if not roles:
        raise GraphError(
            f"No column of {table.name} can serve as a feature: {first_few(names)}.",
            "Declare one of them text or categorical.",
        )
    return table, replace(columns, features={name: roles[name] for name in names if name in roles})


@contextmanager
def _guesses_in_errors(findings: Sequence[Finding]) -> Iterator[None]:
    """Add the guessed columns to errors about ids: a wrong guess may be the cause."""
    try:
        yield
    except GraphError as error:
        guesses = [finding.text for finding in findings if finding.code in ("guessed-columns", "index-left-out")]
        raise GraphError(error.what, " ".join([error.remedy, *guesses])) from None
