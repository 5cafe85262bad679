"""dccgcn fit: train one method on a benchmark graph or on two tables."""

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dccgcn.cli.display import print_findings, print_json, print_note, progress_bar
from dccgcn.cli.options import (
    NEW_FILE,
    AbstainBelow,
    Device,
    GraphOptions,
    Json,
    LoadedGraph,
    MethodName,
    Overwrite,
    Probabilities,
    Set,
    Threads,
    with_option_groups,
)
from dccgcn.cli.run_tables import print_predictions, print_rare_classes, print_scores
from dccgcn.errors import DccgcnError, SplitError
from dccgcn.runtime import check_output, check_writable

if TYPE_CHECKING:
    import pandas as pd

    from dccgcn.graph import NodeGraph, Split
    from dccgcn.methods import base
    from dccgcn.settings import Settings
    from dccgcn.tables import Tables
    from dccgcn.workflow import Result

_split_option = partial(typer.Option, rich_help_panel="Split")
_DEFAULT_LABELS_PER_CLASS = 2


@dataclass(frozen=True)
class SplitOptions:
    """Training and test labels; at most one of rate, number, split and hold-out is given."""

    labels_per_class: Annotated[int | None, _split_option(help="Training labels drawn from each class.")] = None
    label_rate: Annotated[float | None, _split_option(help="Share of the nodes to train on, such as 0.005.")] = None
    draw: Annotated[
        Literal["balanced", "uniform"],
        _split_option(help="With --label-rate: as many labels of every class, or as many as chance has it."),
    ] = "balanced"
    split: Annotated[str | None, _split_option(help="A split file, or a published split such as public.")] = None
    hold_out: Annotated[
        float | None, _split_option(help="Share of the labels to test on instead of training, such as 0.2.")
    ] = None
    small_classes: Annotated[
        Literal["half", "error"],
        _split_option(
            help="With --labels-per-class K: take half of a class of fewer than 2K nodes, or report an error."
        ),
    ] = "half"


@dataclass(frozen=True)
class RunOptions:
    """Method, settings and resources of the run."""

    method: MethodName = "concord"
    seed: Annotated[int, typer.Option(help="Seed of the split and of training. Evaluations use 0 to 999.", min=0)] = 0
    settings: Annotated[Path | None, typer.Option(help="A settings.yaml that an earlier run wrote.")] = None
    set_: Set = None
    baseline: Annotated[str | None, typer.Option(help="A second method to run on the same split.")] = None
    threads: Threads = None
    device: Device = "cpu"
    scratch: Annotated[
        Path | None,
        typer.Option(
            help="Folder for large graphs: Concord keeps its views there instead of in memory, and a killed run "
            "continues when it is repeated. Emptied at the end."
        ),
    ] = None
    ray: Annotated[
        str | None,
        typer.Option(help="Address of a Ray cluster, or auto: Concord runs on its CPUs, which share --scratch."),
    ] = None
    ray_workers: Annotated[int | None, typer.Option(help="Workers on Ray; default: one for each CPU.", min=1)] = None


@dataclass(frozen=True)
class OutputOptions:
    """Files to write, and how to print."""

    out: Annotated[
        Path | None,
        typer.Option(help="Folder for predictions.csv, the model with its card, report.json, settings and split."),
    ] = None
    overwrite: Overwrite = False
    predictions: Annotated[
        Path | None,
        typer.Option(metavar=NEW_FILE, help="Write the predictions to this file: .csv, .parquet, .sqlite or .duckdb."),
    ] = None
    probabilities: Probabilities = False
    abstain_below: AbstainBelow = None
    report: Annotated[
        bool, typer.Option("--report", help="Write report.html into the folder of --out, or into this one.")
    ] = False
    json: Json = False


@with_option_groups
def fit(graph: GraphOptions, split: SplitOptions, run: RunOptions, output: OutputOptions) -> None:
    """Train a method on a few labels, predict all other nodes, and estimate which predictions are right.

    Your own graph is two tables, one of nodes and one of edges, or a table of edges for each kind. All labels train
    unless --hold-out keeps some for testing. Columns that you do not name are detected, and the choice is printed.

    On a benchmark graph a few labels train and all others test. Without a split option, two labels of each class
    train. Equal seeds draw equal splits for all methods.

    Examples:

        dccgcn fit --nodes nodes.csv --edges edges.csv --label topic --out runs/topics

        dccgcn fit --nodes nodes.csv --edges cites.csv --edges coauthor.csv --directed --label topic

        dccgcn fit cora --labels-per-class 2 --baseline gcn

        dccgcn fit citeseer --label-rate 0.005 --seed 3 --set k=10 --out runs/citeseer --json
    """
    from dccgcn.methods import get_method
    from dccgcn.report import page_columns
    from dccgcn.runtime import use_threads

    use_threads(run.threads)
    check_outputs(output)
    method = get_method(run.method)
    settings = method.published_settings(graph.dataset or "", read_settings(run))
    baseline = get_method(run.baseline) if run.baseline else None
    loaded = load_graph(graph, page_columns if output.out or output.report else None)
    parts = choose_split(loaded, split, run.seed)
    if baseline and (parts is None or len(parts.test) == 0):
        remedy = "Keep some for testing: --hold-out 0.2."
        raise SplitError("--baseline needs test nodes, but all labels train.", remedy)
    result, compile_seconds = train(loaded.tables or loaded.graph, parts, method, settings, run)
    compared = None
    if baseline:
        published, plain = baseline.published_settings(graph.dataset or ""), replace(run, scratch=None, ray=None)
        compared, _ = train(loaded.graph, parts, baseline, published, plain)
    write_files(result, output)
    if output.json:
        print_json({**result.summary(), **({"baseline": compared.summary()} if compared else {})})
        return
    on_top = [finding for finding in result.findings if finding.code == "never-predicted"]
    print_findings(on_top)
    if loaded.tables:
        print_predictions(result)
    if result.accuracy is not None:
        print_scores(result, compared, compile_seconds)
    if loaded.tables:
        print_rare_classes(result)
    print_findings(finding for finding in result.findings if finding not in on_top)
    print_written(output)


def check_outputs(output: OutputOptions) -> None:
    """Raise a DataFileError now, and not after training, if the results could not be written."""
    from dccgcn.store import check_run_folder
    from dccgcn.tables import check_frames

    if output.out:
        check_run_folder(output.out, output.overwrite)
        check_writable(output.out)
    elif output.report:
        check_output(report_path(output), output.overwrite)
        check_writable(report_path(output).parent)
    if output.predictions:
        if output.out and output.predictions.resolve().parent == output.out.resolve():
            remedy = "Name one elsewhere; that folder gets a predictions.csv."
            raise DccgcnError(f"{output.predictions} lies in the folder of --out.", remedy)
        check_frames(["predictions"], output.predictions, output.overwrite)


def read_settings(run: RunOptions) -> dict[str, Any]:
    """The settings that differ from the published ones: of the file, changed by --set."""
    from dccgcn.settings import parse_assignments, read_yaml

    assigned = parse_assignments(run.set_ or [])
    return {**(read_yaml(run.settings) if run.settings else {}), **assigned}


def load_graph(options: GraphOptions, shown: "Callable[[pd.DataFrame], pd.DataFrame] | None" = None) -> LoadedGraph:
    """The graph to train on; tables must have a column of labels."""
    loaded = options.load(shown)
    if loaded.tables and loaded.tables.columns.label is None:
        proposed = [f.text for f in loaded.graph.findings if f.code == "possible-labels"]
        remedy = " ".join(["Name the column: --label topic.", *proposed])
        raise DccgcnError(f"No column of {loaded.graph.name} looks like a label.", remedy)
    return loaded


def choose_split(loaded: LoadedGraph, options: SplitOptions, seed: int) -> "Split | None":
    """The split that the options describe; None if all labels of a user's own graph train."""
    from dccgcn.graph import splits

    exclusive = (options.labels_per_class, options.label_rate, options.split, options.hold_out)
    if sum(option is not None for option in exclusive) > 1:
        raise SplitError(
            "--labels-per-class, --label-rate, --split and --hold-out exclude one another.",
            "Give one of them, or none.",
        )
    graph, labels_per_class = loaded.graph, options.labels_per_class
    if loaded.tables is None and all(option is None for option in exclusive):
        labels_per_class = _DEFAULT_LABELS_PER_CLASS
    if labels_per_class is not None:
        return splits.per_class(graph, labels_per_class, seed, options.small_classes)
    if options.label_rate is not None:
        return splits.by_rate(graph, options.label_rate, seed, options.draw)
    if options.hold_out is not None:
        return splits.hold_out(graph, options.hold_out, seed)
    return None if options.split is None else load_split(loaded, options.split)


def load_split(loaded: LoadedGraph, name: str) -> "Split":
    """The published split of this name, or the split in a file."""
    from dccgcn.graph import Split

    published = loaded.published_splits
    if name in published:
        return published[name]
    if not Path(name).exists():
        known = ", ".join(published) or "none"
        raise SplitError(f"{name!r} is no file and no published split of this graph.", f"Published splits: {known}.")
    return Split.load(name, loaded.graph)


def train(
    graph: "NodeGraph | Tables", split: "Split | None", method: "base.Method", settings: "Settings", options: RunOptions
) -> tuple["Result", float]:
    """Run one method; return its result and the seconds that numba spent on JIT compilation."""
    from numba.core.event import TimingListener, install_listener

    from dccgcn.cluster import RayWorkers
    from dccgcn.workflow import run

    with progress_bar(method.name) as progress, install_listener("numba:compile", TimingListener()) as compilation:
        ray = RayWorkers(options.ray, options.ray_workers) if options.ray else None
        result = run(graph, split, method, settings, options.seed, progress, options.device, options.scratch, ray)
    return result, compilation.duration if compilation.done else 0.0


def write_files(result: "Result", output: OutputOptions) -> None:
    """Write the run folder (--out), the predictions (--predictions) and the report (--out, --report)."""
    from dccgcn.report import write_report

    command = shlex.join(["dccgcn", *sys.argv[1:]])
    columns = (output.probabilities, output.abstain_below)
    with progress_bar(result.method) as progress:
        if output.out:
            result.save(output.out, None, output.overwrite, *columns, command, progress)
        if output.predictions:
            result.write(output.predictions, *columns, output.overwrite, progress)
        if output.out or output.report:
            path = report_path(output) if output.report else None
            overwrite = output.overwrite or output.out is not None  # the page of a run is the run's own
            write_report(result, path, overwrite, output.out, command, progress)


def report_path(output: OutputOptions) -> Path:
    return (output.out or Path()) / "report.html"


def print_written(output: OutputOptions) -> None:
    """Where the files are."""
    if output.out:
        files = "predictions.csv, MODEL.md (the model card), the model, its settings and its split"
        print_note(f"Written to {output.out}: {files}")
    if output.predictions:
        print_note(f"Predictions: {output.predictions}")
    if output.report:
        print_note(f"Report: {report_path(output)}")
