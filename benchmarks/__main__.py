"""python -m benchmarks: speed, memory and accuracy against other implementations, one table for each."""

import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.show import Measured, plain, print_table, show
from dccgcn.cli.display import errors, print_error, print_json, progress_bar
from dccgcn.cli.options import Json, MethodName, Set, Threads
from dccgcn.errors import DccgcnError
from dccgcn.methods.base import get_method
from dccgcn.runtime.device import use_threads
from dccgcn.settings import parse_assignments

app = typer.Typer(
    help="Measure speed, memory and accuracy against other implementations. Times are interleaved within one run.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

_MAX_DIFFERENCE = 1e-4  # of loss and gradients, relative; above it the two times are not comparable

Dataset = Annotated[str, typer.Option(help="A benchmark graph: see [b]dccgcn datasets[/b].")]
Graphs = Annotated[str, typer.Option(help="Benchmark graphs, separated by commas.")]
LabelsPerClass = Annotated[int, typer.Option(help="Training labels drawn from each class.", min=1)]
Rounds = Annotated[int, typer.Option(help="Interleaved rounds; medians are printed.", min=1)]


@app.command("step")
def step(
    dataset: Dataset = "cora",
    labels_per_class: LabelsPerClass = 20,
    set_: Set = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Skip the straightforward implementation, which may need too much memory.")
    ] = False,
    rounds: Rounds = 10,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Time one training step of DCC-GCN, with calibration, against a straightforward PyG implementation.

    The steps are interleaved and start from equal parameters. Loss and gradients are compared first.
    """
    from benchmarks.step import bench_step

    with errors.status("measuring"):
        m = bench_step(
            dataset, parse_assignments(set_ or []), labels_per_class, rounds, use_threads(threads), not alone
        )
    show("One training step of DCC-GCN", m, json)
    _check_parity(m["parity"])


@app.command("gcn")
def gcn(
    dataset: Dataset = "cora",
    hidden: Annotated[int, typer.Option(help="Width of the hidden layer.", min=1)] = 256,
    rounds: Rounds = 10,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Time one training epoch of GCN against PyG's layers on dense features, as in PyG's own example.

    Ours is timed twice: on the whole graph as in PyG, and on the receptive field of the labelled nodes as in fit. The
    epochs are interleaved. Loss and gradients are compared first, from equal weights.
    """
    from benchmarks.gcn import bench_gcn

    with errors.status("measuring"):
        m = bench_gcn(dataset, hidden, rounds, use_threads(threads))
    show("One training epoch of GCN", m, json)
    _check_parity(m["parity"])


@app.command("attention")
def attention(dataset: Dataset = "cora", rounds: Rounds = 20, threads: Threads = None, json: Json = False) -> None:
    """Time GAT's first layer, forward and backward, against PyG's GATConv.

    Both run in turn on the same input with GAT's published settings. Outputs and gradients are compared first.
    """
    from benchmarks.attention import bench_attention

    with errors.status("measuring"):
        m = bench_attention(dataset, rounds, use_threads(threads))
    show("One attention layer, forward and backward", m, json)
    _check_parity(m["parity"])


@app.command("knn")
def knn(
    dataset: Dataset = "cora",
    k: Annotated[int, typer.Option(help="Neighbours of each node.", min=1)] = 5,
    rounds: Rounds = 3,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Time the exact cosine kNN search against scikit-learn's brute force, and compare the neighbours."""
    from benchmarks.knn import bench_knn

    with errors.status("measuring"):
        m = bench_knn(dataset, k, rounds, use_threads(threads))
    show("Exact cosine kNN", m, json)
    if not m["same_neighbours"]:
        raise DccgcnError("The two searches found different neighbours.", "Times can be compared only if they agree.")


@app.command("new-nodes")
def new_nodes(
    graphs: Graphs = "cora,pubmed",
    method: MethodName = "concord",
    labels_per_class: LabelsPerClass = 20,
    share: Annotated[float, typer.Option(help="Share of the nodes removed for training.", min=0.01, max=0.9)] = 0.2,
    splits: Annotated[int, typer.Option(help="Number of splits, with seeds from 0.", min=1)] = 10,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Compare the accuracy on nodes added after training with that of training on the whole graph."""
    from benchmarks.new_nodes import bench_new_nodes

    use_threads(threads)
    measured = each_graph(
        graphs,
        "splits",
        bench_new_nodes,
        method=get_method(method),
        labels_per_class=labels_per_class,
        share=share,
        seeds=range(splits),
    )
    show(f"{share:.0%} of the nodes added after training, {splits} splits: accuracy in %", measured, json)


@app.command("label-next")
def label_next(
    graphs: Graphs = "cora,citeseer,pubmed",
    method: MethodName = "concord",
    labels_per_class: Annotated[int, typer.Option(help="Labels of each class at the start.", min=1)] = 2,
    count: Annotated[int, typer.Option(help="Number of labels to add.", min=1)] = 10,
    starts: Annotated[int, typer.Option(help="Number of starts, with seeds from --first-seed.", min=1)] = 50,
    first_seed: Annotated[int, typer.Option(help="Seed of the first start; from 1000: development.", min=0)] = 0,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Compare label-next with random and with uncertainty sampling: accuracy after adding as many labels."""
    from benchmarks.label_next import bench_label_next

    use_threads(threads)
    measured = each_graph(
        graphs,
        "starts",
        bench_label_next,
        method=get_method(method),
        labels_per_class=labels_per_class,
        count=count,
        seeds=range(first_seed, first_seed + starts),
    )
    show(f"{count} labels added, {starts} starts: accuracy in %", measured, json)


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
    """Time a run of Concord against a run of DCC-GCN with its published settings, on the same splits.

    The operators are built before. Concord's first run on a graph computes its spectral features and is listed apart.
    """
    from benchmarks.concord import bench_concord

    if labels_per_class is not None and label_rate is not None:
        raise DccgcnError("--labels-per-class and --label-rate exclude one another.", "Give one of them.")
    measured = each_graph(
        graphs,
        "rounds",
        bench_concord,
        labels_per_class=labels_per_class,
        label_rate=label_rate,
        rounds=rounds,
        threads=use_threads(threads),
    )
    show("Runs of Concord and of DCC-GCN, operators built before", measured, json)


@app.command("scale")
def scale(
    nodes: Annotated[str, typer.Option(help="Numbers of nodes, separated by commas.")] = "10000,100000,1000000",
    edges_per_node: Annotated[int, typer.Option(help="Edges per node.", min=1)] = 10,
    features: Annotated[int, typer.Option(help="Number of features.", min=1)] = 500,
    labels_per_class: Annotated[int, typer.Option(help="Training labels of each of ten classes.", min=1)] = 20,
    alternatives: Annotated[
        bool, typer.Option("--alternatives", help="Also label propagation, propagated features and FastRP.")
    ] = False,
    scratch: Annotated[Path | None, typer.Option(help="Keep operators and views in this folder.")] = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Measure how Concord's time and memory grow with synthetic graphs, each size in its own process."""
    from benchmarks.scale import bench_scale, growth, per_node_ratios

    try:
        sizes = [int(float(size)) for size in nodes.split(",")]
    except ValueError:
        raise DccgcnError(f"{nodes!r} are no sizes.", "Write numbers with commas, such as 10000,100000.") from None
    used = use_threads(threads)
    measured = []
    for size in sizes:
        with errors.status(f"{size} nodes"):
            measured.append(
                bench_scale(
                    size,
                    edges_per_node=edges_per_node,
                    features=features,
                    labels_per_class=labels_per_class,
                    threads=used,
                    scratch=scratch,
                    alternatives=alternatives,
                )
            )
    steps = [growth(one, other) for one, other in pairwise(measured) if one["nodes"] != other["nodes"]]
    if json:
        print_json(plain({"sizes": measured, "growth": steps, "per_node_ratios": per_node_ratios(measured)}))
        return
    print_table("Concord on synthetic graphs", measured, heading="nodes")
    if steps:
        print_table("Factors of growth per tenfold number of nodes", steps, heading="to_nodes")


@app.command("tables")
def tables(
    nodes: Annotated[int, typer.Option(help="Number of nodes.", min=1000)] = 100_000,
    edges_per_node: Annotated[int, typer.Option(help="Edges per node.", min=1)] = 10,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Measure how long large tables take to read, from folders of Parquet and of CSV files."""
    from benchmarks.tables import all_equal, bench_tables

    with errors.status(f"tables of {nodes} nodes"):
        measured = bench_tables(nodes, edges_per_node, use_threads(threads))
    show("Reading tables", measured, json, heading="form")
    if not all_equal(measured):
        raise DccgcnError("The forms gave different graphs.", "Report this as a mistake of dccgcn.")


@app.command("ray")
def ray(
    nodes: Annotated[int, typer.Option(help="Number of nodes.", min=2000)] = 20_480,
    workers: Annotated[str, typer.Option(help="Numbers of workers, separated by commas.")] = "1,2,4",
    edges_per_node: Annotated[int, typer.Option(help="Edges per node.", min=1)] = 10,
    features: Annotated[int, typer.Option(help="Number of features.", min=1)] = 200,
    json: Json = False,
) -> None:
    """Measure Concord on Ray workers of this machine, and estimate larger clusters from the bytes that they move."""
    from benchmarks.ray import bench_ray, cost_model

    try:
        counts = [int(count) for count in workers.split(",")]
    except ValueError:
        raise DccgcnError(f"{workers!r} are no numbers of workers.", "Write them with commas, such as 1,2.") from None
    with errors.status("measuring"):
        measured = bench_ray(nodes, counts, edges_per_node, features)
    model = cost_model(measured[-1], edges_per_node)
    if json:
        print_json({"workers": measured, "cost_model": model})
    else:
        print_table("Concord on Ray", measured, heading="workers")


@app.command("compile")
def compile_(method: MethodName = "concord", json: Json = False) -> None:
    """List the kernels that a first fit compiles, with CPU seconds, and time the fit again with compiled kernels.

    Fits the embedded Cora and a small table of measurements, with a report each; the processes share an empty cache.
    """
    from benchmarks.compile import GRAPHS, bench_compile

    measured = []
    for name in GRAPHS:
        with errors.status(f"compiling for {name}"):
            measured.append(bench_compile(name, method))
    show("First and second fit, CPU seconds", measured, json)


@app.command("label")
def label(
    graphs: Annotated[
        str, typer.Option(help="Benchmark graphs, or numbers of nodes of synthetic ones, separated by commas.")
    ] = "cora,pubmed,100000",
    labels: Annotated[int, typer.Option(help="Labels given on each, by keyboard.", min=1)] = 20,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Time labelling in a browser: from the key to the painted click, and to the repainted graph."""
    from benchmarks.label import bench_label

    use_threads(threads)
    show("Labelling in a browser", each_graph(graphs, "labels", bench_label, count=labels), json)


def each_graph(graphs: str, unit: str, bench: Callable[..., Measured], **options: Any) -> list[Measured]:
    """Run a benchmark with these options on each graph, with a progress bar that counts the unit."""
    measured = []
    for name in graphs.split(","):
        with progress_bar(name) as progress:
            measured.append(bench(name.strip(), progress=partial(progress, unit), **options))
    return measured


def _check_parity(parity: float | None) -> None:
    """An error if two implementations of one computation differ."""
    if parity is not None and not parity < _MAX_DIFFERENCE:
        raise DccgcnError(
            f"The two implementations differ by {parity:.1e}.", "Times can be compared only if they agree."
        )


def main() -> None:
    """Run the command line. Exit codes: 0 success, 2 a user error."""
    try:
        app(prog_name="python -m benchmarks")
    except DccgcnError as error:
        print_error(error)
        sys.exit(2)


if __name__ == "__main__":
    main()
