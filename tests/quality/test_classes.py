"""Rare classes: warned of where they are never predicted, ranked, and scored by their ranking."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

import dccgcn
from dccgcn.errors import DccgcnError
from dccgcn.graph.splits import Split
from dccgcn.methods.prediction import Prediction
from dccgcn.quality.classes import (
    are_random,
    class_findings,
    class_rank,
    class_table,
    rank_nodes,
    ranked_classes,
    rare_classes,
)
from dccgcn.quality.metrics import average_precision, recall_at
from dccgcn.quality.trust import trusted_nodes
from helpers.command import dccgcn as command


@pytest.fixture(scope="module")
def result():
    """A class of 6 % that no feature and no edge tells from the other."""
    rng = np.random.default_rng(0)
    n = 200
    labels = np.where(np.arange(n) % 17 == 3, "partner", "other")
    edges = rng.integers(0, n, (400, 2))
    graph = dccgcn.NodeGraph(rng.normal(size=(n, 4)), edges[edges[:, 0] != edges[:, 1]], labels, name="shop")
    split = Split.from_parts(graph, "half", np.arange(100), [], np.arange(100, n))
    partner = rng.uniform(0, 0.4, n).astype(np.float32)
    done = dccgcn.run(graph, split, "lp")
    prediction = Prediction(np.stack([1 - partner, partner], axis=1))
    return replace(done, prediction=prediction)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_rare_class_of_numeric_nodes_is_predicted_as_often_as_its_prior_says(seed):
    rng = np.random.default_rng(seed)
    n, known = 600, 200
    truth = np.where(rng.random(n) < 0.05, "fraud", "usual")
    numbers = rng.normal(size=(n, 2))
    numbers[truth == "fraud", 0] += 3
    edges = rng.integers(0, n, (1200, 2))  # which tell nothing
    labels = truth.astype(object)
    labels[known:] = None
    graph = dccgcn.NodeGraph(numbers, edges[edges[:, 0] != edges[:, 1]], labels)
    with_prior = dccgcn.run(graph, settings={"class_prior": {"fraud": 0.05}}).to_frame()["prediction"].to_numpy()
    is_found, is_fraud = with_prior[known:] == "fraud", truth[known:] == "fraud"
    assert 0.02 < is_found.mean() < 0.08
    assert is_found[is_fraud].mean() > 0.4
    assert is_fraud[is_found].mean() > 0.6
    without = dccgcn.run(graph)
    is_missing = (without.to_frame()["prediction"].to_numpy()[known:] != "fraud").all()
    assert is_missing == (without.findings[0].code == "never-predicted")  # predicted, or the first warning


def test_average_precision_and_recall_are_those_of_sklearn():
    rng = np.random.default_rng(1)
    for _ in range(20):
        member, score = rng.random(50) < 0.2, np.round(rng.random(50), 1)  # with ties
        member[0] = True
        assert average_precision(member, score) == pytest.approx(average_precision_score(member, score))
        assert recall_at(member, score, 50) == 1
    with pytest.raises(DccgcnError, match="No node is of the class"):
        average_precision([False], [0.5])


def test_a_class_that_is_never_predicted_is_the_first_warning(result):
    assert (result.prediction.y_pred[result.is_predicted] == 0).all()
    first = result.findings[0]
    assert (first.level, first.code) == ("warning", "never-predicted")
    assert "'partner' (6 of 100 labels) is never predicted" in first.text
    from dccgcn.report.data import report_data

    data = report_data(result)
    assert data.warnings[0] == "The class “partner” is never predicted."
    (ranking,) = data.rankings
    assert [node.id for node in ranking.nodes] == [str(i) for i in result.ranking("partner")["node_id"].head(20)]
    assert ranking.average_precision == result.summary()["rare_classes"][0]["average_precision"]


def test_a_rare_class_is_ranked_and_its_ranking_scored(result):
    ranked = result.ranking("partner")
    assert ranked["node_id"].nunique() == len(ranked) == 100
    assert (np.diff(ranked["probability"]) <= 0).all()
    (scores,) = result.summary()["rare_classes"]
    test = result.split.test
    is_partner = result.graph.labels[test] == 1
    expected = average_precision_score(is_partner, result.prediction.probabilities[test, 1])
    assert scores["average_precision"] == pytest.approx(expected)
    assert scores["k"] == is_partner.sum()
    with pytest.raises(DccgcnError, match="Did you mean 'partner'"):
        result.ranking("partnr")


def test_classes_that_are_all_small_are_not_called_rare(cora):
    assert rare_classes(cora.graph, dccgcn.per_class(cora.graph, 5, seed=0)) == []


def test_the_ranked_list_is_a_file_of_the_run_and_goes_with_it(result, tmp_path, cora):
    result.save(tmp_path / "run")
    ranked = (tmp_path / "run" / "ranked.csv").read_text()
    assert ranked.startswith("class,rank,node_id,probability,prediction\npartner,1,")
    assert ranked.count("\n") == 101
    dccgcn.run(cora.graph, dccgcn.per_class(cora.graph, 2, seed=0), "lp").save(tmp_path / "run", overwrite=True)
    assert not (tmp_path / "run" / "ranked.csv").exists()


def test_fit_prints_the_warning_on_top_and_json_has_counts_and_trust(tmp_path):
    rows = "".join(f"n{i},{i % 7},{'' if i % 2 else 'partner' if i % 34 == 4 else 'other'}\n" for i in range(200))
    (tmp_path / "nodes.csv").write_text("id,x,topic\n" + rows)
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"n{i},n{(i * 3 + 1) % 200}\n" for i in range(200)))
    arguments = ["fit", "--nodes", "nodes.csv", "--edges", "edges.csv", "--method", "logreg"]
    done = command(*arguments, cwd=tmp_path)
    assert done.stderr.strip().startswith("warning: Class 'partner' (6 of 100 labels) is never predicted")
    assert "Most probable nodes of the class partner" in " ".join(done.stdout.split())
    found = json.loads(command(*arguments, "--json", cwd=tmp_path).stdout)
    assert found["predictions"]["nodes"] == 100
    assert [(row["class"], row["labels"], row["predicted"]) for row in found["predictions"]["classes"]] == [
        ("other", 94, 100),
        ("partner", 6, 0),
    ]


def test_equal_probabilities_are_ranked_by_those_before_trust_capped_them(result):
    capped = np.tile(np.array([0.79, 0.21], dtype=np.float32), (200, 1))
    before = np.random.default_rng(2).dirichlet([1, 1], 200).astype(np.float32)
    prediction = Prediction(capped, uncorrected=before)
    order = rank_nodes(result.graph, result.split, prediction, 1)
    assert np.array_equal(order, 100 + np.argsort(-before[100:, 1], kind="stable"))
    assert (class_rank(Prediction(capped), 1) == 0).all()


def test_a_rare_class_that_is_predicted_far_too_seldom_is_a_warning(result):
    partner = np.zeros(200, dtype=np.float32)
    partner[150] = 1
    found = list(class_findings(result.graph, result.split, Prediction(np.stack([1 - partner, partner], axis=1))))
    (warning,) = (finding for finding in found if finding.code == "seldom-predicted")
    assert "'partner' has 6.0% of the labels, but only 1 of 100 predictions" in warning.text
    assert "class_prior={partner: 0.06}" in warning.text
    partner[150:156] = 1
    enough = Prediction(np.stack([1 - partner, partner], axis=1))
    assert not list(class_findings(result.graph, result.split, enough))


def test_the_summary_counts_trusted_predictions_of_each_class(result):
    partner = (np.arange(200) % 10 == 0).astype(np.float32)
    sure = np.arange(200) < 150
    trust = np.where(partner == 1, np.where(sure, 0.9, 0.5), np.where(sure, 0.95, 0.6))  # the class's mean: .7, .775
    prediction = Prediction(np.stack([1 - partner, partner], axis=1), trust=trust, promised=True)
    rows, every = class_table(result.graph, result.split, prediction)
    assert [(row.name, row.predicted, row.trusted) for row in rows] == [("other", 90, 45), ("partner", 10, 0)]
    assert (every.predicted, every.trusted) == (100, 45)
    assert rows[0].confidence == pytest.approx(0.775)
    rows, every = class_table(result.graph, result.split, replace(prediction, promised=False))
    assert every.trusted == 0


@pytest.mark.parametrize(("k", "basis", "word"), [(4, "estimate", "estimated right"), (5, "trust", "trusted")])
def test_trust_from_fewer_labels_than_were_tested_is_called_an_estimate(k, basis, word):
    graph = dccgcn.load_dataset("cora").graph
    split = dccgcn.per_class(graph, k, seed=0)
    trust = np.full(graph.n, 0.9)
    trusted = trusted_nodes(graph, split, Prediction(np.eye(graph.c)[graph.labels], trust=trust, promised=True))
    assert (trusted.basis, trusted.word, trusted.is_trusted.all()) == (basis, word, True)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((20, 20, 20), False), ((5, 20, 20, 16, 10), False), ((8, 7), False), ((30, 10), True), ((12, 9, 3, 7), True)],
)
def test_labels_with_equally_many_of_two_classes_were_not_drawn_at_random(counts, expected):
    assert are_random(np.array(counts)) == expected


def test_a_class_that_is_never_predicted_is_ranked_though_it_is_not_rare(result):
    graph = result.graph
    split = dccgcn.per_class(graph, 3, seed=0)  # half of the labels each
    assert rare_classes(graph, split) == []
    partner = np.full(graph.n, 0.1) + 0.3 * (graph.labels == 1)
    assert ranked_classes(graph, split, Prediction(np.stack([1 - partner, partner], axis=1))) == [1]


def test_the_smallest_class_and_guessing_are_scored_on_the_test_nodes():
    graph = dccgcn.load_dataset("cora").graph
    result = dccgcn.run(graph, hold_out=0.9, seed=3)
    test, truth = result.split.test, graph.labels[result.split.test]
    counts = np.bincount(graph.labels[graph.labelled])
    smallest = truth == counts.argmin()
    assert len(test) == pytest.approx(0.9 * counts.sum(), abs=graph.c)
    assert result.balance.smallest == graph.classes[counts.argmin()]
    assert result.balance.majority == pytest.approx(np.bincount(truth).max() / len(truth))
    assert result.balance.recall == pytest.approx((result.prediction.y_pred[test] == truth)[smallest].mean())
    probability = result.prediction.probabilities[test, counts.argmin()]
    assert result.balance.average_precision == pytest.approx(average_precision_score(smallest, probability), abs=0.02)
    with pytest.raises(DccgcnError, match="exclude one another"):
        dccgcn.run(graph, result.split, hold_out=0.2)
