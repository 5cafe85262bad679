"""Methods compared on the same splits or folds: paired intervals, and an honest sentence."""

import json

import numpy as np
import pytest

from dccgcn.errors import SplitError
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import label_folds
from dccgcn.quality.paired import paired_difference
from dccgcn.tables.write import write_tables
from dccgcn.workflow.compare import conclusion, content_hash, fold_jobs, leaderboard, split_jobs
from dccgcn.workflow.fitting import fit_and_measure
from dccgcn.workflow.runner import read_store, run_jobs
from helpers.command import dccgcn, refused, success
from helpers.paper_rows import make_row
from helpers.runs import toy


def test_every_label_is_tested_once_and_classes_are_spread():
    graph = toy(60)
    splits = label_folds(graph, 5, seed=0)
    assert sorted(np.concatenate([split.test for split in splits])) == list(range(60))
    for split in splits:
        assert np.bincount(graph.labels[split.test]).tolist() == [4, 4, 4]
        assert len(split.train) == 48
    assert [split.kind for split in splits] == [f"fold-{number}-of-5" for number in range(1, 6)]
    assert [s.hash for s in splits] != [s.hash for s in label_folds(graph, 5, seed=1)]


def test_folds_are_equally_large_where_no_class_fills_them():
    graph = NodeGraph(np.eye(15), [(0, 1)], np.arange(15) % 5)
    assert [len(split.test) for split in label_folds(graph, 5, seed=0)] == [3] * 5


def test_a_single_label_always_trains_and_too_few_labels_are_refused():
    graph = NodeGraph(np.eye(5), [(0, 1)], ["a", "a", "b", "b", "c"])
    splits = label_folds(graph, 2, seed=0)
    assert all(4 in split.train for split in splits)
    assert "'c'" in splits[0].findings[0].text
    with pytest.raises(SplitError, match="5 labels are too few for 6 folds"):
        label_folds(graph, 6, seed=0)


def test_the_interval_of_folds_is_wider_than_that_of_independent_splits():
    a, b = np.arange(15.0), np.random.default_rng(0).normal(0, 1, 15)
    plain, folds = paired_difference(a, b), paired_difference(a, b, test_to_train=0.25)
    ratio = (folds.high - folds.low) / (plain.high - plain.low)
    assert ratio == pytest.approx(np.sqrt((1 / 15 + 0.25) * 15))


def test_a_clear_difference_and_one_that_few_labels_cannot_show(tmp_path):
    graph = toy(90)
    rng = np.random.default_rng(0)
    blind = NodeGraph(rng.normal(size=(graph.n, 3)), graph.edges, [graph.classes[k] for k in graph.labels])
    jobs = fold_jobs(blind, ["lp", "logreg", "poisson"], 5, range(2))
    rows, _ = run_jobs(jobs, tmp_path / "runs.jsonl", 1, graphs={jobs[0].content: blind})
    scores = leaderboard(jobs, rows)
    kept = {
        name: [100 * rows[job.key()]["accuracy"] for job in jobs if job.method == name] for name in ("lp", "logreg")
    }
    found = next(score.difference for score in scores if score.method == "logreg")
    expected = paired_difference(kept["logreg"], kept["lp"], test_to_train=1 / 4)
    assert (found.mean, found.low, found.n) == pytest.approx((expected.mean, expected.low, 10))
    assert found.low < paired_difference(kept["logreg"], kept["lp"]).low
    assert {score.method: score.is_different for score in scores}["logreg"] is True
    said = conclusion(scores)
    assert "logreg less accurate than lp" in said.lower()
    assert "too few labels to tell poisson from lp" in said
    alone = [job for job in jobs if job.method == "lp"]
    assert conclusion(leaderboard(alone, rows)) == ""


def test_a_leaderboard_is_sorted_and_paired_on_the_splits_that_both_have():
    jobs = split_jobs("cora", ["gcn", "dcc-gcn"], "rate", 0.005, range(3))
    lead = {"gcn": 0.0, "dcc-gcn": 0.01}
    rows = {job.key(): make_row(job, accuracy=0.5 + 0.001 * job.seed + lead[job.method]) for job in jobs}
    best, first = leaderboard(jobs, rows)
    assert (best.method, first.method) == ("dcc-gcn", "gcn")
    assert best.difference.mean == pytest.approx(1)
    assert first.difference is None
    assert first.accuracy.mean == pytest.approx(50.1)
    del rows[jobs[0].key()]  # of an interrupted comparison
    best, first = leaderboard(jobs, rows)
    assert (best.difference.n, first.accuracy.n, best.accuracy.n) == (2, 2, 3)
    assert [score.method for score in leaderboard(jobs, {jobs[1].key(): make_row(jobs[1])})] == ["dcc-gcn"]
    assert leaderboard(jobs, {}) == []


def test_an_interrupted_comparison_goes_on_from_its_finished_runs(tmp_path, monkeypatch):
    write_tables(toy(60), tmp_path)
    arguments = ["compare", "--nodes", "nodes.csv", "--edges", "edges.csv", "--methods", "lp,poisson", "--json"]
    arguments += ["--folds", "2", "--repeats", "1", "--jobs", "1"]
    fits = []

    def counted(*given, **options):
        if len(fits) == 3:
            raise KeyboardInterrupt
        fits.append(given[2].name)
        return fit_and_measure(*given, **options)

    monkeypatch.setattr("dccgcn.workflow.jobs.fit_and_measure", counted)
    stopped = dccgcn(*arguments, cwd=tmp_path)
    assert stopped.returncode == 130
    assert "interrupted, 3 of 4 runs" in json.loads(stopped.stdout)["title"]
    store = tmp_path / "runs/compare/tables.jsonl"
    assert len(store.read_text().splitlines()) == 3
    with store.open("a") as file:
        file.write('{"version":3,"key":"lp')  # a kill while writing
    fits[:] = []
    assert dccgcn(*arguments, cwd=tmp_path).returncode == 0
    assert fits == ["poisson"]
    fits[:] = []
    again = dccgcn(*arguments, cwd=tmp_path)
    assert fits == []
    alone = dccgcn(*arguments, "--store", tmp_path / "other", cwd=tmp_path)
    assert alone.returncode != 0  # all four runs are made, and the fourth is interrupted
    assert json.loads(again.stdout)["conclusion"]
    changed = (tmp_path / "edges.csv").read_text().splitlines()
    (tmp_path / "edges.csv").write_text("\n".join(changed[:-1]) + "\n")
    fits[:] = []
    assert dccgcn(*arguments, cwd=tmp_path).returncode != 0  # another graph
    assert len(fits) == 3
    assert len(read_store(store)) == 7
    text = store.read_text()
    store.write_text(text.replace('"accuracy":', '"accuracy":1', 1))
    refused(dccgcn(*arguments, cwd=tmp_path), "line 1", "altered", "Delete the line")


def test_the_hash_of_a_graph_depends_on_all_that_a_run_does():
    graph = toy(12)
    labels = [graph.classes[k] for k in graph.labels]
    rewired = graph.edges.copy()
    rewired[0] = np.argwhere(np.triu(graph.adjacency.toarray() == 0, 1))[0]
    others = [
        graph,
        NodeGraph(graph.features * 2, graph.edges, labels),
        NodeGraph(graph.features, rewired, labels),
        NodeGraph(graph.features, graph.edges, labels, edge_weights=np.full(len(graph.edges), 2.0)),
        NodeGraph(graph.features, graph.edges, labels[::-1]),
        graph.with_relations({"likes": graph.edges}),
        graph.with_relations({"likes": graph.edges}, directed=True),
    ]
    assert len({content_hash(one) for one in others}) == len(others)
    assert content_hash(graph) == content_hash(toy(12))


def test_the_command_compares_on_ones_own_tables(tmp_path):
    write_tables(toy(60), tmp_path)
    arguments = ["compare", "--nodes", "nodes.csv", "--edges", "edges.csv", "--methods", "lp,logreg", "--folds", "3"]
    words = " ".join(success(*arguments, "--repeats", "1", cwd=tmp_path).stdout.split())
    assert all(word in words for word in ("60 labels in 3 folds", "interval", "Recall and average precision", "logreg"))
    refused(dccgcn(*arguments, "--label-rate", "0.1", cwd=tmp_path), "over folds of your own labels")
    refused(dccgcn("compare", "--methods", "lp"), "A graph is missing")
