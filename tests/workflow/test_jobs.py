"""Jobs and their store: what a key depends on, what is kept, and what survives a crash or an interrupt."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.runtime.files import lock_file
from dccgcn.tables.write import write_tables
from dccgcn.workflow.jobs import Job
from dccgcn.workflow.runner import attempt, read_store, run_jobs, with_checksum
from helpers.command import dccgcn
from helpers.paper_rows import make_row
from helpers.processes import children
from helpers.runs import toy

JOB = Job("cora", "rate", 0.005, 1000, "gcn", 1000, {"epochs": 3})


def test_the_key_depends_on_everything_that_determines_the_result():
    others = [
        replace(JOB, dataset="cora-planetoid"),
        replace(JOB, amount=0.01),
        replace(JOB, split_seed=1001),
        replace(JOB, seed=1),
        replace(JOB, method="dcc-gcn"),
        replace(JOB, options={"epochs": 4}),
        replace(JOB, device="cuda"),
        replace(JOB, fold=1),
        replace(JOB, content="a hash"),
    ]
    keys = {job.key() for job in (JOB, *others)}
    assert len(keys) == 10
    assert replace(JOB, options={"epochs": 3, "hidden": 16}).key() == JOB.key()  # 16 is the default
    assert replace(JOB, amount=1).key() == replace(JOB, amount=1.0).key()


def test_a_job_is_the_same_whenever_it_runs():
    first, second = ({**attempt(JOB), "seconds": 0} for _ in range(2))
    assert first == second
    assert first["key"] == JOB.key() == JOB.key(first["settings"])


@pytest.mark.parametrize("version", [None, 1, 4])
def test_another_version_is_refused_with_a_remedy(tmp_path, version):
    content = make_row(JOB) | ({} if version is None else {"version": version})
    (tmp_path / "runs.jsonl").write_text(with_checksum(json.dumps(content)) + "\n")
    with pytest.raises(DataFileError, match=rf"line 1: the run is stored in format {version or 1}.*Move the file"):
        read_store(tmp_path / "runs.jsonl")


@pytest.mark.parametrize("content", ['{"a": 1}', '{"a": 1}\n{"a": 2}', "notes"])
def test_a_file_of_the_user_in_the_place_of_a_store_is_not_cut(tmp_path, content):
    store = tmp_path / "runs.jsonl"
    store.write_text(content)
    with pytest.raises(DataFileError, match="run"):
        read_store(store)
    assert store.read_text() == content


def test_a_job_that_cannot_run_is_reported_and_not_stored(tmp_path):
    bad, good = Job("cora", "rate", 0.9, 0, "lp", 0), Job("cora", "rate", 0.005, 0, "lp", 0)
    rows, failures = run_jobs([bad, good], tmp_path / "runs.jsonl", 1, keep_failures=True)
    assert "Lower the rate" in failures[bad.key()].remedy
    assert list(rows) == list(read_store(tmp_path / "runs.jsonl")) == [good.key()]
    with pytest.raises(DccgcnError, match="Lower the rate"):
        run_jobs([bad], tmp_path / "runs.jsonl", 1)


def test_two_commands_do_not_write_to_one_store(tmp_path):
    with lock_file(tmp_path / "runs.jsonl"), pytest.raises(DccgcnError, match="Another process"):
        run_jobs([Job("cora", "rate", 0.005, 0, "lp", 0)], tmp_path / "runs.jsonl", 1)


def test_a_killed_comparison_continues_and_leaves_no_worker(tmp_path):
    """kill -9 in the middle: finished rows stay, the workers end, the next call completes the rest."""
    arguments = [sys.executable, "-m", "dccgcn", "compare", "cora", "--methods", "gcn", "--splits", "6", "--jobs", "2"]
    store = tmp_path / "runs" / "compare" / "cora.jsonl"
    started = subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for _ in range(30_000):
        if store.exists() and store.read_text().count("\n") >= 1:
            break
        time.sleep(0.02)
    workers = [pid for pid, _ in children(started.pid)]
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
    assert json.loads(done.stdout)["scores"][0]["accuracy"]["n"] == 6


def alive(pid):
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def test_a_worker_whose_parent_was_killed_before_it_started_ends():
    code = "from time import sleep; from dccgcn.workflow.runner import start_worker; start_worker(-1); sleep(60)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 1


def test_one_process_gives_what_several_give(tmp_path, one_thread):
    jobs = [Job("cora", "rate", 0.005, seed, "lp", seed) for seed in range(2)]
    found = [run_jobs(jobs, tmp_path / f"{n}.jsonl", n)[0] for n in (1, 2)]
    here, there = ({key: {**row, "seconds": 0} for key, row in rows.items()} for rows in found)
    assert here == there


def test_a_graph_of_ones_own_reaches_the_workers(tmp_path):
    write_tables(toy(60), tmp_path)
    arguments = ["compare", "--nodes", "nodes.csv", "--edges", "edges.csv", "--methods", "lp,poisson", "--json"]
    few = ["--folds", "2", "--repeats", "1"]
    two, one = (json.loads(dccgcn(*arguments, *few, "--jobs", n, "--store", n, cwd=tmp_path).stdout) for n in (2, 1))
    assert [score["accuracy"] for score in two["scores"]] == [score["accuracy"] for score in one["scores"]]
