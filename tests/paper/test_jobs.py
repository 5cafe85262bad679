"""Jobs, their rows and their store: what a key depends on, what is kept, and what survives a crash."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from dccgcn import datasets
from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.evaluation import trust
from dccgcn.evaluation.signals import COVERAGES, trust_record
from dccgcn.experiments.execute import attempt, execute
from dccgcn.experiments.jobs import Job, graph_and_split
from dccgcn.experiments.pages import provenance
from dccgcn.experiments.picture import embedding_map
from dccgcn.experiments.rows import RunRow, TrustMetrics
from dccgcn.experiments.runner import local_pool, run_jobs
from dccgcn.experiments.spec import read_spec
from dccgcn.experiments.store import append, pack, read_store, read_stores, with_checksum
from dccgcn.models.prediction import Prediction
from dccgcn.runtime.cpu import cpu_description
from dccgcn.runtime.lock import lock_file
from helpers.paper_rows import make_row

JOB = Job("cora", "rate", 0.005, 1000, "gcn", 1000, {"epochs": 3})
TINY = {"epochs": 2, "hidden1": 16, "hidden2": 8}


def here(jobs):
    """A pool that runs in this process."""
    yield from map(attempt, jobs)


# jobs


def test_the_key_depends_on_everything_that_determines_the_result():
    others = [
        replace(JOB, dataset="cora-planetoid"),
        replace(JOB, amount=0.01),
        replace(JOB, split_seed=1001),
        replace(JOB, seed=1),
        replace(JOB, method="dcc-gcn"),
        replace(JOB, options={"epochs": 4}),
        replace(JOB, picture=100),
    ]
    keys = {job.key() for job in (JOB, *others)}
    assert len(keys) == 8
    assert replace(JOB, options={"epochs": 3, "hidden": 16}).key() == JOB.key()  # 16 is the default
    assert replace(JOB, amount=1).key() == replace(JOB, amount=1.0).key()


def test_a_job_is_the_same_whenever_it_runs():
    first, second = (row.model_copy(update={"seconds": 0}) for row in (execute(JOB), execute(JOB)))
    assert first == second
    assert first.job == JOB


@pytest.mark.benchmark_files("corafull-partial")
def test_corafull_is_measured_without_its_small_classes():
    spec = read_spec("table2")
    job = spec.job(spec.system("LP"), spec.columns[0], 0)
    assert job.dataset == "corafull-partial"
    graph, split = graph_and_split(datasets.load(job.dataset), job)
    assert graph.c == 67
    assert len(split.train) == 67 * 20
    assert (graph.labels[split.test] >= 0).all()


def test_without_calibration_is_the_same_run_before_it():
    job = Job("cora", "rate", 0.01, 0, "dcc-gcn", 0, {**TINY, "epochs": 12})
    whole, ablated = execute(job), execute(replace(job, options={**job.options, "calibration": False}))
    assert whole.accuracy != whole.accuracy_uncorrected
    assert ablated.accuracy == whole.accuracy_uncorrected
    assert ablated.macro_f1 == whole.macro_f1_uncorrected


# rows


def test_a_row_survives_its_line_of_json():
    row = execute(Job("cora", "rate", 0.005, 0, "dcc-gcn", 0, TINY, picture=50))
    assert row.channel_counts.n == row.n_test
    assert len(row.picture.nodes) == len(row.picture.xy) <= 50
    assert RunRow.model_validate_json(row.model_dump_json()) == row


def test_a_run_carries_its_processor():
    row = execute(Job("cora", "rate", 0.005, 0, "lp", 0))
    assert row.cpu == cpu_description() == RunRow.model_validate_json(row.model_dump_json()).cpu
    assert "on a processor that was not recorded" in provenance("x", [row.model_copy(update={"cpu": None})])
    assert f"on {row.cpu};" in provenance("x", [row])


@pytest.mark.parametrize("path", [(), ("job",), ("trust",), ("trust", "final")])
def test_an_unknown_field_is_refused(path):
    content = json.loads(make_row(JOB).model_dump_json())
    part = content
    for name in path:
        part = part[name]
    part["unknown"] = 1
    with pytest.raises(ValidationError, match="unknown"):
        RunRow.model_validate(content)


@pytest.mark.parametrize("version", [None, 1, 3])
def test_another_version_is_refused_with_a_remedy(tmp_path, version):
    content = {**json.loads(make_row(JOB).model_dump_json()), "version": version, "new": 1}
    if version is None:
        del content["version"]
    (tmp_path / "runs.jsonl").write_text(json.dumps(content) + "\n")
    with pytest.raises(DataFileError, match=rf"line 1: the run is stored in format {version or 1}.*Move the file"):
        read_store(tmp_path / "runs.jsonl")


# the store


def test_finished_jobs_are_not_run_again(tmp_path):
    store = tmp_path / "runs.jsonl"
    row = make_row(JOB, accuracy=0.125)  # not what the job would give
    append(store, row)
    progress = []
    rows, failures = run_jobs([JOB], store, local_pool(1), lambda *one: progress.append(one))
    assert (rows, failures) == ({JOB.key(): row}, {})
    assert progress == [(1, 1, None)]


def test_runs_of_other_stores_count_and_the_own_store_takes_precedence(tmp_path):
    own, other = tmp_path / "paper.jsonl", tmp_path / "other.jsonl"
    append(other, make_row(JOB, accuracy=0.125))
    assert run_jobs([JOB], own, here, others=[other])[0][JOB.key()].accuracy == 0.125
    assert not own.exists()
    append(own, make_row(JOB, accuracy=0.25))
    assert read_stores(own, [other])[JOB.key()].accuracy == 0.25


def test_an_incomplete_last_line_is_removed(tmp_path):
    store = tmp_path / "runs.jsonl"
    append(store, make_row(JOB))
    complete = store.read_bytes()
    store.write_bytes(complete + b'{"key": "b", "accu')
    assert list(read_store(store, repair=False)) == [JOB.key()]
    assert store.read_bytes() != complete
    assert list(read_store(store)) == [JOB.key()]
    assert store.read_bytes() == complete


def test_a_broken_line_in_the_middle_is_named(tmp_path):
    store = tmp_path / "runs.jsonl"
    line = with_checksum(make_row(JOB).model_dump_json())
    store.write_text(f"{line}\nnonsense\n{line}\n")
    with pytest.raises(DataFileError, match="line 2 is not a run"):
        read_store(store)


def test_a_gzipped_store_has_the_same_runs_and_the_same_bytes(tmp_path):
    rows = [make_row(replace(JOB, seed=seed)) for seed in range(3)]
    (tmp_path / "runs.jsonl.gz").write_bytes(pack(rows))
    assert read_store(tmp_path / "runs.jsonl.gz") == {row.key: row for row in rows}
    assert pack(rows[::-1]) == pack(rows)
    (tmp_path / "runs.jsonl.gz").write_bytes(b"not packed")
    with pytest.raises(DataFileError, match="not a complete gzip file"):
        read_store(tmp_path / "runs.jsonl.gz")


def test_a_job_that_cannot_run_is_reported_and_not_stored(tmp_path):
    bad, good = Job("cora", "rate", 0.9, 0, "lp", 0), Job("cora", "rate", 0.005, 0, "lp", 0)
    rows, failures = run_jobs([bad, good], tmp_path / "runs.jsonl", here, keep_failures=True)
    assert "Lower the rate" in failures[bad.key()].remedy
    assert list(rows) == list(read_stores(tmp_path / "runs.jsonl")) == [good.key()]
    with pytest.raises(DccgcnError, match="Lower the rate"):
        run_jobs([bad], tmp_path / "runs.jsonl", here)


def test_two_commands_do_not_write_to_one_store(tmp_path):
    with lock_file(tmp_path / "runs.jsonl"), pytest.raises(DccgcnError, match="Another process"):
        run_jobs([Job("cora", "rate", 0.005, 0, "lp", 0)], tmp_path / "runs.jsonl", here)


def test_a_killed_comparison_continues_and_leaves_no_worker(tmp_path):
    """kill -9 in the middle: finished rows stay, the workers end, the next call completes the rest."""
    arguments = [sys.executable, "-m", "dccgcn", "compare", "cora", "--methods", "gcn", "--splits", "4", "--jobs", "1"]
    store = tmp_path / "runs" / "compare" / "cora.jsonl"
    started = subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for _ in range(30_000):
        if store.exists() and store.read_text().count("\n") >= 1:
            break
        time.sleep(0.02)
    workers = children(started.pid)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    before = read_store(store)
    assert 1 <= len(before) < 4
    for _ in range(1000):
        if not any(alive(pid) for pid in workers):
            break
        time.sleep(0.1)
    assert not any(alive(pid) for pid in workers)
    done = subprocess.run([*arguments, "--json"], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    after = read_store(store)
    assert len(after) == 4
    assert all(after[key] == row for key, row in before.items())
    assert json.loads(done.stdout)["standings"][0]["accuracy"]["n"] == 4


def children(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(child) for child in listed.split()]


def alive(pid):
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def test_a_worker_whose_parent_was_killed_before_it_started_ends():
    code = "from time import sleep; from dccgcn.experiments.runner import start_worker; start_worker(-1); sleep(60)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 1


# what is measured of a run


def test_trust_metrics_are_those_of_the_measures():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    truth, test = np.arange(40) % 3, np.arange(5, 40)
    agree = np.arange(40) % 2 == 0
    prediction = Prediction(p, channels={"topology": p[::-1], "features": p}, channels_agree=agree, trust=p[:, 0])
    metrics = TrustMetrics.model_validate(trust_record(prediction, test, truth[test]))
    right = p[test].argmax(axis=1) == truth[test]
    final = metrics.final
    assert final.ece == pytest.approx(trust.ece(p[test], truth[test]), abs=1e-5)
    assert final.confidence_gap == pytest.approx(p[test].max(axis=1).mean() - right.mean(), abs=1e-5)
    assert final.signals["margin"].auroc == pytest.approx(trust.auroc(trust.margin(p[test]), right), abs=1e-5)
    assert final.signals["agreement"].auroc == pytest.approx(trust.auroc(agree[test] * 1.0, right), abs=1e-5)
    assert final.signals["trust"].aurc == pytest.approx(trust.risk_coverage(p[test, 0], right).area, abs=1e-5)
    assert len(final.signals["entropy"].risk) == len(COVERAGES)
    assert final.signals["entropy"].risk[-1] == pytest.approx(1 - right.mean(), abs=1e-5)
    first = p[::-1][test].argmax(axis=1) == truth[test]
    assert metrics.first_channel.accuracy == pytest.approx(first.mean(), abs=1e-5)
    assert "trust" not in metrics.first_channel.signals
    assert set(metrics.other_auroc) == {"topology", "features"}


def test_a_method_with_nothing_but_probabilities_has_trust_metrics_too():
    metrics = TrustMetrics.model_validate(trust_record(Prediction(np.eye(3)), np.arange(3), np.array([0, 1, 2])))
    assert metrics.first_channel is None
    assert metrics.other_auroc == {}
    assert set(metrics.final.signals) == {"confidence", "margin", "entropy"}
    assert metrics.final.signals["margin"].auroc is None  # nothing is wrong


def test_a_map_is_of_labelled_nodes_and_pure_where_classes_lie_apart():
    labels = np.repeat([0, 1, -1], 30)
    x = np.random.default_rng(0).normal(size=(90, 4)).astype(np.float32) + 50 * labels[:, None]
    made = embedding_map(Prediction(np.full((90, 2), 0.5), embeddings={"output": x}), labels, 1000, 0)
    assert made.nodes == list(range(60))
    assert made.purity > 0.95
    assert len(embedding_map(Prediction(np.full((90, 2), 0.5)), labels, 20, 0).xy) == 20
