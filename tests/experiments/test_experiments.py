"""Jobs, their store, and the studies that are part of the package."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from dccgcn.errors import DataFileError
from dccgcn.experiments.choices import render_choices
from dccgcn.experiments.jobs import Job, execute
from dccgcn.experiments.overview import render_overview, standings
from dccgcn.experiments.runner import append, read_store, run_jobs
from dccgcn.experiments.study import Cell, Study, System, read_study
from dccgcn.experiments.systems import read_figures, render_systems, system_jobs
from dccgcn.models.registry import METHODS

JOB = Job("cora", "rate", 0.005, 1000, "gcn", 1000, {"epochs": 3})


def test_the_key_depends_on_everything_that_decides_the_result():
    others = [
        replace(JOB, dataset="cora-planetoid"),
        replace(JOB, amount=0.01),
        replace(JOB, split_seed=1001),
        replace(JOB, seed=1),
        replace(JOB, method="dcc-gcn"),
        replace(JOB, options={"epochs": 4}),
    ]
    keys = {job.key() for job in (JOB, *others)}
    assert len(keys) == 7
    assert replace(JOB, options={"epochs": 3, "hidden": 16}).key() == JOB.key()  # 16 is the default


def test_a_job_is_the_same_whenever_it_runs():
    first, second = execute(JOB), execute(JOB)
    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    assert first["job"]["options"] == {"epochs": 3}


def test_finished_jobs_are_not_run_again(tmp_path):
    store = tmp_path / "runs.jsonl"
    row = {**execute(JOB), "accuracy": 0.125}  # not what the job would give
    append(store, row)
    told = []
    rows = run_jobs([JOB], store, 1, lambda *progress: told.append(progress))
    assert rows == {JOB.key(): row}
    assert told == [(1, 1, None)]


def test_a_line_cut_short_is_taken_off(tmp_path):
    store = tmp_path / "runs.jsonl"
    append(store, {"key": "a"})
    whole = store.read_bytes()
    store.write_bytes(whole + b'{"key": "b", "accu')
    assert list(read_store(store)) == ["a"]
    assert store.read_bytes() == whole


def test_a_broken_line_in_the_middle_is_named(tmp_path):
    store = tmp_path / "runs.jsonl"
    store.write_text('{"key": "a"}\nnonsense\n{"key": "b"}\n')
    with pytest.raises(DataFileError, match="line 2"):
        read_store(store)


def test_a_killed_study_goes_on_and_leaves_no_worker(tmp_path):
    """kill -9 in the middle: finished rows stay, the workers end, the next call completes the rest."""
    arguments = [sys.executable, "-m", "dccgcn", "compare", "cora", "--methods", "gcn", "--splits", "6", "--jobs", "1"]
    store = tmp_path / "runs" / "compare" / "cora.jsonl"
    started = subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for _ in range(6000):
        if store.exists() and store.read_text().count("\n") >= 1:
            break
        time.sleep(0.1)
    workers = children(started.pid)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    before = read_store(store)
    assert 1 <= len(before) < 6
    for _ in range(1000):
        if not any(alive(pid) for pid in workers):
            break
        time.sleep(0.1)
    assert not any(alive(pid) for pid in workers)
    done = subprocess.run([*arguments, "--json"], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    after = read_store(store)
    assert len(after) == 6
    assert all(after[key] == row for key, row in before.items())
    assert json.loads(done.stdout)["standings"][0]["accuracy"]["n"] == 6


def children(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(child) for child in listed.split()]


def alive(pid):
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


@pytest.mark.parametrize("name", ["choices", "overview"])
def test_the_packaged_studies_are_of_known_systems_and_settings(name):
    study = read_study(name)
    for system in study.systems:
        METHODS[system.method].settings.of(system.options)
    assert (study.first_seed >= 1000) == (name == "choices")  # choices on development splits, reports on others
    if name == "choices":
        defaults = METHODS["dcc-gcn"].settings()
        assert defaults in [defaults.changed(system.options) for system in study.systems]


def fake_rows(study):
    """Rows as a study would give, with an accuracy that grows from system to system."""
    return {
        study.job(system, cell, n).key(): {"accuracy": 0.5 + 0.01 * i + 0.001 * n, "macro_f1": 0.4, "seconds": 2.0}
        for i, system in enumerate(study.systems)
        for cell in study.cells
        for n in range(cell.splits)
    }


def test_a_leaderboard_is_sorted_and_paired():
    study = Study((Cell("cora", "rate", 0.005, 3),), (System("gcn"), System("dcc-gcn")))
    best, first = standings(study, study.cells[0], fake_rows(study))
    assert (best.method, first.method) == ("dcc-gcn", "gcn")
    assert best.difference.mean == pytest.approx(1)
    assert first.difference is None
    assert first.accuracy.mean == pytest.approx(50.1)


def test_the_page_on_systems_names_what_is_missing():
    figures = read_figures()
    assert {figure.method for figure in figures} <= set(METHODS)
    first = figures[0]
    rows = fake_rows(first.study())
    page = render_systems(figures, rows)
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert len(lines) == 3
    assert f"| {first.published:.1f} |" in lines[2]
    assert "Not measured yet: gcn on citeseer, public" in page
    assert len(system_jobs(figures)) == 10 * len(figures)


@pytest.mark.parametrize(("name", "render"), [("choices", render_choices), ("overview", render_overview)])
def test_pages_have_a_line_for_each_system(name, render):
    study = read_study(name)
    page = render(study, fake_rows(study))
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(study.systems)
    assert len({line.count("|") for line in rows}) == 1
    assert f"dccgcn reproduce {name}" in page


def test_values_come_in_the_order_of_the_splits():
    study = Study((Cell("cora", "rate", 0.005, 4),), (System("gcn"),))
    found = study.values(fake_rows(study), study.systems[0], study.cells[0])
    np.testing.assert_allclose(found, [0.5, 0.501, 0.502, 0.503])


def test_a_worker_whose_parent_was_killed_before_it_started_ends():
    code = "from time import sleep; from dccgcn.experiments.runner import _start_worker; _start_worker(-1); sleep(60)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 1
