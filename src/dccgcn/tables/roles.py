"""The columns of all tables by role: ids, labels, ends of the edges, features."""

from collections.abc import Mapping
from dataclasses import replace

from dccgcn.errors import Finding, GraphError
from dccgcn.progress import Progress
from dccgcn.tables import columns as choose
from dccgcn.tables.columns import Columns, EdgeColumns, Role
from dccgcn.tables.id_column import guess_id, spelled_cells
from dccgcn.tables.labels import possible_labels
from dccgcn.tables.lists import expand_vectors, vector_columns
from dccgcn.tables.options import TableOptions
from dccgcn.tables.table import Table
from dccgcn.text import first_few


def choose_columns(
    nodes: Table,
    edges: Mapping[str, Table],
    options: TableOptions,
    findings: list[Finding],
    more: Table | None = None,
) -> Columns:
    """The columns of ids, labels and edges: as named, else guessed with a finding. ``edges``: tables by relation."""
    if nodes.frame.empty:
        raise GraphError(f"{nodes.name} has no rows.", "Give a row for each node.")
    guesses: list[str] = []
    id = named_column(nodes, options.id, "id")
    if more is not None and options.label is not None and options.label not in nodes.frame:
        label: str | None = options.label  # all labels are in the further table
    else:
        label = named_column(nodes, options.label, "label") or choose.guess_column(nodes, "label", [id], guesses)
    edge_guesses: list[str] = []
    ends = {relation: _edge_columns(table, edges, options, edge_guesses) for relation, table in edges.items()}
    if id is None:
        both = [(table, (ends[relation].source, ends[relation].target)) for relation, table in edges.items()]
        wanted = set().union(*(spelled_cells(table, column) for table, columns in both for column in columns))
        id = guess_id(nodes, wanted, label, guesses)
    if id == label:
        raise GraphError(f"Column {first_few([id])} cannot be both id and label.", "Name two columns.")
    for table in edges.values():
        if not (options.source and options.target) and choose.lacks_header(table, spelled_cells(nodes, id)):
            raise GraphError(
                f"The first line of {table.name} is an edge, not a header.", "Add a first line such as source,target."
            )
    if guesses := guesses + edge_guesses:
        text = f"Columns were guessed: {', '.join(guesses)}. Name them if that is wrong."
        findings.append(Finding("note", "guessed-columns", text))
    for relation, table in edges.items():
        used = vars(ends[relation]).values()
        if unused := [column for column in table.frame.columns if column not in used]:
            text = f"Columns {first_few(unused)} of {table.name} were not used; --weight names a column of edge weights"
            text += ", --relation one that says of which kind an edge is."
            findings.append(Finding("note", "unused-columns", text))
    if label is None and more is not None:
        raise GraphError(f"It is not clear which labels {more.name} adds to.", "Name the label column: --label topic.")
    if label is None and (proposed := possible_labels(nodes, id)):
        text = f"Columns {first_few(proposed)} of {nodes.name} are empty on many nodes and may hold the labels"
        findings.append(Finding("warning", "possible-labels", f"{text}: --label {proposed[0]}."))
    return Columns(id, label, ends, named_column(nodes, options.node_name, "name"))


def _edge_columns(
    table: Table, all_tables: Mapping[str, Table], options: TableOptions, guesses: list[str]
) -> EdgeColumns:
    """The columns of one table of edges. A named column may be missing in some of several tables, if others have it."""
    chosen: dict[str, str | None] = {}
    for role in ("relation", "source", "target", "weight"):
        named = getattr(options, role)
        if named is not None and not any(named in other.frame for other in all_tables.values() if other is not table):
            named = choose.find_column(table, named, role)
        chosen[role] = named if named in table.frame else None
    for role in ("source", "target", "weight"):
        if chosen[role] is None:
            required = role != "weight"
            chosen[role] = choose.guess_column(table, role, chosen.values(), guesses, required=required)
    source, target = chosen["source"] or "", chosen["target"] or ""
    if source == target:
        raise GraphError(f"Column {first_few([source])} cannot be both ends of an edge.", "Name two columns.")
    if chosen["relation"] in (source, target):
        raise GraphError(
            f"Column {first_few([chosen['relation']])} is an end of the edges.", "Name another --relation."
        )
    return EdgeColumns(source, target, chosen["weight"], chosen["relation"])


def named_column(table: Table, name: str | None, role: str) -> str | None:
    """The column that the user named, checked; None if none was named."""
    return None if name is None else choose.find_column(table, name, role)


def refuse_features(options: TableOptions) -> None:
    """Raise a GraphError if feature columns were named for a graph without features."""
    if options.features or options.text or options.categorical:
        raise GraphError(
            "Feature columns were named although the graph is read without features (--featureless, featureless=True).",
            "Leave out one of the two.",
        )


def choose_features(
    table: Table,
    columns: Columns,
    options: TableOptions,
    findings: list[Finding],
    progress: Progress | None = None,
) -> tuple[Table, Columns]:
    """The table with its numbers parsed, and the columns with the role of each feature column."""
    declared: dict[str, Role] = {name: "text" for name in choose.match_columns(table, options.text or (), "text")}
    declared |= {name: "categorical" for name in choose.match_columns(table, options.categorical or (), "categories")}
    ignored = {columns.id, columns.label, *choose.match_columns(table, options.ignore or (), "columns to ignore")}
    without_name = table.unnamed
    wanted = [name for name in table.frame.columns if name not in without_name]
    if options.features is not None:
        wanted = choose.match_columns(table, options.features, "features")
    elif unnamed := sorted(without_name - ignored):
        text = f"Columns without a name in {table.name} were not used: {first_few(unnamed)}."
        findings.append(Finding("note", "unnamed-columns", text))
    if columns.label is None:
        ignored |= set(possible_labels(table, columns.id))
    candidates = {*wanted, *declared} - ignored
    names = [name for name in table.frame.columns if name in candidates]
    if not names:
        raise GraphError(
            f"{table.name} has no feature columns beside the id and the label.",
            "Add numbers, categories or text about each node, or learn from the edges alone (--featureless, "
            "featureless=True).",
        )
    undeclared = [name for name in names if name not in declared]
    table = choose.decimal_points(table, undeclared, options.decimal)
    vectors = vector_columns(table.frame, undeclared)
    with table.named_in_errors():
        table = replace(table, frame=expand_vectors(table.frame, vectors))
    entries = [name for name in table.frame.columns if name.rpartition("[")[0] in vectors]
    undeclared = [name for name in undeclared if name not in vectors]
    table = replace(table, frame=choose.parse_numeric_columns(table, undeclared, options.impute, findings))
    roles = declared | choose.guess_roles(table, undeclared, findings, options.scale, options.node_name, progress)
    roles |= dict.fromkeys(entries, "as-is")  # their scales are part of the embedding
    if vectors:
        text = f"Columns {first_few(vectors)} of {table.name} hold vectors, {len(entries)} numbers a node in all."
        findings.append(Finding("note", "vectors", text))
    if not roles:
        raise GraphError(
            f"No column of {table.name} can serve as a feature: {first_few(names)}.",
            f"Declare one of them text or categorical (--text {names[0]}, --categorical {names[0]}), or learn from the "
            "edges alone (--featureless, featureless=True).",
        )
    return table, replace(columns, features={name: roles[name] for name in table.frame.columns if name in roles})
