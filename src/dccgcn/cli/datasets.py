"""dccgcn datasets: list, describe and fetch the benchmark graphs; dccgcn export: write one as two tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dccgcn.cli.display import output, print_findings, print_json, print_note, table
from dccgcn.cli.options import DataFolder, DatasetName, Json

if TYPE_CHECKING:
    from dccgcn.datasets import DatasetInfo


def datasets(
    name: Annotated[str | None, typer.Argument(help="A graph to describe; without a name, all are listed.")] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Download and verify missing files; without a name, of all graphs.")
    ] = False,
    data: DataFolder = None,
    json: Json = False,
) -> None:
    """List the benchmark graphs, describe one of them, or download their files.

    Examples:

        dccgcn datasets

        dccgcn datasets citeseer --fetch
    """
    from dccgcn.datasets import DATASETS, describe
    from dccgcn.datasets import fetch as download

    infos = [describe(name)] if name else list(DATASETS.values())
    for file in (file for info in infos for file in info.files) if fetch else ():
        if file.url is not None or name:  # others can only be placed by hand; an error would stop the rest
            print_note(f"{download(file, data)}: verified")
    if json:
        listed = [_facts(info, data) for info in infos]
        print_json(listed[0] if name else listed)
    elif name:
        _describe(infos[0], data)
    else:
        _list(infos, data)


def _facts(info: "DatasetInfo", data: Path | None) -> dict[str, object]:
    from dccgcn.datasets import data_folder

    present = all((data_folder(data) / file.path).is_file() for file in info.files)
    facts = {name: value for name, value in vars(info).items() if name not in ("format", "files")}
    return {**facts, "files": [vars(file) for file in info.files], "present": present}


def _list(infos: "list[DatasetInfo]", data: Path | None) -> None:
    from dccgcn.datasets import data_folder

    shown = table("Benchmark graphs", "name", "kind", "nodes", "edges", "features", "classes", "files", text=(0, 1))
    shown.columns[1].no_wrap = True
    for info in infos:
        state = "present" if _facts(info, data)["present"] else "not fetched"
        sizes = (f"{number:,}" for number in (info.nodes, info.pairs, info.features, info.classes))
        shown.add_row(info.name, info.kind, *sizes, state if info.files else "in the package")
    output.print(shown)
    print_note(
        "Edges are unordered pairs, each counted once; papers often count the lines of the original files. "
        f"Files are stored in {data_folder(data)}."
    )


def _describe(info: "DatasetInfo", data: Path | None) -> None:
    from dccgcn.datasets import load

    facts = _facts(info, data)
    shown = table(f"{info.title}: {info.description}", "", "", text=(0, 1))
    for what in ("kind", "source", "nodes", "pairs", "paper_edges", "features", "classes", "isolated", "zero_rows"):
        if what != "paper_edges" or info.paper_edges is not None:  # None: not a graph of the paper
            shown.add_row(what.replace("_", " "), "unknown" if facts[what] is None else str(facts[what]))
    for file in info.files:
        shown.add_row("file", f"{file.path}  {file.url or '(no public address)'}")
    loaded = load(info.name, data) if facts["present"] else None
    if loaded:
        shown.add_row("homophily", f"{loaded.graph.homophily:.3f}")
        shown.add_row("published splits", ", ".join(loaded.splits) or "none")
    output.print(shown)
    print_findings(loaded.graph.findings if loaded else ())


def export(
    dataset: DatasetName,
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
    from dccgcn.graph import per_class
    from dccgcn.tables import write_tables

    graph = load(dataset, data).graph
    labelled = None if labels_per_class is None else per_class(graph, labels_per_class, seed).train
    written = write_tables(graph, folder, labelled)
    print_note(f"Written to {folder}: {', '.join(path.name for path in written)}")
