"""What is measured of a run, and how the runs are packed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dccgcn.concord.confidence import top_two_margin
from dccgcn.methods.prediction import Prediction
from dccgcn.quality import calibration
from dccgcn.workflow.jobs import graph_and_split
from dccgcn.workflow.runner import append, attempt
from helpers.paper_rows import make_row
from paper.cpu import cpu_description
from paper.measure import PaperJob, embedding_map, measure
from paper.pages import provenance
from paper.runs import job_of, packed, read_all, stores_in, unpacked
from paper.signals import COVERAGES, trust_columns
from paper.spec import read_spec

JOB = PaperJob("cora", "rate", 0.005, 0, "lp", 0)
TINY = {"epochs": 2, "hidden1": 16, "hidden2": 8}


@pytest.mark.benchmark_files("corafull-partial")
def test_corafull_is_measured_without_its_small_classes():
    spec = read_spec("table2")
    job = spec.job(spec.system("LP"), spec.columns[0], 0)
    assert job.dataset == "corafull-partial"
    graph, split = graph_and_split(job)
    assert graph.c == 67
    assert len(split.train) == 67 * 20
    assert (graph.labels[split.test] >= 0).all()


def test_without_calibration_is_the_same_run_before_it():
    job = PaperJob("cora", "rate", 0.01, 0, "dcc-gcn", 0, {**TINY, "epochs": 12})
    whole, ablated = measure(job), measure(replace(job, options={**job.options, "calibration": False}))
    assert whole["accuracy"] != whole["accuracy_uncorrected"]
    assert ablated["accuracy"] == whole["accuracy_uncorrected"]
    assert ablated["macro_f1"] == whole["macro_f1_uncorrected"]


def test_a_run_survives_the_parquet_file(tmp_path):
    job = PaperJob("cora", "rate", 0.005, 0, "dcc-gcn", 0, TINY, map_nodes=50)
    rows = {row["key"]: row for row in (attempt(job, measure), attempt(JOB, measure))}
    (tmp_path / "runs.parquet").write_bytes(packed(rows, rows))
    again = unpacked(tmp_path / "runs.parquet")
    assert again == rows
    assert job_of(again[job.key()]) == job
    assert len(again[job.key()]["map"]) <= 100
    counts = [again[job.key()][name] for name in ("both_right", "both_wrong_same", "both_wrong_different")]
    assert 0 < sum(counts) <= again[job.key()]["n_test"]
    assert packed(dict(reversed(rows.items())), rows) == (tmp_path / "runs.parquet").read_bytes()


def test_signals_are_packed_of_detailed_runs_only(tmp_path):
    job = PaperJob("cora", "rate", 0.005, 0, "dcc-gcn", 0, TINY)
    row = attempt(job, measure)
    (tmp_path / "runs.parquet").write_bytes(packed({row["key"]: row}, ()))
    (again,) = unpacked(tmp_path / "runs.parquet").values()
    assert again["accuracy"] == row["accuracy"]
    assert not any(name == "bins" or name.startswith(("final", "first")) for name in again)


def test_a_changed_default_makes_a_stored_run_another_job(tmp_path):
    row = make_row(JOB, settings="of another version")
    (tmp_path / "runs.parquet").write_bytes(packed({row["key"]: row}, ()))
    assert JOB.key() not in unpacked(tmp_path / "runs.parquet")


def test_runs_of_other_stores_count_and_the_own_store_takes_precedence(tmp_path):
    own, row = tmp_path / "paper.jsonl", make_row(JOB)

    def accuracy():
        return read_all(own, stores_in(tmp_path))[JOB.key()]["accuracy"]

    (tmp_path / "runs.parquet").write_bytes(packed({JOB.key(): {**row, "accuracy": 0.5}}, ()))
    assert accuracy() == 0.5
    for store, value in ((tmp_path / "other.jsonl", 0.125), (own, 0.25)):
        append(store, {**row, "accuracy": value})
        assert accuracy() == value


def test_a_run_carries_its_processor():
    row = measure(JOB)
    assert row["cpu"] == cpu_description()
    assert "on a processor that was not recorded" in provenance("x", pd.DataFrame([{**row, "cpu": None}]))
    assert f"on {row['cpu']};" in provenance("x", pd.DataFrame([row]))


def test_trust_columns_are_those_of_the_measures():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    truth, test = np.arange(40) % 3, np.arange(5, 40)
    agree = np.arange(40) % 2 == 0
    prediction = Prediction(
        p, channels={"topology": p[::-1], "features": p}, channels_agree=agree, trust=p[:, 0], uncorrected=p[::-1]
    )
    found = trust_columns(prediction, test, truth[test])
    final, own, auroc, margin = p[test], p[::-1][test], calibration.auroc, top_two_margin
    right, first = (q.argmax(axis=1) == truth[test] for q in (final, own))
    expected = {
        "final_ece": calibration.calibration_error(calibration.bars(final.max(axis=1), right)),
        "final_gap": final.max(axis=1).mean() - right.mean(),
        "final_auroc_margin": auroc(margin(final), right),
        "final_auroc_agreement": auroc(agree[test] * 1.0, right),
        "final_aurc_trust": calibration.risk_coverage(p[test, 0], right).area,
        "pool_auroc_margin": auroc(margin(own), right),
        "first_auroc_margin": auroc(margin(own), first),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-5)
    assert len(found["final_risk_entropy"]) == len(COVERAGES)
    assert found["final_risk_entropy"][-1] == pytest.approx(1 - right.mean(), abs=1e-5)
    assert "first_auroc_trust" not in found
    assert np.reshape(found["bins"], (-1, 3))[:, 0].sum() == len(test)


def test_a_method_with_nothing_but_probabilities_has_trust_columns_too():
    found = trust_columns(Prediction(np.eye(3)), np.arange(3), np.array([0, 1, 2]))
    assert not any(name.startswith(("first", "pool")) for name in found)
    assert {name.split("_")[2] for name in found if "aurc" in name} == {"confidence", "margin", "entropy"}
    assert "final_auroc_margin" not in found  # nothing is wrong


def test_a_map_is_of_labelled_nodes_and_pure_where_classes_lie_apart():
    labels = np.repeat([0, 1, -1], 30)
    x = np.random.default_rng(0).normal(size=(90, 4)).astype(np.float32) + 50 * labels[:, None]
    made = embedding_map(Prediction(np.full((90, 2), 0.5), embeddings={"output": x}), labels, 1000, 0)
    assert len(made["map"]) == 2 * 60
    assert made["purity"] > 0.95
    assert len(embedding_map(Prediction(np.full((90, 2), 0.5)), labels, 20, 0)["map"]) == 2 * 20


def test_agreement_then_margin_ranks_by_agreement_first():
    p = np.array([[0.95, 0.05], [0.55, 0.45], [0.9, 0.1], [0.6, 0.4]])
    agree = np.array([False, True, False, True])
    truth = np.array([1, 0, 1, 0])  # right where the channels agree, though the margin is small there
    record = trust_columns(Prediction(p, {"one": p, "two": p}, channels_agree=agree), np.arange(4), truth)
    assert record["final_auroc_agreement_then_margin"] == 1
    assert record["final_auroc_margin"] == 0
    assert calibration.auroc(2.0 * agree + top_two_margin(p), p.argmax(axis=1) == truth) == 1
