"""The paper's experiments: its own values, the jobs behind each cell, their store, and what is measured of a run."""

import hashlib
import io
import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from rich.console import Console

from dccgcn import datasets
from dccgcn.cli.live import Board
from dccgcn.errors import DccgcnError
from dccgcn.evaluation import trust
from dccgcn.evaluation.signals import COVERAGES, trust_record
from dccgcn.experiments.experiment import EXPERIMENTS, _line, first_jobs, read_experiment
from dccgcn.experiments.jobs import Job, attempt, execute, prepared
from dccgcn.experiments.measured import entry, further_jobs, paper_gain
from dccgcn.experiments.picture import picture
from dccgcn.experiments.plan import estimator, typical
from dccgcn.experiments.reproduction import Reproduction
from dccgcn.experiments.runner import append, read_stores, run_jobs
from dccgcn.experiments.smoke import tiny
from dccgcn.models.prediction import Prediction
from dccgcn.models.registry import METHODS
from dccgcn.palette import OKABE_ITO, colours
from dccgcn.runtime.lock import lock_file
from helpers.paper_rows import fake_rows, line_of

TINY = {"epochs": 2, "hidden1": 16, "hidden2": 8}


def here(jobs):
    """A pool that runs in this process."""
    yield from map(attempt, jobs)


# the paper's values


@pytest.mark.parametrize(
    ("name", "line", "metric", "values"),
    [
        ("table2", "LP", "macro_f1", (27.4, 61.1, 20.8, 32.6)),
        ("table2", "DCC-GCN", "accuracy", (56.8, 88.9, 72.0, 69.7)),
        ("table3", "GCN", "accuracy", (54.2, 61.0, 66.2, 72.8)),
        ("table3", "DCC-GCN", "accuracy", (63.9, 67.2, 71.8, 74.6)),
        ("table4", "ConfGCN", "accuracy", (49.2, 61.3, 63.2, 66.7)),
        ("table5", "E-GCN", "accuracy", (61.4, 62.8, 66.9, 68.9)),
        ("table6", "GCN + pseudo-labels (DCC-GCN)", "accuracy", (83.1, 72.1, 79.1)),
        ("table7", "w/o aggregation", "macro_f1", (51.1, 87.2, 43.2, 36.3)),
        ("figure6", "MLP", "accuracy", (57.3,)),
    ],
)
def test_values_are_those_of_the_paper(name, line, metric, values):
    assert line_of(read_experiment(name), line).paper[metric] == values


@pytest.mark.parametrize(
    ("name", "printed"),
    [("table3", (3.1, 2.0, 1.4, 1.1)), ("table4", (2.1, 1.5, 1.3, 1.2)), ("table5", (1.9, 1.1, 0.9, 0.8))],
)
def test_the_gain_of_the_values_is_the_one_printed(name, printed):
    e = read_experiment(name)
    found = [paper_gain(e, line_of(e, "DCC-GCN"), c, "accuracy") for c in range(4)]
    np.testing.assert_allclose(found, printed, atol=1e-9)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_of_known_systems_datasets_and_settings(name):
    e = read_experiment(name)
    assert len({line.name for line in e.lines}) == len(e.lines)
    for line in e.lines:
        assert (line.system is None) == bool(line.why)
        assert all(len(values) == len(e.columns) for values in line.paper.values())
    for column in e.columns:
        datasets.describe(column.dataset)
        assert set(column.fewer or {}) | set(column.without or {}) <= set(METHODS)
    for job in first_jobs([e], e.runs):
        METHODS[job.method].published_settings(job.dataset, job.options)
        assert job.split_seed < 1000  # evaluation splits


def test_an_unknown_method_is_not_left_out_silently():
    with pytest.raises(DccgcnError, match="Did you mean 'm3s'"):
        _line("m3z", {}, extra=True)
    assert {method for by in typical().values() for method in by} <= set(METHODS)


# jobs


def test_the_first_split_of_everything_comes_first_and_shared_runs_are_one():
    every = [read_experiment(name) for name in EXPERIMENTS]
    jobs = first_jobs(every, 10)
    seeds = [job.split_seed for job in jobs]
    assert seeds == sorted(seeds)
    assert max(seeds) == 9
    table3, figure5, tested = (read_experiment(name) for name in ("table3", "figure5", "theorems"))
    shared = table3.keys["DCC-GCN", 0, 0]
    assert figure5.keys["m = 2", 0, 0] == shared == tested.keys["DCC-GCN", 0, 0]
    assert figure5.keys["m = 1", 0, 0] != shared
    assert table3.keys["DCC-GCN", 0, 0] != read_experiment("figure4").keys["DCC-GCN", 0, 0]  # other epochs


def test_slow_systems_have_fewer_runs_and_impossible_ones_none():
    table5 = read_experiment("table5")
    by = [job.method for job in first_jobs([table5], 10)]
    assert by.count("m3s") == 4
    assert by.count("gcn") == 40
    assert "grand" not in by
    rows = fake_rows(table5)
    assert entry(table5, rows, line_of(table5, "m3s"), 0, "accuracy", {}).ours.n == 1
    assert "quarter of an hour" in entry(table5, rows, line_of(table5, "grand"), 0, "accuracy", {}).why


def test_further_splits_are_for_the_subject_and_the_best_others_only():
    e = read_experiment("table3")
    rows = fake_rows(e)
    jobs = further_jobs([e], rows, 12)
    assert {job.split_seed for job in jobs} == {10, 11}
    # later lines are better here: ConfGCN is the last of the paper's that runs, m3s the last with all ten runs
    assert {job.method for job in jobs} == {"dcc-gcn", "concord", "confgcn", "m3s"}
    assert {job.split_seed for job in further_jobs([e], rows, 1000) if job.amount == 0.005} == set(range(10, 100))
    assert {job.split_seed for job in further_jobs([e], rows, 1000) if job.amount == 0.01} == set(range(10, 50))


def test_a_key_is_what_it_was_before_there_were_pictures():
    job = Job("cora", "rate", 0.005, 0, "gcn", 0, {"epochs": 3})
    content = {**asdict(job), "options": METHODS["gcn"].settings(epochs=3).model_dump()}
    del content["picture"]
    assert job.key() == hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]
    assert replace(job, picture=100).key() != job.key()


@pytest.mark.benchmark_files("corafull-partial")
def test_corafull_is_measured_without_its_small_classes():
    column = read_experiment("table2").columns[0]
    line = line_of(read_experiment("table2"), "LP")
    job = read_experiment("table2").job(line, column, 0)
    assert job.dataset == "corafull-partial"
    graph, split = prepared(datasets.load(job.dataset), job)
    assert graph.c == 67
    assert len(split.train) == 67 * 20
    assert (graph.labels[split.test] >= 0).all()


def test_without_calibration_is_the_same_run_before_it():
    job = Job("cora", "rate", 0.01, 0, "dcc-gcn", 0, {**TINY, "epochs": 12})
    whole, ablated = execute(job), execute(replace(job, options={**job.options, "calibration": False}))
    assert whole["accuracy"] != whole["accuracy_before"]
    assert ablated["accuracy"] == whole["accuracy_before"]
    assert ablated["macro_f1"] == whole["macro_f1_before"]


# the store


def test_an_old_line_serves_where_it_tells_enough(tmp_path):
    job = Job("cora", "rate", 0.005, 0, "gcn", 0, {"epochs": 2})
    old = {name: value for name, value in execute(job).items() if name != "trust"} | {"accuracy": 0.125}
    append(tmp_path / "overview.jsonl", old)
    others = [tmp_path / "overview.jsonl"]
    kept = run_jobs([job], tmp_path / "paper.jsonl", here, others=others)
    assert kept[job.key()] == old
    again = run_jobs([job], tmp_path / "paper.jsonl", here, others=others, usable=lambda row: "trust" in row)
    assert again[job.key()]["accuracy"] != 0.125
    assert read_stores(tmp_path / "paper.jsonl", others)[job.key()] == again[job.key()]


def test_a_job_that_cannot_run_is_told_and_not_stored(tmp_path):
    bad, good = Job("cora", "rate", 0.9, 0, "lp", 0), Job("cora", "rate", 0.005, 0, "lp", 0)
    rows = run_jobs([bad, good], tmp_path / "runs.jsonl", here, keep_failures=True)
    assert "Lower the rate" in rows[bad.key()]["remedy"]
    assert list(read_stores(tmp_path / "runs.jsonl")) == [good.key()]
    with pytest.raises(DccgcnError, match="Lower the rate"):
        run_jobs([bad], tmp_path / "runs.jsonl", here)


def test_two_commands_do_not_write_to_one_store(tmp_path):
    with lock_file(tmp_path / "runs.jsonl"), pytest.raises(DccgcnError, match="Another process"):
        run_jobs([Job("cora", "rate", 0.005, 0, "lp", 0)], tmp_path / "runs.jsonl", here)


def test_a_plan_counts_what_is_left_and_knows_like_runs(tmp_path):
    e = read_experiment("table3")
    job = next(job for job in first_jobs([e], 1) if job.method == "gat")
    row = {"key": job.key(), "job": asdict(job), "seconds": 1000.0}
    expected = estimator({job.key(): row})
    assert expected(replace(job, split_seed=5, seed=5)) == 1000
    assert expected(replace(job, method="gcn")) == typical()["cora"]["gcn"]
    append(tmp_path / "paper.jsonl", row)
    one, total = Reproduction((e,), tmp_path, 1).plans()
    assert (one.runs, one.left) == (total.runs, total.left) == (total.cells, total.cells - 1)
    assert total.seconds > 1000  # gat at the other rates


# what is measured of a run


def test_the_record_of_trust_is_made_of_the_measures():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    truth, test = np.arange(40) % 3, np.arange(5, 40)
    agree = np.arange(40) % 2 == 0
    prediction = Prediction(p, channels={"topology": p[::-1], "feature": p}, channels_agree=agree, trust=p[:, 0])
    record = trust_record(prediction, test, truth[test])
    right = p[test].argmax(axis=1) == truth[test]
    answer = record["answer"]
    assert answer["ece"] == pytest.approx(trust.ece(p[test], truth[test]), abs=1e-5)
    assert answer["gap"] == pytest.approx(p[test].max(axis=1).mean() - right.mean(), abs=1e-5)
    assert answer["signals"]["margin"]["auroc"] == pytest.approx(trust.auroc(trust.margin(p[test]), right), abs=1e-5)
    assert answer["signals"]["agreement"]["auroc"] == pytest.approx(trust.auroc(agree[test] * 1.0, right), abs=1e-5)
    assert answer["signals"]["trust"]["aurc"] == pytest.approx(trust.risk_coverage(p[test, 0], right).area, abs=1e-5)
    assert len(answer["signals"]["entropy"]["risk"]) == len(COVERAGES)
    assert answer["signals"]["entropy"]["risk"][-1] == pytest.approx(1 - right.mean(), abs=1e-5)
    first = p[::-1][test].argmax(axis=1) == truth[test]
    assert record["channel"]["accuracy"] == pytest.approx(first.mean(), abs=1e-5)
    assert "trust" not in record["channel"]["signals"]
    json.dumps(record)


def test_a_method_with_nothing_but_probabilities_has_a_record_too():
    record = trust_record(Prediction(np.eye(3)), np.arange(3), np.array([0, 1, 2]))
    assert list(record) == ["answer"]
    assert set(record["answer"]["signals"]) == {"confidence", "margin", "entropy"}
    assert record["answer"]["signals"]["margin"]["auroc"] is None  # nothing is wrong


def test_a_picture_is_of_labelled_nodes_and_pure_where_classes_lie_apart():
    labels = np.repeat([0, 1, -1], 30)
    x = np.random.default_rng(0).normal(size=(90, 4)).astype(np.float32) + 50 * labels[:, None]
    made = picture(Prediction(np.full((90, 2), 0.5), embeddings={"output": x}), labels, 1000, 0)
    assert made["nodes"] == list(range(60))
    assert made["purity"] > 0.95
    assert len(picture(Prediction(np.full((90, 2), 0.5)), labels, 20, 0)["xy"]) == 20


# what is shown meanwhile


def test_a_smoke_run_is_of_cora_with_every_line():
    for name in EXPERIMENTS:
        e, small = read_experiment(name), tiny(read_experiment(name))
        assert [line.name for line in small.lines] == [line.name for line in e.lines]
        assert {job.dataset for job in first_jobs([small], 10)} <= {"cora"}
        assert len(first_jobs([small], 10)) <= 2 * len(e.lines)


def test_the_live_display_knows_cells_time_and_the_table_so_far(tmp_path):
    e = tiny(read_experiment("table6"))
    jobs = {job.key(): job for job in first_jobs([e], 10)}
    board = Board(Reproduction((e,), tmp_path, 10))
    assert board.left(2).startswith("0 of 3 cells, about ")
    row = {}
    for nth in range(2):
        key = e.keys["GCN", 0, nth]
        row = {"key": key, "job": asdict(jobs[key]), "accuracy": 0.5 + 0.1 * nth, "seconds": 1.0}
        board.add(row)
    assert board.left(2).startswith("1 of 3 cells")
    assert board.left(None) == "1 of 3 cells"
    console = Console(file=io.StringIO(), width=120)
    console.print(board.table(row))
    assert "55.0 ± 7.1 (2)" in console.file.getvalue()


def test_colours_differ():
    assert len(set(OKABE_ITO)) == 9
    assert len(set(colours(27))) == 27
    assert colours(9) == list(OKABE_ITO)
