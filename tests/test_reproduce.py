"""dccgcn reproduce as a user starts it: everything in small, killed in the middle, and gone on with."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from dccgcn.experiments.experiment import EXPERIMENTS, first_jobs, read_experiment
from dccgcn.experiments.runner import read_store
from dccgcn.experiments.smoke import tiny


def command(folder, what, *arguments):
    options = ["--smoke", "--out", str(folder / "pages"), "--store", str(folder / "runs"), *arguments]
    return [sys.executable, "-m", "dccgcn", "reproduce", what, *options]


def finished(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The smoke run of all, killed with -9 in the middle, and the one that goes on from there."""
    folder = tmp_path_factory.mktemp("killed")
    store = folder / "runs" / "paper.jsonl"
    quiet = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    started = subprocess.Popen(command(folder, "all", "--jobs", "2"), **quiet)
    for _ in range(3000):
        if store.exists() and store.read_bytes().count(b"\n") >= 20:
            break
        time.sleep(0.05)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    before = read_store(store)
    finished(command(folder, "all", "--jobs", "2"))
    return folder, before


def test_a_killed_run_loses_nothing_that_was_finished(killed):
    folder, before = killed
    wanted = {job.key() for name in EXPERIMENTS for job in first_jobs([tiny(read_experiment(name))], 10)}
    assert 20 <= len(before) < len(wanted)
    after = read_store(folder / "runs" / "paper.jsonl")
    assert {key: after[key] for key in before} == before
    assert wanted <= set(after)
    lines = (folder / "runs" / "paper.jsonl").read_bytes().count(b"\n")
    assert lines == len(after)  # nothing was run twice


def test_all_pages_data_and_pictures_are_there(killed):
    folder, _ = killed
    written = {path.name for path in (folder / "pages").iterdir()}
    assert {f"{name}.{kind}" for name in EXPERIMENTS for kind in ("md", "json")} <= written
    drawn = [f"figure{i}" for i in (4, 5, 6, 7)] + ["confidence-reliability", "confidence-risk"]
    assert {f"{name}.{kind}" for name in drawn for kind in ("svg", "png")} <= written
    for name in EXPERIMENTS:
        assert json.loads((folder / "pages" / f"{name}.json").read_text())["experiment"] == name
        text = (folder / "pages" / f"{name}.md").read_text()
        assert "their runs have not been made" not in text
        assert name == "figure7" or "smoke run" in text
    readme = (folder / "pages" / "README.md").read_text()
    assert all(f"({name}.md)" in readme for name in EXPERIMENTS)
    assert "nan" not in readme.replace("finance", "")


def test_the_tables_are_those_of_an_undisturbed_run(killed, tmp_path):
    folder, _ = killed
    finished(command(tmp_path, "table6", "--jobs", "1"))
    undisturbed, resumed = (json.loads((f / "pages" / "table6.json").read_text()) for f in (tmp_path, folder))
    assert undisturbed == resumed
    assert undisturbed["cells"][0]["ours"]["n"] == 2
    pages = [(f / "pages" / "table6.md").read_text().split("Measured by")[0] for f in (tmp_path, folder)]
    assert pages[0] == pages[1]


def test_a_plan_runs_nothing(killed):
    folder, _ = killed
    lines = (folder / "runs" / "paper.jsonl").read_bytes()
    done = finished(command(folder, "all", "--plan"))
    assert "all of these" in done.stdout
    total = next(line for line in done.stdout.splitlines() if "all of these" in line).split("│")
    assert int(total[4]) == 0  # nothing is left
    assert (folder / "runs" / "paper.jsonl").read_bytes() == lines
