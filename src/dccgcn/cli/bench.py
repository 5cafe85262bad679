"""dccgcn bench: how fast, as ratios."""

from typing import Annotated, Any

import typer

from dccgcn.cli.display import errors, output, print_json, table
from dccgcn.errors import DccgcnError

app = typer.Typer(
    help="Measure speed, as ratios of times taken interleaved in one run.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

PARITY = 1e-4  # relative difference of loss and gradients above which a ratio means nothing

Dataset = Annotated[str, typer.Option(help="The graph: see [b]dccgcn datasets[/b].")]
Rounds = Annotated[int, typer.Option(help="Interleaved rounds; medians are printed.", min=1)]
Threads = Annotated[int | None, typer.Option(help="Threads to use; default: one per core.", min=1)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]


@app.command("step")
def step(
    dataset: Dataset = "cora",
    labels_per_class: Annotated[int, typer.Option(help="Training labels drawn from each class.", min=1)] = 20,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="OPTION=VALUE", help="Change a setting.")] = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Leave the straightforward form out, where it cannot hold the graph.")
    ] = False,
    rounds: Rounds = 10,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """One training step of DCC-GCN, calibration included, against the same step written the straightforward way.

    Both take their steps in turn from the same parameters; loss and gradients are compared first.
    """
    from dccgcn.benchmarks.step import bench_step
    from dccgcn.settings import parse_assignments
    from dccgcn.threads import use_threads

    used = use_threads(threads)
    with errors.status("measuring"):
        measured = bench_step(dataset, parse_assignments(set_ or []), labels_per_class, rounds, used, not alone)
    if json:
        print_json(measured.to_json())
    else:
        title = f"One DCC-GCN step on {dataset}, {measured.labels} labels, m = {measured.m}, {used} threads"
        _print(title, measured.to_json(), ("dataset", "labels", "m", "threads"))
    _check_parity(measured.parity)


@app.command("gcn")
def gcn(
    dataset: Dataset = "cora",
    hidden: Annotated[int, typer.Option(help="Width of the hidden layer.", min=1)] = 256,
    rounds: Rounds = 10,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """One training epoch of GCN against PyG's layers on dense features, as in PyG's own example.

    Ours is measured twice: on the whole graph as PyG computes it, and on what the labelled nodes depend on, as it
    trains. All take their epochs in turn; loss and gradients are compared first, from the same weights.
    """
    from dccgcn.benchmarks.gcn import bench_gcn
    from dccgcn.threads import use_threads

    used = use_threads(threads)
    with errors.status("measuring"):
        measured = bench_gcn(dataset, hidden, rounds, used)
    if json:
        print_json(measured.to_json())
    else:
        title = f"One GCN epoch on {dataset}, {measured.labels} labels, hidden {hidden}, {used} threads"
        _print(title, measured.to_json(), ("dataset", "labels", "hidden", "threads"))
    _check_parity(measured.parity)


@app.command("knn")
def knn(
    dataset: Dataset = "cora",
    k: Annotated[int, typer.Option(help="Neighbours of each node.", min=1)] = 5,
    rounds: Rounds = 3,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """The exact cosine kNN graph against scikit-learn's brute force, with the same neighbours."""
    from dccgcn.benchmarks.knn import bench_knn
    from dccgcn.threads import use_threads

    used = use_threads(threads)
    with errors.status("measuring"):
        measured = bench_knn(dataset, k, rounds, used)
    if json:
        print_json(measured.to_json())
    else:
        _print(
            f"The feature graph of {dataset}, k = {k}, {used} threads", measured.to_json(), ("dataset", "k", "threads")
        )
    if not measured.same_neighbours:
        raise DccgcnError("The two searches found other neighbours.", "The ratio means nothing until they agree.")


def _check_parity(parity: float | None) -> None:
    if parity is not None and not parity < PARITY:
        raise DccgcnError(f"The two forms differ by {parity:.1e}.", "The ratio means nothing until they agree.")


def _print(title: str, measured: dict[str, Any], in_title: tuple[str, ...]) -> None:
    shown = table(title, "", "")
    for what, value in measured.items():
        if what not in in_title and value is not None:
            text = f"{value:.3g}" if isinstance(value, float) else str(value)
            shown.add_row(what.replace("_", " "), text)
    output.print(shown)
