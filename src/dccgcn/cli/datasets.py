"""dccgcn datasets: list, describe and fetch the benchmark graphs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dccgcn.cli.display import errors, output, print_findings, print_json, table
from dccgcn.cli.options import DataFolder, Json

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

    chosen = [describe(name)] if name else list(DATASETS.values())
    if fetch:
        _fetch(chosen, data)
    if json:
        listed = [_facts(info, data) for info in chosen]
        print_json(listed[0] if name else listed)
    elif name:
        _describe(chosen[0], data)
    else:
        _list(chosen, data)


def _fetch(chosen: "list[DatasetInfo]", data: Path | None) -> None:
    from dccgcn.datasets import fetch

    for info in chosen:
        for file in info.files:
            if file.url is None and len(chosen) > 1:
                continue  # it can only be placed by hand; an error would stop the others
            path = fetch(file, data)
            errors.print(f"{path}: verified", highlight=False)


def _facts(info: "DatasetInfo", data: Path | None) -> dict[str, object]:
    from dccgcn.datasets import data_folder

    present = all((data_folder(data) / file.path).is_file() for file in info.files)
    facts = {name: value for name, value in vars(info).items() if name not in ("format", "files")}
    return {**facts, "files": [vars(file) for file in info.files], "present": present}


def _list(chosen: "list[DatasetInfo]", data: Path | None) -> None:
    from dccgcn.datasets import data_folder

    shown = table("Benchmark graphs", "name", "kind", "nodes", "edges", "features", "classes", "files")
    shown.columns[1].justify, shown.columns[1].no_wrap = "left", True
    for info in chosen:
        facts = _facts(info, data)
        state = "in the package" if not info.files else "present" if facts["present"] else "not fetched"
        sizes = (f"{number:,}" for number in (info.nodes, info.pairs, info.features, info.classes))
        shown.add_row(info.name, info.kind, *sizes, state)
    output.print(shown)
    errors.print(
        "Edges are unordered pairs, each counted once; papers often count the lines of the original files. "
        f"Files are stored in {data_folder(data)}.",
        highlight=False,
    )


def _describe(info: "DatasetInfo", data: Path | None) -> None:
    from dccgcn.datasets import load

    facts = _facts(info, data)
    shown = table(f"{info.title}: {info.description}", "", "")
    shown.columns[1].justify = "left"
    for what in ("kind", "source", "nodes", "pairs", "paper_edges", "features", "classes", "isolated", "zero_rows"):
        if what == "paper_edges" and info.paper_edges is None:
            continue  # not a graph of the paper
        shown.add_row(what.replace("_", " "), "unknown" if facts[what] is None else str(facts[what]))
    for file in info.files:
        shown.add_row("file", f"{file.path}  {file.url or '(no public address)'}")
    if facts["present"]:
        loaded = load(info.name, data)
        shown.add_row("homophily", f"{loaded.graph.homophily:.3f}")
        shown.add_row("published splits", ", ".join(loaded.splits) or "none")
        output.print(shown)
        print_findings(loaded.graph.findings)
    else:
        output.print(shown)
