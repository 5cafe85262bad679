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
    from dccgcn.experiments.overview import standings
    from dccgcn.experiments.runner import local_pool, run_jobs
    from dccgcn.experiments.study import Cell, Study, System
    from dccgcn.models.registry import get_method
    from dccgcn.runtime.device import get_device

    describe(name)
    get_device(device)  # before any process is started
    systems = tuple(System(get_method(method.strip()).name) for method in methods.split(","))
    if label_rate is not None and labels_per_class is not None:
        raise SplitError("--labels-per-class and --label-rate exclude one another.", "Give one of them, or none.")
    draw, amount = ("rate", label_rate) if label_rate is not None else ("per-class", float(labels_per_class or 2))
    cell = Cell(name, draw, amount, splits)
    study = Study((cell,), systems, first_seed)
    with runs_progress(f"compare on {name}") as tell:
        rows = run_jobs(study.jobs(), store / f"{name}.jsonl", local_pool(jobs, device), tell)
    lines = standings(study, cell, rows)
    if json:
        print_json(
            {"dataset": name, "labels": cell.labels, "splits": splits, "standings": [s.to_json() for s in lines]}
        )
    else:
        _print(f"{name}, {cell.labels}, {splits} splits from seed {first_seed}", systems[0].method, lines)


def _print(title: str, first: str, lines: "list[Standing]") -> None:
    shown = table(title, "method", "accuracy", "macro-F1", f"to {first}", "95 % interval", "seconds")
    for line in lines:
        d = line.difference
        interval = f"{d.low:+.1f} to {d.high:+.1f}" if d and d.low is not None and d.high is not None else ""
        shown.add_row(
            line.method,
            str(line.accuracy),
            str(line.macro_f1),
            f"{d.mean:+.1f}" if d else "",
            interval,
            f"{line.seconds:.1f}",
        )
    output.print(shown)
