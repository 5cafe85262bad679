"""Methods compared on one's own labels: folds, paired intervals, and an honest sentence."""

import json

import numpy as np
import pytest
from dccgcn.experiments.fold_store import append_fold_score, read_fold_scores
from dccgcn.experiments.store import with_checksum

from dccgcn.errors import DataFileError, SplitError
from dccgcn.evaluation.paired import paired_difference
from dccgcn.graph import NodeGraph
from dccgcn.graph.folds import label_folds
from dccgcn.io.write import write_tables
from dccgcn.models.registry import get_method
from dccgcn.workflow.compare import FoldScore, compare_methods, conclusion, content_hash
from dccgcn.workflow.run import fit_and_measure
from helpers.command import dccgcn, refused
from helpers.runs import toy


def test_every_label_is_tested_once_and_classes_are_spread():
    graph = toy(60)
    splits = label_folds(graph, 5, seed=0)
    assert sorted(np.concatenate([split.test for split in splits])) == list(range(60))
    for split in splits:
        assert np.bincount(graph.labels[split.test]).tolist() == [4, 4, 4]
        assert len(split.train) == 48
    assert [s.hash for s in splits] != [s.hash for s in label_folds(graph, 5, seed=1)]


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


def test_a_clear_difference_and_one_that_few_labels_cannot_show():
    graph = toy(90)
    scores = compare_methods(graph, [get_method("lp")], repeats=1)
    assert conclusion(scores) == ""
    rng = np.random.default_rng(0)
    blind = NodeGraph(rng.normal(size=(graph.n, 3)), graph.edges, [graph.classes[k] for k in graph.labels])
    kept = {"lp": [], "logreg": [], "poisson": []}
    methods = [get_method(name) for name in kept]
    scores = compare_methods(
        blind, methods, folds=5, repeats=2, on_finished=lambda key, score: kept[key.split()[0]].append(score.accuracy)
    )
    found = next(score.difference for score in scores if score.method == "logreg")
    assert found == paired_difference(kept["logreg"], kept["lp"], test_to_train=1 / 4)
    assert found != paired_difference(kept["logreg"], kept["lp"])
    assert {score.method: score.is_different for score in scores}["logreg"] is True
    said = conclusion(scores)
    assert "logreg less accurate than lp" in said.lower()
    assert "too few labels to tell poisson from lp" in said


def test_an_interrupted_comparison_goes_on_from_its_finished_runs(tmp_path, monkeypatch):
    write_tables(toy(60), tmp_path)
    arguments = ["compare", "--nodes", "nodes.csv", "--edges", "edges.csv", "--methods", "lp,poisson", "--json"]
    arguments += ["--folds", "2", "--repeats", "1"]
    fits = []

    def counted(*given, **options):
        if len(fits) == 3:
            raise KeyboardInterrupt
        fits.append(given[2].name)
        return fit_and_measure(*given, **options)

    monkeypatch.setattr("dccgcn.workflow.compare.fit_and_measure", counted)
    assert dccgcn(*arguments, cwd=tmp_path).returncode != 0
    store = tmp_path / "runs/compare/tables.jsonl"
    assert len(store.read_text().splitlines()) == 3
    with store.open("a") as file:
        file.write('{"key":"lp')  # a kill while writing
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
    text = store.read_text()
    store.write_text(text.replace('"score":[', '"score":[1', 1))
    refused(dccgcn(*arguments, cwd=tmp_path), "line 1", "altered", "Delete the line")


def test_finished_runs_of_another_version_are_refused(tmp_path):
    store = tmp_path / "tables.jsonl"
    append_fold_score(store, "lp 0", FoldScore(50.0, 40.0, 0.1))
    assert read_fold_scores(store) == {"lp 0": FoldScore(50.0, 40.0, 0.1)}
    store.write_text(with_checksum('{"version":2,"key":"lp 0","score":{"accuracy":50}}') + "\n")
    with pytest.raises(DataFileError, match=r"line 1: the run is stored in format 2, and .* reads format 1") as error:
        read_fold_scores(store)
    assert "Move the file" in error.value.remedy
    store.write_text('{"version":1,"key":"lp 0","score":[50,40,0.1]}\n')
    with pytest.raises(DataFileError, match="no checksum"):
        read_fold_scores(store)


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
    graph = toy(60)
    write_tables(graph, tmp_path)
    arguments = ["compare", "--nodes", "nodes.csv", "--edges", "edges.csv", "--methods", "lp,logreg"]
    arguments += ["--folds", "3", "--repeats", "1"]
    done = dccgcn(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in ("60 labels in 3 folds", "95 % interval", "logreg"):
        assert words in " ".join(done.stdout.split())
    found = json.loads(dccgcn(*arguments, "--json", cwd=tmp_path).stdout)
    assert {row["method"] for row in found["scores"]} == {"lp", "logreg"}
    assert found["conclusion"]
    refused(dccgcn(*arguments, "--label-rate", "0.1", cwd=tmp_path), "over folds of your own labels")
    refused(dccgcn("compare", "--methods", "lp"), "A graph is missing")
