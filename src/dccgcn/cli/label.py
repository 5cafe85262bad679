"""dccgcn label: label a graph in the browser."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dccgcn.cli.display import output, print_note
from dccgcn.cli.options import NEW_FILE, GraphOptions, Overwrite, Set, Threads, with_option_groups
from dccgcn.runtime import missing_extra
from dccgcn.text import printable

if TYPE_CHECKING:
    from dccgcn.label import Annotations, Source


@dataclass(frozen=True)
class LabelSource(GraphOptions):
    """The graph to label: a run's folder, two tables, or a benchmark graph without its labels."""

    dataset: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="Folder of a run, or a benchmark graph, whose labels are then hidden."),
    ] = None


@dataclass(frozen=True)
class LabelOptions:
    """The method, the log, where to listen, and what to write instead."""

    classes: Annotated[str | None, typer.Option(help="Names of classes, separated by commas.")] = None
    method: Annotated[str, typer.Option(help="With tables: the method. A run keeps its own.")] = "concord"
    set_: Set = None
    seed: Annotated[int, typer.Option(help="With tables: the seed.", min=0)] = 0
    log: Annotated[
        Path | None,
        typer.Option(help="File of the labels; default: beside the table of nodes, or in the run's folder."),
    ] = None
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Write what can be read of a damaged log to a new file, and start no server."),
    ] = False
    export: Annotated[
        Path | None,
        typer.Option(
            metavar=NEW_FILE, help="Write the labels to .csv, .parquet, .sqlite or .duckdb, and start no server."
        ),
    ] = None
    answers: Annotated[
        Path | None,
        typer.Option(metavar=NEW_FILE, help="Write the predictions that follow from the labels, and start no server."),
    ] = None
    overwrite: Overwrite = False
    host: Annotated[str, typer.Option(help="Address to listen on; only this machine by default.")] = "127.0.0.1"
    port: Annotated[int | None, typer.Option(help="Port to listen on.", min=0, max=65535)] = None
    open: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True
    threads: Threads = None


@with_option_groups
def label(graph: LabelSource, options: LabelOptions) -> None:
    """Label a graph in the browser: after every label all nodes are predicted anew, with trust and evidence.

    No label at all is a fine start: the first questions cover the graph. Every label is on disk before the page shows
    it as done; start the command again to go on. Only this machine can reach the page, and only with the token of the
    address that is printed.

    Examples:

        dccgcn label --nodes nodes.csv --edges edges.csv --label topic --classes physics,biology

        dccgcn label runs/topics

        dccgcn label --nodes nodes.csv --edges edges.csv --label topic --export labels.csv
    """
    from dccgcn.label import EventLog, read_events
    from dccgcn.runtime import use_threads

    use_threads(options.threads)
    source = load_source(graph, options)
    path = log_path(graph, options)
    if options.repair:
        repair_log(path, source)
        return
    if options.export or options.answers:
        events = read_events(path, source.fingerprint) if options.log or path.exists() else []
        write_answers(source, source.replay(events), options)
        return
    try:
        from dccgcn.label import Session, serve
    except ModuleNotFoundError as error:
        raise missing_extra(error.name or "starlette", "label", "The labelling page") from None
    with closing(EventLog(path, source.fingerprint, warn)) as log:
        print_note(f"Labels are kept in {path}. Stop with Ctrl-C.")
        serve(Session(source, log), options.host, options.port, print_address, options.open)


def print_address(address: str) -> None:
    """Print the address of the page at once, even into a pipe."""
    output.print(address, soft_wrap=True)
    output.file.flush()


def warn(text: str) -> None:
    print_note(f"Warning: {printable(text)}")


def repair_log(path: Path, source: "Source") -> None:
    """Write what can be read of a damaged log to a new file, and say what is lost."""
    from dccgcn.label import repair

    repaired, lost = repair(path, source.fingerprint)
    for text in lost:
        warn(text)
    print_note("Nothing is damaged; no file was written." if repaired is None else f"Written to {repaired}")


def load_source(graph: LabelSource, options: LabelOptions) -> "Source":
    """The graph of a run, of two tables, or a benchmark graph."""
    import numpy as np

    from dccgcn.label import Source
    from dccgcn.settings import parse_assignments
    from dccgcn.store import load_model

    classes = [name for name in (options.classes or "").split(",") if name.strip()]
    if graph.dataset and Path(graph.dataset).is_dir():
        return Source.from_model(load_model(graph.dataset), graph.nodes, classes)
    loaded = graph.load(lambda rows: rows)
    train = loaded.graph.labelled if loaded.tables else np.array([], dtype=np.int64)
    return Source.from_graph(
        loaded.graph,
        train,
        classes,
        method=options.method,
        settings=parse_assignments(options.set_ or []),
        seed=options.seed,
        tables=loaded.tables,
    )


def log_path(graph: LabelSource, options: LabelOptions) -> Path:
    """Where the labels are kept."""
    from dccgcn.store import LABELS

    if options.log:
        return options.log
    if graph.dataset:
        return Path(graph.dataset) / LABELS if Path(graph.dataset).is_dir() else Path(f"{graph.dataset}.{LABELS}")
    assert graph.nodes is not None
    return graph.nodes.with_name(f"{graph.nodes.name.split('.')[0]}.{LABELS}")


def write_answers(source: "Source", labels: "Annotations", options: LabelOptions) -> None:
    """Write labels and predictions; a database that is named for both gets both as tables."""
    from dccgcn.label import labels_frame, predictions_frame
    from dccgcn.tables import write_frames

    files: dict[Path, dict[str, Any]] = {}
    if options.export:
        files.setdefault(options.export, {})["labels"] = labels_frame(source, labels)
    if options.answers:
        files.setdefault(options.answers, {})["predictions"] = predictions_frame(source.fit(labels))
    for path, tables in files.items():
        write_frames(tables, path, options.overwrite)
        print_note(f"Written to {path}: {', '.join(tables)}")
