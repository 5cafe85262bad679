"""The packaged specs: the paper's values, the jobs behind each cell, and plans."""

import numpy as np
import pytest

from dccgcn import datasets
from dccgcn.errors import DccgcnError
from dccgcn.methods.base import ENTRIES, get_method
from dccgcn.workflow.runner import append
from helpers.paper_rows import fake_rows, row_of
from paper.reproduction import Reproduction, estimator
from paper.results import Results, further_jobs
from paper.smoke import tiny
from paper.spec import OTHERS, PAPER, jobs_of, parse_spec, read_spec


@pytest.mark.parametrize(
    ("name", "system", "metric", "values"),
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
def test_values_are_those_of_the_paper(name, system, metric, values):
    assert read_spec(name).system(system).published[metric] == values


@pytest.mark.parametrize(
    ("system", "dataset", "labels", "value"),
    [
        ("gcn", "citeseer", "public", 70.3),
        ("am-gcn", "flickr", "am-gcn-20", 75.3),
        ("krylov", "pubmed", "0.05 %", 71.8),
    ],
)
def test_published_values_are_found_by_list_or_by_column(system, dataset, labels, value):
    spec = read_spec("systems")
    column = next(c for c in spec.columns if (c.dataset, c.labels) == (dataset, labels))
    assert spec.published(spec.system(system), column) == value


@pytest.mark.parametrize(
    ("name", "printed"),
    [("table3", (3.1, 2.0, 1.4, 1.1)), ("table4", (2.1, 1.5, 1.3, 1.2)), ("table5", (1.9, 1.1, 0.9, 0.8))],
)
def test_the_gain_of_the_values_is_the_one_printed(name, printed):
    results = Results(read_spec(name), {})
    found = [results.published_gain(results.spec.system("DCC-GCN"), c, "accuracy") for c in range(4)]
    np.testing.assert_allclose(found, printed, atol=1e-9)


@pytest.mark.parametrize("name", PAPER + OTHERS)
def test_every_spec_is_of_known_systems_datasets_and_settings(name):
    spec = read_spec(name)
    assert len({system.name for system in spec.systems}) == len(spec.systems)
    for system in spec.systems:
        assert (system.method is None) == bool(system.reason)
        assert all(len(values) == len(spec.columns) for values in system.published.values())
    for column in spec.columns:
        datasets.describe(column.dataset)
        assert set(column.max_runs) | set(column.excluded) <= set(ENTRIES)
    for job in jobs_of([spec], spec.runs):
        get_method(job.method).published_settings(job.dataset, job.options)
        assert (job.split_seed >= 1000) == (name == "choices")  # choices on development splits, reports on others


def test_the_defaults_are_among_the_choices():
    defaults = get_method("dcc-gcn").settings()
    assert defaults in [defaults.changed(system.options) for system in read_spec("choices").systems]


def test_an_unknown_method_is_refused():
    content = {"kind": "table", "title": "", "systems": ["m3z"]}
    with pytest.raises(DccgcnError, match="Did you mean 'm3s'"):
        parse_spec("x", content)


def test_the_first_split_of_everything_comes_first_and_shared_runs_are_one():
    seeds = [job.split_seed for job in jobs_of([read_spec(name) for name in PAPER], 10)]
    assert seeds == sorted(seeds)
    assert max(seeds) == 9
    table3, figure5, theorems = (read_spec(name) for name in ("table3", "figure5", "theorems"))
    shared = table3.keys["DCC-GCN", 0, 0]
    assert figure5.keys["m = 2", 0, 0] == shared == theorems.keys["DCC-GCN", 0, 0]
    assert figure5.keys["m = 1", 0, 0] != shared
    assert table3.keys["DCC-GCN", 0, 0] != read_spec("figure4").keys["DCC-GCN", 0, 0]  # other epochs
    assert read_spec("overview").keys["concord", 0, 0] == table3.keys["Concord", 0, 0]


def test_slow_systems_have_fewer_runs_and_excluded_ones_none():
    table5 = read_spec("table5")
    by = [job.method for job in jobs_of([table5], 10)]
    assert by.count("m3s") == 4
    assert by.count("gcn") == 40
    assert "grand" not in by
    results = Results(table5, fake_rows(table5))
    assert results.cell(table5.system("m3s"), 0).ours.n == 1
    assert "quarter of an hour" in results.cell(table5.system("grand"), 0).reason


def test_further_splits_are_for_the_subject_and_the_best_others_only():
    spec = read_spec("table3")
    rows = fake_rows(spec)
    jobs = further_jobs([spec], rows, 12)
    assert {job.split_seed for job in jobs} == {10, 11}
    # later systems are better here: ConfGCN is the last of the paper's that runs, m3s the last with all ten runs
    assert {job.method for job in jobs} == {"dcc-gcn", "concord", "confgcn", "m3s"}
    assert {job.split_seed for job in further_jobs([spec], rows, 1000) if job.amount == 0.005} == set(range(10, 110))
    assert {job.split_seed for job in further_jobs([spec], rows, 1000) if job.amount == 0.01} == set(range(10, 60))


def test_a_plan_counts_what_remains_and_uses_similar_runs(tmp_path, monkeypatch):
    spec = read_spec("table3")
    monkeypatch.setattr("paper.reproduction.RESULTS", tmp_path)  # without published runs
    (row,) = row_of(spec, "GAT", 0, 0, seconds=1000.0).values()
    expected = estimator({row["key"]: row})
    assert expected(spec.job(spec.system("GAT"), spec.columns[0], 5)) == 1000
    assert expected(spec.job(spec.system("GCN"), spec.columns[0], 0)) == 10  # nothing is known
    append(tmp_path / "paper.jsonl", row)
    one, total = Reproduction((spec,), tmp_path, 1).plans().itertuples()
    assert (one.runs, one.left) == (total.runs, total.left) == (total.cells, total.cells - 1)
    assert total.hours > 1000 / 3600  # gat at the other rates


def test_only_some_datasets_can_be_run(tmp_path):
    jobs = Reproduction((read_spec("systems"),), tmp_path, 1, frozenset({"cora"})).jobs()
    assert {job.dataset for job in jobs} == {"cora"}


@pytest.mark.parametrize("name", PAPER + OTHERS)
def test_a_smoke_run_is_of_cora_with_every_system(name):
    spec, small = read_spec(name), tiny(read_spec(name))
    assert [system.name for system in small.systems] == [system.name for system in spec.systems]
    assert {job.dataset for job in jobs_of([small], 10)} <= {"cora"}
    assert len(jobs_of([small], 10)) <= 2 * len(spec.systems)
