"""dccgcn bench: how fast, as ratios; and what parts of the package are worth, as accuracies."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dccgcn.cli.display import errors, output, percent, print_json, progress_bar, table
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
    from dccgcn.runtime.threads import use_threads
    from dccgcn.settings import parse_assignments

    used = use_threads(threads)
    with errors.status("measuring"):
        measured = bench_step(dataset, parse_assignments(set_ or []), labels_per_class, rounds, used, not alone)
    title = f"One DCC-GCN step on {dataset}, {measured.labels} labels, m = {measured.m}, {used} threads"
    _show_compared(title, measured.to_json(), ("dataset", "labels", "m", "threads"), json)


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
    from dccgcn.runtime.threads import use_threads

    used = use_threads(threads)
    with errors.status("measuring"):
        measured = bench_gcn(dataset, hidden, rounds, used)
    title = f"One GCN epoch on {dataset}, {measured.labels} labels, hidden {hidden}, {used} threads"
    _show_compared(title, measured.to_json(), ("dataset", "labels", "hidden", "threads"), json)


@app.command("attention")
def attention(dataset: Dataset = "cora", rounds: Rounds = 20, threads: Threads = None, json: Json = False) -> None:
    """GAT's first layer, forward and back, against PyG's GATConv.

    Both take their turns on the same input, with GAT's published settings; outputs and gradients are compared first.
    """
    from dccgcn.benchmarks.attention import bench_attention
    from dccgcn.runtime.threads import use_threads

    used = use_threads(threads)
    with errors.status("measuring"):
        measured = bench_attention(dataset, rounds, used)
    title = f"One attention layer on {dataset}, {measured.heads} heads of {measured.width}, {used} threads"
    _show_compared(title, measured.to_json(), ("dataset", "heads", "width", "threads"), json)


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
    from dccgcn.runtime.threads import use_threads

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
    from dccgcn.models.registry import get_method
    from dccgcn.runtime.threads import use_threads

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
    from dccgcn.models.registry import get_method
    from dccgcn.runtime.threads import use_threads

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


@app.command("concord")
def concord(
    graphs: Graphs = "cora,citeseer,pubmed",
    labels_per_class: Annotated[
        int | None, typer.Option(help="Training labels drawn from each class; default: 20.", min=1)
    ] = None,
    label_rate: Annotated[float | None, typer.Option(help="Share of the nodes to train on, such as 0.005.")] = None,
    rounds: Rounds = 3,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """A run of Concord against one of DCC-GCN with its published settings, on the same kernels and splits.

    The views are built before. Concord's first run on a graph makes its representations too, and is shown apart.
    """
    from dccgcn.benchmarks.concord import bench_concord
    from dccgcn.runtime.threads import use_threads

    if labels_per_class is not None and label_rate is not None:
        raise DccgcnError("--labels-per-class and --label-rate exclude one another.", "Give one of them.")
    used = use_threads(threads)
    measured = []
    for name in graphs.split(","):
        with progress_bar(name) as progress:
            told = partial(progress, "rounds")
            measured.append(bench_concord(name.strip(), labels_per_class, label_rate, rounds, used, told))
    if json:
        print_json([row.to_json() for row in measured])
        return
    title = f"A run of Concord against one of DCC-GCN, views built before, {rounds} rounds, {used} threads"
    _print_side_by_side(title, "graph", [row.dataset for row in measured], {
        "labels": [str(row.labels) for row in measured],
        "dcc-gcn": [f"{row.dcc_gcn_s:.1f} s" for row in measured],
        "concord, first run": [f"{row.first_s:.2f} s, {row.first_ratio:.0f}x" for row in measured],
        "concord, later runs": [f"{row.concord_s:.2f} s, {row.ratio:.0f}x" for row in measured],
        "concord, accuracy in %": [str(row.concord_accuracy) for row in measured],
        "dcc-gcn, accuracy in %": [str(row.dcc_gcn_accuracy) for row in measured],
    })  # fmt: skip


@app.command("scale")
def scale(
    nodes: Annotated[str, typer.Option(help="Sizes, separated by commas.")] = "10000,100000,1000000",
    edges_per_node: Annotated[int, typer.Option(help="Edges for each node.", min=1)] = 10,
    features: Annotated[int, typer.Option(help="Words that features are made of.", min=1)] = 500,
    labels_per_class: Annotated[int, typer.Option(help="Training labels of each of ten classes.", min=1)] = 20,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """How Concord's time and memory grow with the graph: synthetic graphs, each size in a process of its own."""
    from dccgcn.benchmarks.scale import bench_scale, growth
    from dccgcn.runtime.threads import use_threads

    try:
        sizes = [int(float(size)) for size in nodes.split(",")]
    except ValueError:
        raise DccgcnError(f"{nodes!r} are no sizes.", "Write numbers with commas, such as 10000,100000.") from None
    used = use_threads(threads)
    measured = []
    for size in sizes:
        with errors.status(f"{size} nodes"):
            measured.append(bench_scale(size, edges_per_node, features, labels_per_class, used))
    grown = [growth(one, other) for one, other in pairwise(measured) if one.nodes != other.nodes]
    if json:
        print_json({"sizes": [row.to_json() for row in measured], "growth": [row.to_json() for row in grown]})
        return
    title = f"Concord on synthetic graphs, {features} features, {labels_per_class} labels per class, {used} threads"
    recall = [["exact" if share is None else f"{share:.3f}" for share in row.recall] for row in measured]
    _print_side_by_side(title, "nodes", [f"{row.nodes:,}" for row in measured], {
        "edges": [f"{row.edges:,}" for row in measured],
        "generate": [f"{row.generate_s:.1f} s" for row in measured],
        "views": [f"{row.views_s:.1f} s" for row in measured],
        "represent": [f"{row.represent_s:.1f} s" for row in measured],
        "answer": [f"{row.answer_s:.1f} s" for row in measured],
        "train in all": [f"{row.train_s:.1f} s" for row in measured],
        "peak memory": [f"{row.peak_mb:,.0f} MB" for row in measured],
        "recall of the feature graphs": [" / ".join(shares) for shares in recall],
        "accuracy": [percent(row.accuracy) for row in measured],
    })  # fmt: skip
    for step in grown:
        output.print(
            f"{step.from_nodes:,} to {step.to_nodes:,} nodes: per tenfold {step.seconds:.1f} times the time "
            f"(exponent {step.exponent:.2f}), {step.memory:.1f} times the memory"
        )


def _print_side_by_side(title: str, what: str, names: Sequence[str], rows: dict[str, list[str]]) -> None:
    """A column for each thing measured: there are fewer of them than there are numbers about each."""
    shown = table(title, what, *names)
    for name, values in rows.items():
        shown.add_row(name, *values)
    output.print(shown)


def _difference(found: "PairedDifference") -> tuple[str, str]:
    interval = "" if found.low is None or found.high is None else f"{found.low:+.1f} to {found.high:+.1f}"
    return f"{found.mean:+.1f}", interval


def _show_compared(title: str, measured: dict[str, Any], in_title: tuple[str, ...], json: bool) -> None:
    """Print what two forms of the same took, and refuse it if they are not the same."""
    if json:
        print_json(measured)
    else:
        _print(title, measured, in_title)
    parity = measured["parity"]
    if parity is not None and not parity < PARITY:
        raise DccgcnError(f"The two forms differ by {parity:.1e}.", "The ratio means nothing until they agree.")


def _print(title: str, measured: dict[str, Any], in_title: tuple[str, ...]) -> None:
    shown = table(title, "", "")
    for what, value in measured.items():
        if what not in in_title and value is not None:
            text = f"{value:.3g}" if isinstance(value, float) else str(value)
            shown.add_row(what.replace("_", " "), text)
    output.print(shown)
