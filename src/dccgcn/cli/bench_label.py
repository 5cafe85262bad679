"""dccgcn bench label: the labelling page in a real browser."""

from typing import Annotated

import typer

from dccgcn.cli.bench import each_graph
from dccgcn.cli.measurements import show
from dccgcn.cli.options import Json, Threads
from dccgcn.runtime.threads import use_threads


def label(
    graphs: Annotated[
        str, typer.Option(help="Benchmark graphs, or numbers of nodes of synthetic ones, separated by commas.")
    ] = "cora,pubmed,100000",
    labels: Annotated[int, typer.Option(help="Labels given on each, by keyboard.", min=1)] = 20,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Time labelling in a browser: from the key to the painted click, and to the repainted graph."""
    from dccgcn.benchmarks.label import bench_label

    use_threads(threads)
    show("Labelling in a browser", each_graph(graphs, "labels", bench_label, count=labels), json)
