"""dccgcn export: a benchmark graph as two tables."""

from pathlib import Path
from typing import Annotated

import typer

from dccgcn.cli.display import errors


def export(
    name: Annotated[str, typer.Argument(help="The graph: see [b]dccgcn datasets[/b]. cora needs no download.")],
    folder: Annotated[Path, typer.Argument(help="Folder for nodes.csv and edges.csv.")],
    labels_per_class: Annotated[
        int | None,
        typer.Option(help="Keep so many labels of each class; the others go to truth.csv.", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the labels that are kept.", min=0)] = 0,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data files; default: $DCCGCN_DATA or a cache.")
    ] = None,
) -> None:
    """Write a benchmark graph as nodes.csv and edges.csv: the form in which dccgcn reads a graph of your own.

    Example:

        dccgcn export cora tables --labels-per-class 2
    """
    from dccgcn.datasets import load
    from dccgcn.graph.splits import per_class
    from dccgcn.io.write import write_tables

    graph = load(name, data).graph
    kept = None if labels_per_class is None else per_class(graph, labels_per_class, seed).train
    written = write_tables(graph, folder, kept)
    errors.print(f"Written to {folder}: {', '.join(path.name for path in written)}", highlight=False, markup=False)
