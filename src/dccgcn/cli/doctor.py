"""dccgcn doctor: what is wrong with a graph, before anything is trained."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dccgcn.cli import tables
from dccgcn.cli.display import output, print_json, printable

if TYPE_CHECKING:
    from dccgcn.workflow.doctor import Diagnosis

_STYLE = {"error": "bold red", "warning": "yellow", "note": "dim"}


def doctor(
    name: tables.Name = None,
    nodes: tables.Nodes = None,
    edges: tables.Edges = None,
    label: tables.Label = None,
    id: tables.Id = None,
    features: tables.Features = None,
    text: tables.Text = None,
    categorical: tables.Categorical = None,
    ignore: tables.Ignore = None,
    source: tables.Source = None,
    target: tables.Target = None,
    weight: tables.Weight = None,
    unlabelled: tables.Unlabelled = None,
    unknown_ids: tables.UnknownIds = "error",
    impute: tables.Impute = "error",
    encoding: tables.Encoding = "utf-8",
    featureless: tables.Featureless = False,
    k: Annotated[int, typer.Option(help="Neighbours in the feature graph, for the ties among them.", min=1)] = 6,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data files; default: $DCCGCN_DATA or a cache.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Look at a graph before anything is trained: what is wrong, what is odd, and what it will mean.

    The most important comes first. Exits with 1 if nothing could be trained on the graph.

    Examples:

        dccgcn doctor --nodes nodes.csv --edges edges.csv --label topic

        dccgcn doctor cora
    """
    from dccgcn.datasets import load
    from dccgcn.workflow.doctor import examine, facts

    own = tables.TableOptions(
        nodes, edges, label, id, features, text, categorical, ignore, source, target, weight, unlabelled, unknown_ids,
        impute, encoding, featureless,
    )  # fmt: skip
    graph = own.read().graph if own.given_instead_of(name) else load(name or "", data).graph
    complaints = examine(graph, k)
    if json:
        print_json({**facts(graph), "complaints": [asdict(complaint) for complaint in complaints]})
    else:
        known = facts(graph)
        size = (
            f"{known['nodes']:,} nodes in {known['components']:,} components, {known['edges']:,} edges, "
            f"{known['features']:,} features, {len(known['classes'])} classes, {known['labelled']:,} labels"
        )
        output.print(Text.assemble((f"{printable(graph.name)}: ", "bold"), size), soft_wrap=True)
        for complaint in complaints:
            _print(complaint)
    if any(complaint.level == "error" for complaint in complaints):
        raise typer.Exit(1)


def _print(complaint: "Diagnosis") -> None:
    output.print()
    first = Text.assemble((f"{complaint.level}: ", _STYLE[complaint.level]), complaint.text)
    output.print(first, soft_wrap=True)
    if complaint.meaning:
        output.print(Text(f"  {complaint.meaning}"), soft_wrap=True)
