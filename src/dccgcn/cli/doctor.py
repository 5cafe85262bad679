"""dccgcn doctor: check a graph before training."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dccgcn.cli.display import cell, output, print_json, progress_bar, visible
from dccgcn.cli.options import GraphOptions, Json, with_option_groups
from dccgcn.text import counted

if TYPE_CHECKING:
    from dccgcn.graph import NodeGraph
    from dccgcn.workflow import Diagnosis

_STYLE = {"error": "bold red", "warning": "yellow", "note": "dim"}


@with_option_groups
def doctor(
    source: GraphOptions,
    k: Annotated[int, typer.Option(help="Neighbours in the feature graph, to count ties among them.", min=1)] = 6,
    check_labels: Annotated[
        bool,
        typer.Option(
            "--check-labels/--no-check-labels", help="Of your own tables: look for labels that the others contradict."
        ),
    ] = True,
    json: Json = False,
) -> None:
    """Check a graph before training: what is wrong, what is unusual, and what that means for the predictions.

    The most important finding comes first, and all mistakes in the tables are listed at once. The exit code is 1 if no
    method can be trained on the graph.

    Examples:

        dccgcn doctor --nodes nodes.csv --edges edges.csv --label topic

        dccgcn doctor cora
    """
    from dccgcn.workflow import check_given_labels, examine, facts

    graph, problems = _load(source)
    diagnoses = [*problems, *(examine(graph, k) if graph else [])]
    if graph and check_labels and not source.dataset and not any(diagnosis.level == "error" for diagnosis in diagnoses):
        with progress_bar("labels") as progress:
            diagnoses += check_given_labels(graph, progress)
    known = facts(graph) if graph else {}
    if json:
        print_json({**known, "diagnoses": [asdict(diagnosis) for diagnosis in diagnoses]})
    else:
        if graph:
            size = (
                f"{known['nodes']:,} nodes in {known['components']:,} components, {known['edges']:,} edges, "
                f"{counted(known['features'], 'feature')}, {len(known['classes'])} classes, "
                f"{known['labelled']:,} labels"
            )
            output.print(Text.assemble((f"{cell(graph.name)}: ", "bold"), size), soft_wrap=True)
            if graph.relations:
                listed = ", ".join(f"{name} {n:,} edges" for name, n in known["relations"].items())
                output.print(f"{'Directed relations' if graph.directed else 'Relations'}: {listed}", soft_wrap=True)
        for diagnosis in diagnoses:
            _print(diagnosis)
    if any(diagnosis.level == "error" for diagnosis in diagnoses):
        raise typer.Exit(1)


def _load(source: GraphOptions) -> "tuple[NodeGraph | None, list[Diagnosis]]":
    """The graph, and what is wrong with its tables.

    Tables with mistakes are read again with lenient options, so that the rest can be examined too.
    """
    from dccgcn.workflow import Diagnosis

    if source.dataset:
        return source.load().graph, []
    tables, problems = source.check_tables()  # that no tables are named is a mistake in the command: exit code 2
    if tables is None:
        tables, _ = source.check_tables(unknown_ids="drop")
    if tables is None and not source.tables.keys() & {"features", "text", "categorical"}:
        tables, _ = source.check_tables(unknown_ids="drop", featureless=True)
    graph = tables.graph if tables else None
    return graph, [Diagnosis("error", "tables", error.what, error.remedy, 0) for error in problems]


def _print(diagnosis: "Diagnosis") -> None:
    output.print()
    output.print(
        Text.assemble((f"{diagnosis.level}: ", _STYLE[diagnosis.level]), visible(diagnosis.text)), soft_wrap=True
    )
    if diagnosis.meaning:
        output.print(Text(visible(f"  {diagnosis.meaning}")), soft_wrap=True)
