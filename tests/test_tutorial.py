"""The commands and the code of the tutorial, its notebook and the page on own data run."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from helpers.command import success

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page):
    """The fenced blocks of a page, with their languages."""
    return re.findall(r"```(\w+)\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)


def follow(page, folder, monkeypatch):
    """Run the blocks of a page in order; the names that its Python defines."""
    monkeypatch.chdir(folder)
    names, printed = {}, ""
    for language, block in blocks(page):
        match language:
            case "console":
                for line in block.splitlines():
                    program, *arguments = shlex.split(line)
                    assert program == "dccgcn"
                    printed = success(*arguments).stdout
            case "text":  # every line of it was printed by the command before
                for line in block.splitlines():
                    assert line in printed
            case "python":
                exec(block, names)
            case "csv":
                name = "nodes.csv" if "title" in block else "edges.csv"
                (folder / name).write_text(block)
    return names


def test_the_tutorial(tmp_path, monkeypatch):
    names = follow("tutorial.md", tmp_path, monkeypatch)
    right = names["by_trust"]["mean"]
    assert right["yes"] > 0.8
    assert right["yes"] > right["no"] + 0.1
    assert len((tmp_path / "tables" / "more-predictions.csv").read_text().splitlines()) == 4
    assert len(names["frame"]) == 2708


def test_the_tutorial_on_packages(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    kinds = {"games": "chess board puzzle", "python": "module snake library", "sound": "audio music player"}
    names = [
        (f"{kind[:4]}{i}-{word}", kind) for kind, words in kinds.items() for i in range(60) for word in words.split()
    ]
    stanzas = []
    for name, kind in names:
        friends = [other for other, its in names if its == kind]
        needs = ", ".join(f"{friends[i]} (>= 1.0)" for i in rng.integers(len(friends), size=3))
        text = " ".join(rng.permutation([*kinds[kind].split()[: rng.integers(1, 3)], "small", "free", "tool"]))
        stanzas.append(
            f"Package: {name}\nInstalled-Size: {rng.integers(9999)}\nMaintainer: The {kind} team\n"
            f"Depends: {needs}, libc6 | libc7\nDescription: {text}\n and a second line\nSection: {kind}\n"
        )
    (tmp_path / "packages.txt").write_text("\n".join(stanzas))
    found = follow("packages.md", tmp_path, monkeypatch)
    assert found["by_trust"]["mean"].iloc[-1] > 0.9
    assert len((DOCS / "packages.md").read_text().split()) < 1500


def test_the_page_on_ones_own_data_names_what_there_is(tmp_path, monkeypatch):
    tables = [block for language, block in blocks("own-data.md") if language == "csv"]
    shown = "".join(block for language, block in blocks("own-data.md") if language == "console")
    monkeypatch.chdir(tmp_path)
    Path("nodes.csv").write_text(tables[0] + "p-004,food,Learning to cook with spices,2020,DE\n")
    Path("edges.csv").write_text(tables[1])
    Path("more.csv").write_text("id,title,year,country\np-009,Spices and graphs,2022,DE\n")
    Path("more-edges.csv").write_text("source,target\np-009,p-001\n")
    for command in shown.splitlines():
        command = command.replace("concord,lp", "ssgc,lp --folds 2 --repeats 1")
        small = {"fit": ["--method", "ssgc"], "doctor": ["--k", "2"], "label-next": ["--count", "1"]}
        extra = ["--set", "k=2"] if "class_prior" in command else small.get(command.split()[1], [])
        success(*shlex.split(command)[1:], *extra)
    assert Path("more-predictions.csv").exists()
    (code,) = (block for language, block in blocks("own-data.md") if language == "python")
    exec(code.replace("run(tables)", "run(tables, method='ssgc')"), {})


def test_the_notebook_runs_from_top_to_bottom():
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.read(DOCS / "tutorial.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count is not None for cell in code), "committed with its outputs"
    assert "<svg" in str(notebook.cells), "the result shows its map"
    assert not any(output.output_type == "error" for cell in code for output in cell.outputs)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    assert any("channels_agree" in str(cell.outputs) for cell in code)


def test_the_page_by_kind_of_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for language, block in blocks("kinds.md"):
        if language == "python":
            exec(block, names)
        else:
            for line in block.splitlines():
                success(*shlex.split(line)[1:])
        for kind, least in {"text": 0.9, "numeric": 0.7, "edges_only": 0.9, "relations": 0.9, "rare": 0.8}.items():
            if kind in names:
                assert names["accuracy"](names.pop(kind)) > least, kind
    assert names["found"] > 0.5
    assert names["same"], "with and without a scratch folder"
    share = {
        kind: sum(w for name, w in names["weights"].items() if name.startswith(kind)) for kind in ("cites", "bought")
    }
    assert share["cites"] > 2 * share["bought"]
    assert "| cites.labels |" in Path("by-relation/MODEL.md").read_text()
    assert "| bought.in.hop1 |" in Path("by-column/MODEL.md").read_text()
