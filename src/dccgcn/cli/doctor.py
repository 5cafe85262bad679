"""dccgcn doctor: check a graph before training."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dccgcn.cli.display import output, print_json, printable, visible
from dccgcn.cli.options import GraphOptions, Json, with_option_groups

if TYPE_CHECKING:
    from dccgcn.workflow.doctor import Diagnosis

_STYLE = {"error": "bold red", "warning": "yellow", "note": "dim"}


@with_option_groups
def doctor(
    source: GraphOptions,
    k: Annotated[int, typer.Option(help="Neighbours in the feature graph, to count ties among them.", min=1)] = 6,
    json: Json = False,
) -> None:
    """Check a graph before training: what is wrong, what is unusual, and what that means for the predictions.

    The most important finding comes first. The exit code is 1 if no method can be trained on the graph.

    Examples:

        dccgcn doctor --nodes nodes.csv --edges edges.csv --label topic

        dccgcn doctor cora
    """
    from dccgcn.workflow.doctor import examine, facts

    graph = source.load().graph
    diagnoses, known = examine(graph, k), facts(graph)
    if json:
        print_json({**known, "diagnoses": [asdict(diagnosis) for diagnosis in diagnoses]})
    else:
        size = (
            f"{known['nodes']:,} nodes in {known['components']:,} components, {known['edges']:,} edges, "
            f"{known['features']:,} features, {len(known['classes'])} classes, {known['labelled']:,} labels"
        )
        output.print(Text.assemble((f"{printable(graph.name)}: ", "bold"), size), soft_wrap=True)
        for diagnosis in diagnoses:
            _print(diagnosis)
    if any(diagnosis.level == "error" for diagnosis in diagnoses):
        raise typer.Exit(1)


def _print(diagnosis: "Diagnosis") -> None:
    output.print()
    output.print(
        Text.assemble((f"{diagnosis.level}: ", _STYLE[diagnosis.level]), visible(diagnosis.text)), soft_wrap=True
    )
    if diagnosis.meaning:
        output.print(Text(visible(f"  {diagnosis.meaning}")), soft_wrap=True)
