"""dccgcn reproduce as a user starts it: everything in small, killed in the middle, and gone on with."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from dccgcn.cli import app
from dccgcn.errors import DataFileError, SettingsError
from dccgcn.experiments.concord import concord_jobs, read_concord, render_concord
from dccgcn.experiments.experiment import EXPERIMENTS, first_jobs, read_experiment
from dccgcn.experiments.jobs import attempt
from dccgcn.experiments.reproduction import Reproduction
from dccgcn.experiments.runner import read_store
from dccgcn.experiments.smoke import tiny


def command(folder, what, *arguments):
    options = ["--smoke", "--out", str(folder / "pages"), "--store", str(folder / "runs"), *arguments]
    return [sys.executable, "-m", "dccgcn", "reproduce", what, *options]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The smoke run of all, killed with -9 in the middle, and the one that goes on from there."""
    folder = tmp_path_factory.mktemp("killed")
    store = folder / "runs" / "paper.jsonl"
    quiet = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    started = subprocess.Popen(command(folder, "all", "--jobs", "2"), **quiet)
    for _ in range(12000):
        if store.exists() and store.read_bytes().count(b"\n") >= 20:
            break
        time.sleep(0.05)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    before = read_store(store)
    done = subprocess.run(command(folder, "all", "--jobs", "2"), capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    return folder, before


def test_a_killed_run_loses_nothing_that_was_finished(killed):
    folder, before = killed
    wanted = {job.key() for name in EXPERIMENTS for job in first_jobs([tiny(read_experiment(name))], 10)}
    assert 20 <= len(before) < len(wanted)
    after = read_store(folder / "runs" / "paper.jsonl")
    assert {key: after[key] for key in before} == before
    assert wanted <= set(after)
    lines = (folder / "runs" / "paper.jsonl").read_bytes().count(b"\n")
    assert lines == len(after) == len(wanted)  # nothing was run twice


def test_all_pages_data_and_pictures_are_there(killed):
    folder, _ = killed
    written = {path.name for path in (folder / "pages").iterdir()}
    assert {f"{name}.{kind}" for name in EXPERIMENTS for kind in ("md", "json")} <= written
    drawn = [f"figure{i}" for i in (4, 5, 6, 7)] + ["confidence-reliability", "confidence-risk"]
    assert {f"{name}.{kind}" for name in drawn for kind in ("svg", "png")} <= written
    for name in EXPERIMENTS:
        assert json.loads((folder / "pages" / f"{name}.json").read_text())["experiment"] == name
        text = (folder / "pages" / f"{name}.md").read_text()
        assert "not been made yet" not in text
        assert name == "figure7" or "smoke run" in text
    readme = (folder / "pages" / "README.md").read_text()
    assert all(f"({name}.md)" in readme for name in EXPERIMENTS)
    assert "nan" not in readme.replace("finance", "")


def test_the_tables_are_those_of_an_undisturbed_run(killed, tmp_path, one_thread):
    folder, _ = killed
    work = Reproduction((tiny(read_experiment("table6")),), tmp_path, 10)
    rows = work.run(lambda jobs: (attempt(job) for job in jobs))
    files = work.files(rows, "dccgcn reproduce --smoke", complete=False)
    for name in ("table6.json", "table6.md"):
        resumed = (folder / "pages" / name).read_text()
        assert files[name].split("Measured by")[0] == resumed.split("Measured by")[0]
    assert json.loads(files["table6.json"])["cells"][0]["ours"]["n"] == 2


def test_splits_beyond_the_means_are_for_the_paired_difference(tmp_path):
    small = tiny(read_experiment("table6"))
    small = replace(small, columns=(replace(small.columns[0], splits=4),))
    work = Reproduction((small,), tmp_path, 3)
    rows = work.run(lambda jobs: (attempt(job) for job in jobs))
    (paired,) = json.loads(work.files(rows, "", complete=False)["table6.json"])["paired"]
    assert paired["difference"]["n"] == 3
    assert len(rows) == 3 * 2 + 2  # all lines twice, then the subject and the best of the others


def test_a_plan_runs_nothing(killed):
    folder, _ = killed
    lines = (folder / "runs" / "paper.jsonl").read_bytes()
    done = CliRunner().invoke(app, command(folder, "all", "--plan")[3:])
    assert done.exit_code == 0, done.output
    total = next(line for line in done.output.splitlines() if "all of these" in line).split("│")
    assert int(total[4]) == 0  # nothing is left
    assert (folder / "runs" / "paper.jsonl").read_bytes() == lines


def test_the_runs_behind_the_pages_make_the_same_pages(killed, tmp_path):
    folder, _ = killed
    (tmp_path / "runs").mkdir()
    shutil.copy(folder / "pages" / "runs.jsonl.gz", tmp_path / "runs")
    done = CliRunner().invoke(app, command(tmp_path, "all", "--stored")[3:])
    assert done.exit_code == 0, done.output
    for name in ("README.md", *(f"{name}.json" for name in EXPERIMENTS)):
        again, first = ((where / "pages" / name).read_text() for where in (tmp_path, folder))
        assert again.split("Measured by")[0] == first.split("Measured by")[0]
    assert (tmp_path / "pages" / "runs.jsonl.gz").read_bytes() == (folder / "pages" / "runs.jsonl.gz").read_bytes()
    (tmp_path / "runs" / "runs.jsonl.gz").write_bytes(b"not packed")
    with pytest.raises(DataFileError, match="not a whole packed store"):
        read_store(tmp_path / "runs" / "runs.jsonl.gz")


def test_the_page_on_concord_compares_whatever_was_run_on_common_splits() -> None:
    page = read_concord()
    cora, ssgc, appnp = page.study.cells[0], page.study.systems[1], page.beside[0]
    judged = {"ece": 0.05, "gap": 0.01, "signals": {name: {"auroc": 0.8} for name in ("trust", "agreement")}}
    whose = ("joined", "one model", "topology", "features")
    others = {name: dict.fromkeys(("margin", "confidence", "entropy"), 0.7) for name in whose}
    rows = {}
    for nth, accuracy in enumerate((0.7, 0.8, 0.9)):
        for system, gain in ((page.ours, 0.0), (ssgc, -0.1), (appnp, 0.05), (page.ablation["no rounds"], -0.02)):
            row = {"accuracy": accuracy + gain + 0.001 * nth, "trust": {"answer": judged, "others": others}}
            rows[page.study.job(system, cora, nth).key()] = row
    text = render_concord(page, rows)
    assert "| **concord** | 80.1 ± 10.1 (3) | – |" in text
    assert "| ssgc | +10.0 (+10.0 to +10.0) | – |" in text
    assert "| no rounds | -2.0 (-2.0 to -2.0) | – |" in text
    words = " ".join(text.split())
    assert "Of 2 comparisons with at least two common splits it is significantly better in 1 and significantly" in words
    assert "of 0 comparisons with at least ten common splits it is significantly better in 0" in words
    assert "dagnn" not in text  # never run on these splits
    assert len(concord_jobs(page, 1)) == len(page.study.cells) * (len(page.study.systems) + len(page.ablation))


@pytest.mark.parametrize("what", ["choices", "overview", "systems", "concord"])
@pytest.mark.parametrize("option", [["--smoke"], ["--ray", "auto"]])
def test_options_of_the_papers_experiments_are_refused_elsewhere(what, option) -> None:
    with pytest.raises(SettingsError, match=option[0]):
        CliRunner().invoke(app, ["reproduce", what, *option], catch_exceptions=False)


def test_pages_of_what_is_stored_run_nothing(tmp_path) -> None:
    told = CliRunner().invoke(
        app, ["reproduce", "table3", "--stored", "--store", str(tmp_path / "store"), "--out", str(tmp_path)]
    )
    assert told.exit_code == 0, told.output
    assert "not measured" in (tmp_path / "table3.md").read_text(encoding="utf-8")
    assert not (tmp_path / "store").exists()
