"""dccgcn export: write a benchmark graph as two tables."""

from pathlib import Path
from typing import Annotated

import typer

from dccgcn.cli.display import errors
from dccgcn.cli.options import DataFolder, Dataset


def export(
    dataset: Dataset,
    folder: Annotated[Path, typer.Argument(help="Folder for nodes.csv and edges.csv.")],
    labels_per_class: Annotated[
        int | None,
        typer.Option(help="Labels of each class to keep; the others go to truth.csv.", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the labels that are kept.", min=0)] = 0,
    data: DataFolder = None,
) -> None:
    """Write a benchmark graph as nodes.csv and edges.csv, the format in which fit reads your own graph.

    Example:

        dccgcn export cora tables --labels-per-class 2
    """
    from dccgcn.datasets import load
    from dccgcn.graph.splits import per_class
    from dccgcn.tables.write import write_tables

    graph = load(dataset, data).graph
    kept = None if labels_per_class is None else per_class(graph, labels_per_class, seed).train
    written = write_tables(graph, folder, kept)
    errors.print(f"Written to {folder}: {', '.join(path.name for path in written)}", highlight=False)
