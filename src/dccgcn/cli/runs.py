"""Commands on a saved run: dccgcn predict (new nodes), explain, label-next (active learning) and report (the page)."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dccgcn.cli.display import errors, output, print_findings, print_frame, print_json, print_note, progress_bar
from dccgcn.cli.options import NEW_FILE, AbstainBelow, Device, Json, Overwrite, Probabilities, Threads, edge_files

if TYPE_CHECKING:
    from dccgcn.workflow import Result

# printed; the file of --out has all rows and columns
_MAX_ROWS = 20
_COLUMNS = ("node_id", "name", "prediction", "probability", "trust", "abstain", "channels_agree")


def predict(
    model: Annotated[Path, typer.Argument(help="Folder that [b]dccgcn fit … --out[/b] wrote.")],
    nodes: Annotated[Path, typer.Option(help="Table of the new nodes, with the columns of the training table.")],
    edges: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Table of edges among the new nodes and to training nodes. Of several relations: a table of each, "
            "called as at training or given as cites=FILE.",
        ),
    ] = None,
    unknown_ids: Annotated[
        Literal["error", "drop"], typer.Option(help="What to do with edges to unknown ids.")
    ] = "error",
    encoding: Annotated[str, typer.Option(help="Encoding of text files, such as latin-1.")] = "utf-8",
    decimal: Annotated[Literal[".", ","], typer.Option(help="Decimal sign of numbers in text.")] = ".",
    text_model: Annotated[
        str | None, typer.Option(help="Folder with the table of token vectors that the model was trained with.")
    ] = None,
    probabilities: Probabilities = False,
    abstain_below: AbstainBelow = None,
    threads: Threads = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar=NEW_FILE, help="Write the predictions to this file: .csv, .parquet, .sqlite or .duckdb."),
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Classify new nodes with a trained model, without training again.

    The tables need the columns that the model was trained on, except the labels. A node without edges is classified
    from its features alone.

    Examples:

        dccgcn fit --nodes nodes.csv --edges edges.csv --label topic --out runs/mine

        dccgcn predict runs/mine --nodes more.csv --edges more-edges.csv --out predictions.csv
    """
    from dccgcn.runtime import use_threads
    from dccgcn.store import load_model
    from dccgcn.tables import write_frames

    use_threads(threads)
    loaded = load_model(model)
    graph = loaded.read(
        nodes, edge_files(edges), unknown_ids=unknown_ids, encoding=encoding, decimal=decimal, text_model=text_model
    )
    with errors.status("predicting"):
        frame = loaded.predict(graph, probabilities=probabilities, abstain_below=abstain_below)
    if out:
        write_frames({"predictions": frame}, out, overwrite)
    if json:
        findings = [vars(finding) for finding in graph.findings]
        rows = frame.to_dict("records")
        print_json({"model": str(model), "method": loaded.result.method, "predictions": rows, "findings": findings})
        return
    brief = frame[[column for column in _COLUMNS if column in frame]].head(_MAX_ROWS)
    print_frame(f"{len(frame):,} new nodes: {loaded.result.method} on {loaded.result.graph.name}", brief)
    if len(frame) > _MAX_ROWS:
        print_note(f"… and {len(frame) - _MAX_ROWS:,} more" + ("" if out else "; --out writes all"))
    print_findings(graph.findings)
    if out:
        print_note(f"Written to {out}")


def explain(
    model: Annotated[Path, typer.Argument(help="Folder that [b]dccgcn fit … --out[/b] wrote.")],
    ids: Annotated[list[str], typer.Argument(help="Ids of the nodes.")],
    json: Json = False,
) -> None:
    """Say why nodes are predicted as they are.

    For each node: its class and trust; what each channel predicts, with the channel's weight; its neighbours and the
    nodes with the most similar features, with their labels or predictions; and the features that speak for the
    predicted class and for the next one.

    Examples:

        dccgcn explain runs/mine 31336 1061127
    """
    from dccgcn.store import load_model

    result = load_model(model).result
    explanations = [result.explain(node) for node in ids]
    if json:
        print_json({"model": str(model), "nodes": [one.to_dict() for one in explanations]})
    else:
        output.print("\n\n".join(map(repr, explanations)), markup=False, highlight=False)


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

    from dccgcn.runtime import check_file, use_threads, write_output
    from dccgcn.store import load_model
    from dccgcn.tables import csv_text
    from dccgcn.workflow import suggest_labels

    use_threads(threads)
    if out:
        check_file(out, overwrite)
    result = load_model(run).result if Path(run).is_dir() else _train(run, method, labels_per_class, seed, device)
    graph, labelled = result.graph, result.split.train
    count = count or max(1, min(10, graph.n - len(labelled)))
    suggestions = [s.to_json() for s in suggest_labels(graph, result.prediction, labelled, count)]
    frame = pd.DataFrame(suggestions).drop(columns="position")
    if out:
        write_output(out, csv_text(frame, float_format="%.6f"), overwrite)
    if json:
        listed = [{key: value for key, value in one.items() if key != "position"} for one in suggestions]
        print_json({"graph": graph.name, "method": result.method, "labels": len(labelled), "next": listed})
        return
    title = f"Nodes of {graph.name} to label next: {result.method}, {len(labelled)} labels so far"
    brief = frame.drop(columns="n_represented").rename(columns={"node_id": "node", "prediction": "predicted"})
    print_frame(title, brief, text=(0, -1))
    if out:
        print_note(f"Written to {out}")


def _train(name: str, method: str, labels_per_class: int, seed: int, device: str) -> "Result":
    """Train on a benchmark graph."""
    from dccgcn.datasets import DATASETS, load
    from dccgcn.errors import DccgcnError
    from dccgcn.graph import per_class
    from dccgcn.methods import get_method
    from dccgcn.workflow import run

    if name not in DATASETS:
        raise DccgcnError(
            f"{name} is neither a folder nor a benchmark graph.",
            f"Give a folder that dccgcn fit … --out wrote, or one of: {', '.join(DATASETS)}.",
        )
    graph, entry = load(name).graph, get_method(method)
    with progress_bar(method) as progress:
        split = per_class(graph, labels_per_class, seed, small_classes="half")
        return run(graph, split, entry, entry.published_settings(name), seed, progress, device)


def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A folder that [b]dccgcn fit --out[/b] or Result.save wrote.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar=NEW_FILE, help="The HTML file to write; default: RUN/report.html.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write one HTML file that shows the predictions of a run and which of them can be trusted.

    The file is self-contained: it can be sent to anybody and read without a network.

    Example:

        dccgcn report runs/demo
    """
    from dccgcn.report import FILE, load_data, read_audit, render, write_report
    from dccgcn.runtime import check_file, write_output
    from dccgcn.store import load_model

    path = out or run / "report.html"
    overwrite = overwrite or out is None  # the run's own page is made again
    check_file(path, overwrite)
    if (run / FILE).exists() or not (run / "model.json").exists():
        write_output(path, render(load_data(run)), overwrite)
    else:  # saved from Python, or interrupted before its report was made
        with progress_bar(str(run)) as progress:
            write_report(load_model(run).result, path, overwrite, progress=progress, audit=read_audit(run))
    print_note(f"Written to {path}")
