"""The documentation's code runs, and its links lead somewhere."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dccgcn.graph.splits import per_class
from dccgcn.tables.write import write_tables
from dccgcn.workflow.fitting import run
from helpers.command import success
from helpers.runs import toy

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "DESIGN.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_design_and_equations_name_modules_and_functions_that_exist():
    pages = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("DESIGN.md", "docs/equations.md"))
    names = re.findall(r"`((?:[a-z]\w*\.)+\w+)`", pages)
    layers = {path.name for path in (ROOT / "src" / "dccgcn").iterdir() if path.is_dir()}
    named = [f"dccgcn.{name}" for name in names if name.split(".")[0] in layers]
    assert len(named) > 40
    for whole in (*named, *(name for name in names if name.startswith("paper."))):
        module, _, name = whole.rpartition(".")
        assert hasattr(import_module(module), name) or find_spec(whole), f"there is no {whole}"


@pytest.mark.parametrize("page", [ROOT / "SECURITY.md", ROOT / "docs" / "reliability.md"], ids=lambda page: page.name)
def test_every_promise_names_a_test_or_a_command_that_exists(page):
    text = page.read_text(encoding="utf-8")
    tests = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert len(tests) > 10
    for file, name in tests:
        assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8"), f"{file} has no {name}"
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"`make ([\w-]+)", text)) <= targets
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    for promise in (
        one for part in sections if "not promised" not in part for one in re.findall(r"^- (?:.|\n  )+", part, re.M)
    ):
        assert re.search(r"`(?:tests/|make )", promise), f"nothing keeps: {promise}"


def test_the_readme_shows_the_overview_as_it_was_measured():
    measured = (ROOT / "docs" / "results" / "overview.md").read_text(encoding="utf-8")
    table = [line for line in measured.splitlines() if line.startswith("|")]
    assert "\n".join(table) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_lines_of_the_readme_are_run_as_they_stand(tmp_path, monkeypatch):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    graph = toy(n=36)
    labels = [graph.classes[k] if i % 4 == 0 else None for i, k in enumerate(graph.labels)]
    write_tables(graph.with_labels(labels), tmp_path)
    for name in ("nodes", "edges"):
        table = (tmp_path / f"{name}.csv").read_text(encoding="utf-8")
        (tmp_path / f"{name}.csv").write_text(table.replace("label", "topic"), encoding="utf-8")
    first = re.search(r"```console\n(.*?)```", readme, re.S).group(1)
    commands = [line.split("#")[0].split()[1:] for line in first.splitlines() if line.startswith("dccgcn")]
    assert [command[0] for command in commands] == ["doctor", "fit"]
    for command in commands:
        success(*command, cwd=tmp_path)
    frame = pd.read_csv(tmp_path / "run" / "predictions.csv")
    assert {"prediction", "trust"} <= set(frame)
    assert (tmp_path / "run" / "report.html").exists()
    monkeypatch.chdir(tmp_path)
    lines = {}
    exec(re.search(r"```python\n(.*?)```", readme, re.S).group(1), lines)
    assert lines["result"].to_frame()["prediction"].tolist() == frame["prediction"].tolist()
    assert (tmp_path / "report.html").exists()


def test_the_system_of_the_page_on_adding_one_works(cora):
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "adding-a-system.md").read_text(), re.S).group(1)
    page = {}
    exec(code, page)
    result = run(cora.graph, per_class(cora.graph, 20, seed=0), page["METHOD"])
    np.testing.assert_allclose(result.prediction.probabilities.sum(axis=1), 1, rtol=1e-5)
    assert result.accuracy > 0.3
