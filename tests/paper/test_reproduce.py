"""python -m paper as a user starts it: everything in small, killed in the middle, and continued."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dccgcn.workflow.runner import read_store
from helpers.command import paper, refused
from paper.reproduction import Reproduction
from paper.results import Results
from paper.smoke import tiny
from paper.spec import PAPER, jobs_of, read_spec

ROOT = Path(__file__).parents[2]


def command(folder, what, *arguments):
    options = ["--smoke", "--out", str(folder / "pages"), "--store", str(folder / "runs"), *arguments]
    return [what, *options]


def process(folder, what, *arguments):
    return [sys.executable, "-m", "paper", *command(folder, what, *arguments)]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The smoke run of all, killed with -9 in the middle, and the one that continues from there."""
    folder = tmp_path_factory.mktemp("killed")
    store = folder / "runs" / "paper.jsonl"
    quiet = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "cwd": ROOT}
    started = subprocess.Popen(process(folder, "all", "--jobs", "1"), **quiet)
    for _ in range(12000):
        if store.exists() and store.read_bytes().count(b"\n") >= 20:
            break
        time.sleep(0.05)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    before = read_store(store)
    again = process(folder, "all", "--jobs", "2")
    done = subprocess.run(again, capture_output=True, text=True, timeout=1800, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return folder, before


def test_a_killed_run_loses_nothing_that_was_finished(killed):
    folder, before = killed
    wanted = {job.key() for name in PAPER for job in jobs_of([tiny(read_spec(name))], 10)}
    assert 20 <= len(before) < len(wanted)
    after = read_store(folder / "runs" / "paper.jsonl")
    assert {key: after[key] for key in before} == before
    assert wanted <= set(after)
    lines = (folder / "runs" / "paper.jsonl").read_bytes().count(b"\n")
    assert lines == len(after) == len(wanted)  # nothing was run twice


def test_all_pages_and_pictures_are_there(killed):
    folder, _ = killed
    written = {path.name for path in (folder / "pages").iterdir()}
    assert {"runs.parquet", "README.md", *(f"{name}.md" for name in PAPER)} <= written
    drawn = [f"figure{i}" for i in (4, 5, 6, 7)] + ["confidence-reliability", "confidence-risk"]
    assert {f"{name}.svg" for name in drawn} <= written
    for name in PAPER:
        text = (folder / "pages" / f"{name}.md").read_text()
        assert "not been made yet" not in text
        assert name == "figure7" or "smoke run" in text
    readme = (folder / "pages" / "README.md").read_text()
    assert all(f"({name}.md)" in readme for name in PAPER)
    assert "nan" not in readme.replace("finance", "")


def test_the_tables_are_those_of_an_undisturbed_run(killed, tmp_path, one_thread):
    folder, _ = killed
    reproduction = Reproduction((tiny(read_spec("table6")),), tmp_path, 10)
    rows, _ = reproduction.run(1)
    files = reproduction.files(rows, "python -m paper --smoke", complete=False)
    resumed = (folder / "pages" / "table6.md").read_text()
    assert files["table6.md"].split("Measured by")[0] == resumed.split("Measured by")[0]
    spec = reproduction.specs[0]
    assert Results(spec, rows).cell(spec.systems[0], 0).ours.n == 2


def test_splits_beyond_the_means_are_for_the_paired_difference(tmp_path):
    small = tiny(read_spec("table6"))
    small = replace(small, columns=(replace(small.columns[0], splits=4),))
    reproduction = Reproduction((small,), tmp_path, 3)
    rows, _ = reproduction.run(1)
    (paired,) = Results(small, rows).comparisons("accuracy")
    assert (paired.first.n, paired.further.n) == (2, 1)
    assert len(rows) == 3 * 2 + 2  # all systems twice, then the subject and the best of the others


def test_a_plan_runs_nothing(killed):
    folder, _ = killed
    lines = (folder / "runs" / "paper.jsonl").read_bytes()
    done = paper(*command(folder, "all", "--plan"))
    assert done.returncode == 0, done.stderr
    total = next(line for line in done.stdout.splitlines() if "all of these" in line).split("│")
    assert int(total[4]) == 0  # nothing remains
    assert (folder / "runs" / "paper.jsonl").read_bytes() == lines


def test_the_runs_behind_the_pages_make_the_same_pages(killed, tmp_path):
    folder, _ = killed
    (tmp_path / "runs").mkdir()
    shutil.copy(folder / "pages" / "runs.parquet", tmp_path / "runs")
    done = paper(*command(tmp_path, "all", "--stored"))
    assert done.returncode == 0, done.stderr
    for name in ("README.md", *(f"{name}.md" for name in PAPER)):
        again, first = ((where / "pages" / name).read_text() for where in (tmp_path, folder))
        assert again.split("Measured by")[0] == first.split("Measured by")[0]
    assert (tmp_path / "pages" / "runs.parquet").read_bytes() == (folder / "pages" / "runs.parquet").read_bytes()


@pytest.mark.parametrize("option", ["--plan", "--stored"])
def test_a_plan_and_stored_pages_download_nothing(option, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a download")

    monkeypatch.setattr("paper.reproduction.fetch", refuse)
    monkeypatch.setenv("DCCGCN_DATA", str(tmp_path / "empty"))
    folders = ["--store", str(tmp_path / "runs"), "--out", str(tmp_path / "pages")]
    done = paper("table7", option, *folders)
    assert done.returncode == 0, done.stderr
    assert "corafull is left out: graph2gauss/cora.npz is not in the data folder" in " ".join(done.stderr.split())
    assert ("a run downloads it" in done.stderr) == (option == "--plan")
    assert not (tmp_path / "empty").exists()


@pytest.mark.parametrize("what", ["choices", "overview", "systems", "concord", "many-labels"])
def test_every_option_is_there_for_every_page(what, tmp_path) -> None:
    planned = paper(*command(tmp_path, what, "--only", "cora", "--splits", "1", "--plan"))
    assert planned.returncode == 0, planned.stderr
    stored = paper(*command(tmp_path, what, "--stored"))
    assert stored.returncode == 0, stored.stderr
    (page,) = (tmp_path / "pages").glob("*.md")
    assert len(list((tmp_path / "pages").iterdir())) == 2  # with the runs behind it
    assert "smoke run" in page.read_text()
    refused(paper(*command(tmp_path, what, "--only", "nosuch", "--plan")), "no column for 'nosuch'")


def test_a_study_is_measured_whole_and_its_page_is_made_from_stored_runs(tmp_path) -> None:
    refused(paper("trust", "--plan"), "trust is measured whole")
    refused(paper("label-errors", "--stored", "--out", tmp_path), "has no runs of label-errors")
    shutil.copy(ROOT / "docs" / "results" / "runs.parquet", tmp_path)
    done = paper("label-errors", "--stored", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "label-errors.md").exists()
