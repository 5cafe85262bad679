"""dccgcn bench: how fast, as ratios; and what parts of the package are worth, as accuracies."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dccgcn.cli.display import errors, output, print_json, progress_bar, table
from dccgcn.errors import DccgcnError

if TYPE_CHECKING:
    from dccgcn.evaluation.paired import PairedDifference

app = typer.Typer(
    help="Measure speed, as ratios of times taken interleaved in one run, and what new nodes and chosen labels bring.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

METHOD = "concord"
PARITY = 1e-4  # relative difference of loss and gradients above which a ratio means nothing

Dataset = Annotated[str, typer.Option(help="The graph: see [b]dccgcn datasets[/b].")]
Rounds = Annotated[int, typer.Option(help="Interleaved rounds; medians are printed.", min=1)]
Threads = Annotated[int | None, typer.Option(help="Threads to use; default: one per core.", min=1)]
Graphs = Annotated[str, typer.Option(help="Graphs, separated by commas.")]
MethodName = Annotated[str, typer.Option("--method", help="See [b]dccgcn methods[/b].")]
Store = Annotated[
    Path | None, typer.Option(help="File to keep every start in as it is done; a second call goes on from there.")
]
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


@app.command("new-nodes")
def new_nodes(
    graphs: Graphs = "cora,pubmed",
    method: MethodName = METHOD,
    labels_per_class: Annotated[int, typer.Option(help="Training labels drawn from each class.", min=1)] = 20,
    share: Annotated[
        float, typer.Option(help="Share of the nodes that training does not see.", min=0.01, max=0.9)
    ] = 0.2,
    splits: Annotated[int, typer.Option(help="Number of splits, with seeds from 0.", min=1)] = 10,
    threads: Threads = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Accuracy on nodes that came after training, against a training that had them, on the same nodes."""
    from dccgcn.benchmarks.new_nodes import bench_new_nodes
    from dccgcn.methods import get_method
    from dccgcn.threads import use_threads

    use_threads(threads)
    chosen = get_method(method)
    measured = []
    for name in graphs.split(","):
        with progress_bar(name) as progress:
            told = partial(progress, "splits")
            measured.append(bench_new_nodes(name.strip(), chosen, labels_per_class, share, range(splits), store, told))
    if json:
        print_json([row.to_json() for row in measured])
        return
    title = (
        f"{method}, {labels_per_class} labels per class, {share:.0%} of the nodes new, {splits} splits: accuracy in %"
    )
    shown = table(title, "graph", "new nodes", "there at training", "came later", "difference", "95 % interval")
    for row in measured:
        shown.add_row(row.dataset, str(row.held_out), str(row.there), str(row.new), *_difference(row.difference))
    output.print(shown)


@app.command("label-next")
def label_next(
    graphs: Graphs = "cora,citeseer,pubmed",
    method: MethodName = METHOD,
    labels_per_class: Annotated[int, typer.Option(help="Labels of each class at the start.", min=1)] = 2,
    count: Annotated[int, typer.Option(help="Labels to ask for.", min=1)] = 10,
    starts: Annotated[int, typer.Option(help="Number of starts, with seeds from --first-seed.", min=1)] = 50,
    first_seed: Annotated[int, typer.Option(help="Seed of the first start; from 1000: development.", min=0)] = 0,
    threads: Threads = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Accuracy after ten further labels: of the nodes that label-next lists, of random and of uncertain ones."""
    from dccgcn.benchmarks.label_next import bench_label_next
    from dccgcn.methods import get_method
    from dccgcn.threads import use_threads

    use_threads(threads)
    chosen = get_method(method)
    seeds = range(first_seed, first_seed + starts)
    measured = []
    for name in graphs.split(","):
        with progress_bar(name) as progress:
            told = partial(progress, "starts")
            measured.append(bench_label_next(name.strip(), chosen, labels_per_class, count, seeds, store, told))
    if json:
        print_json([row.to_json() for row in measured])
        return
    title = f"Accuracy in % of {method}: {labels_per_class} labels per class and {count} more, {starts} starts"
    shown = table(title, "graph", "start", "chosen", "random", "uncertain", "over random", "over uncertain")
    for row in measured:
        ways = (str(way) for way in (row.start, row.chosen, row.random, row.uncertain))
        over = (" / ".join(_difference(found)) for found in (row.over_random, row.over_uncertain))
        shown.add_row(row.dataset, *ways, *over)
    output.print(shown)


def _difference(found: "PairedDifference") -> tuple[str, str]:
    interval = "" if found.low is None or found.high is None else f"{found.low:+.1f} to {found.high:+.1f}"
    return f"{found.mean:+.1f}", interval


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
