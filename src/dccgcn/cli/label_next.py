"""dccgcn label-next: active learning."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dccgcn.cli.display import errors, output, print_json, printable, progress_bar, table
from dccgcn.cli.options import NEW_FILE, Device, Json, Overwrite, Threads

if TYPE_CHECKING:
    from dccgcn.api import Result


def label_next(
    run: Annotated[str, typer.Argument(help="Folder that [b]dccgcn fit … --out[/b] wrote, or a benchmark graph.")],
    count: Annotated[
        int | None, typer.Option(help="Number of nodes to suggest; default: 10, or all unlabelled ones.", min=1)
    ] = None,
    method: Annotated[str, typer.Option(help="With a benchmark graph: its method.")] = "concord",
    labels_per_class: Annotated[int, typer.Option(help="With a benchmark graph: labels of each class.", min=1)] = 2,
    seed: Annotated[int, typer.Option(help="With a benchmark graph: seed of these labels.", min=0)] = 0,
    device: Device = "cpu",
    threads: Threads = None,
    out: Annotated[Path | None, typer.Option(metavar=NEW_FILE, help="Write the list to this CSV file.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Suggest the nodes to label next: uncertain, dissimilar to one another, and similar to many other nodes.

    Label them, add the labels to the table of nodes, and run fit again.

    Examples:

        dccgcn fit --nodes nodes.csv --edges edges.csv --label topic --out runs/mine

        dccgcn label-next runs/mine --count 10
    """
    import pandas as pd

    from dccgcn.api import load_model
    from dccgcn.io.write import csv_text
    from dccgcn.runtime.outputs import check_file, write_output
    from dccgcn.runtime.threads import use_threads
    from dccgcn.workflow.active_learning import suggest_labels

    use_threads(threads)
    if out:
        check_file(out, overwrite)
    result = load_model(run).result if Path(run).is_dir() else _train(run, method, labels_per_class, seed, device)
    known = result.split.train
    count = count or max(1, min(10, result.graph.n - len(known)))
    suggestions = [s.to_json() for s in suggest_labels(result.graph, result.prediction, known, count)]
    for suggestion in suggestions:
        suggestion.pop("position")
    if out:
        write_output(out, csv_text(pd.DataFrame(suggestions), float_format="%.6f"), overwrite)
    if json:
        print_json({"graph": result.graph.name, "method": result.method, "labels": len(known), "next": suggestions})
        return
    print_suggestions(result, suggestions)
    if out:
        errors.print(f"Written to {out}", highlight=False)


def print_suggestions(result: "Result", suggestions: list[dict[str, Any]]) -> None:
    """The nodes to label, with their present predictions."""
    labels = len(result.split.train)
    title = f"Nodes of {result.graph.name} to label next: {result.method}, {labels} labels so far"
    named = result.graph.names is not None
    shown = table(title, "node", *(["name"] if named else []), "predicted", "confidence", "reason")
    shown.columns[-1].justify = "left"
    for s in suggestions:
        names = [printable(s[field]) for field in ("node_id", "name", "prediction") if field in s]
        shown.add_row(*names, f"{s['confidence']:.2f}", printable(s["reason"], 200))
    output.print(shown)


def _train(name: str, method: str, labels_per_class: int, seed: int, device: str) -> "Result":
    """Train on a benchmark graph."""
    from dccgcn.api import run
    from dccgcn.datasets import DATASETS, load
    from dccgcn.errors import DccgcnError
    from dccgcn.graph.splits import per_class
    from dccgcn.models.registry import get_method

    if name not in DATASETS:
        raise DccgcnError(
            f"{name} is neither a folder nor a benchmark graph.",
            f"Give a folder that dccgcn fit … --out wrote, or one of: {', '.join(DATASETS)}.",
        )
    graph = load(name).graph
    chosen = get_method(method)
    with progress_bar(method) as progress:
        split = per_class(graph, labels_per_class, seed, small_classes="half")
        return run(graph, split, chosen, chosen.published_settings(name), seed, progress, device)
