"""dccgcn compare: several methods on the same splits."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dccgcn.cli.display import output, print_json, runs_progress, table
from dccgcn.cli.options import Device
from dccgcn.errors import SplitError

if TYPE_CHECKING:
    from dccgcn.experiments.overview import Standing


def compare(
    name: Annotated[str, typer.Argument(help="The graph: see [b]dccgcn datasets[/b].")],
    methods: Annotated[str, typer.Option(help="Methods, separated by commas; differences are to the first.")],
    label_rate: Annotated[float | None, typer.Option(help="Share of the nodes to train on, such as 0.005.")] = None,
    labels_per_class: Annotated[int | None, typer.Option(help="Training labels drawn from each class.", min=1)] = None,
    splits: Annotated[int, typer.Option(help="Number of splits, with seeds from --first-seed.", min=1)] = 10,
    first_seed: Annotated[int, typer.Option(help="Seed of the first split; from 1000: development.", min=0)] = 0,
    device: Device = "cpu",
    jobs: Annotated[int, typer.Option(help="Processes of one thread each.", min=1)] = 2,
    store: Annotated[Path, typer.Option(help="Folder for finished runs; a second call continues from it.")] = Path(
        "runs/compare"
    ),
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run methods on the same splits and print a leaderboard.

    Each finished run is kept, so a second call continues where the first was stopped, and further methods or
    splits cost only what is new.

    Example:

        dccgcn compare cora --methods dcc-gcn,gcn --label-rate 0.005 --splits 10
    """
    from dccgcn.datasets import describe
    from dccgcn.experiments.overview import leaderboard
    from dccgcn.experiments.results import Results
    from dccgcn.experiments.runner import local_pool, run_jobs
    from dccgcn.experiments.spec import Column, Spec, System, jobs_of
    from dccgcn.models.registry import get_method
    from dccgcn.runtime.device import check_device

    describe(name)
    check_device(device)  # before any process is started
    names = list(dict.fromkeys(get_method(method.strip()).name for method in methods.split(",")))
    if label_rate is not None and labels_per_class is not None:
        raise SplitError("--labels-per-class and --label-rate exclude one another.", "Give one of them, or none.")
    draw, amount = ("rate", label_rate) if label_rate is not None else ("per-class", float(labels_per_class or 2))
    column = Column(name, draw, amount, splits)
    systems = tuple(System(method, method) for method in names)
    spec = Spec("compare", "overview", (column,), systems, splits, first_seed=first_seed)
    with runs_progress(f"compare on {name}") as on_progress:
        rows, _ = run_jobs(jobs_of([spec], splits), store / f"{name}.jsonl", local_pool(jobs, device), on_progress)
    standings = leaderboard(Results(spec, rows))
    if json:
        listed = [standing.to_json() for standing in standings]
        print_json({"dataset": name, "labels": column.labels, "splits": splits, "standings": listed})
    else:
        _print(f"{name}, {column.labels}, {splits} splits from seed {first_seed}", names[0], standings)


def _print(title: str, first: str, standings: "list[Standing]") -> None:
    shown = table(title, "method", "accuracy", "macro-F1", f"to {first}", "95 % interval", "seconds")
    for one in standings:
        d = one.difference
        difference = (f"{d.mean:+.1f}", d.interval) if d else ("", "")
        shown.add_row(one.method, str(one.accuracy), str(one.macro_f1), *difference, f"{one.seconds:.1f}")
    output.print(shown)
