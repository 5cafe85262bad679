"""dccgcn compare: several methods on the same splits."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dccgcn.cli.display import output, print_findings, print_json, progress_bar, runs_progress, table
from dccgcn.cli.options import Device, GraphOptions, with_option_groups
from dccgcn.errors import SplitError

if TYPE_CHECKING:
    from dccgcn.workflow.compare import MethodScore


@with_option_groups
def compare(
    graph: GraphOptions,
    methods: Annotated[str, typer.Option(help="Methods, separated by commas; differences are to the first.")],
    label_rate: Annotated[float | None, typer.Option(help="Share of the nodes to train on, such as 0.005.")] = None,
    labels_per_class: Annotated[int | None, typer.Option(help="Training labels drawn from each class.", min=1)] = None,
    splits: Annotated[int, typer.Option(help="Number of splits, with seeds from --first-seed.", min=1)] = 10,
    folds: Annotated[int, typer.Option(help="With your own tables: parts of the labels, each tested once.", min=2)] = 5,
    repeats: Annotated[int, typer.Option(help="With your own tables: how often folds are drawn.", min=1)] = 3,
    first_seed: Annotated[int, typer.Option(help="Seed of the first split; from 1000: development.", min=0)] = 0,
    device: Device = "cpu",
    jobs: Annotated[int, typer.Option(help="Processes of one thread each.", min=1)] = 2,
    store: Annotated[Path, typer.Option(help="Folder for finished runs; a second call continues from it.")] = Path(
        "runs/compare"
    ),
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run methods on the same splits and print a leaderboard.

    On your own tables the labels are split into folds: each part is tested once, by methods trained on the others. The
    intervals are for the difference to the first method, and a sentence says whether there are enough labels to tell
    the methods apart.

    Each finished run is kept, so a second call continues where the first was stopped, and further methods, folds or
    splits cost only what is new. A changed table is another graph, whose runs are made anew.

    Examples:

        dccgcn compare cora --methods dcc-gcn,gcn --label-rate 0.005 --splits 10

        dccgcn compare --nodes nodes.csv --edges edges.csv --label topic --methods concord,lp,gcn
    """
    from dccgcn.datasets import describe
    from dccgcn.experiments.overview import leaderboard
    from dccgcn.experiments.results import Results
    from dccgcn.experiments.runner import local_pool, run_jobs
    from dccgcn.experiments.spec import Column, Spec, System, jobs_of
    from dccgcn.models.registry import get_method
    from dccgcn.runtime.device import check_device

    check_device(device)  # before any process is started
    names = list(dict.fromkeys(get_method(method.strip()).name for method in methods.split(",")))
    if graph.dataset is None:
        if label_rate is not None or labels_per_class is not None:
            raise SplitError(
                "Methods are compared over folds of your own labels.", "Leave --labels-per-class and --label-rate out."
            )
        _compare_tables(graph, names, folds, repeats, first_seed, device, store, json)
        return
    name = graph.dataset
    describe(name)
    if label_rate is not None and labels_per_class is not None:
        raise SplitError("--labels-per-class and --label-rate exclude one another.", "Give one of them, or none.")
    draw, amount = ("rate", label_rate) if label_rate is not None else ("per-class", float(labels_per_class or 2))
    column = Column(name, draw, amount, splits)
    systems = tuple(System(method, method) for method in names)
    spec = Spec("compare", "overview", (column,), systems, splits, first_seed=first_seed)
    if graph.directed:
        raise SplitError("Benchmark graphs are compared without direction.", "Leave --directed out.")
    if graph.nodes or graph.edges:
        graph.load()  # both a benchmark graph and tables: an error
    with runs_progress(f"compare on {name}") as on_progress:
        rows, _ = run_jobs(jobs_of([spec], splits), store / f"{name}.jsonl", local_pool(jobs, device), on_progress)
    standings = leaderboard(Results(spec, rows))
    if json:
        listed = [asdict(standing) for standing in standings]
        print_json({"dataset": name, "labels": column.labels, "splits": splits, "standings": listed})
    else:
        _print(f"{name}, {column.labels}, {splits} splits from seed {first_seed}", names[0], standings)


def _compare_tables(
    options: GraphOptions,
    names: list[str],
    folds: int,
    repeats: int,
    seed: int,
    device: str,
    store: Path,
    json: bool,
) -> None:
    """Compare methods over folds of the labels of two tables. Finished runs are kept in the folder ``store``."""
    from dccgcn.cli.fit import load_graph
    from dccgcn.experiments.fold_store import append_fold_score, read_fold_scores
    from dccgcn.models.registry import get_method
    from dccgcn.runtime.lock import lock_file
    from dccgcn.workflow.compare import compare_methods, conclusion

    graph = load_graph(options).graph
    methods = [get_method(name) for name in names]
    kept = store / "tables.jsonl"
    with progress_bar("compare") as progress, lock_file(kept):
        scores = compare_methods(
            graph,
            methods,
            folds,
            repeats,
            seed,
            device,
            lambda done, total: progress("runs", done, total),
            finished=read_fold_scores(kept),
            on_finished=partial(append_fold_score, kept),
        )
    if json:
        listed = [score.to_json() for score in scores]
        print_json(
            {
                "graph": graph.name,
                "folds": folds,
                "repeats": repeats,
                "scores": listed,
                "conclusion": conclusion(scores),
            }
        )
        return
    labels = len(graph.labelled)
    _print(f"{graph.name}, {labels} labels in {folds} folds, drawn {repeats} times", names[0], scores)
    if len(scores) > 1:
        output.print(conclusion(scores), soft_wrap=True)
    print_findings(graph.findings)


def _print(title: str, first: str, standings: "Sequence[MethodScore]") -> None:
    shown = table(title, "method", "accuracy", "macro-F1", f"to {first}", "95 % interval", "seconds")
    for one in standings:
        d = one.difference
        difference = (f"{d.mean:+.1f}", d.interval) if d else ("", "")
        shown.add_row(one.method, str(one.accuracy), str(one.macro_f1), *difference, f"{one.seconds:.1f}")
    output.print(shown)
