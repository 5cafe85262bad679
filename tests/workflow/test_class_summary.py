"""Rare classes: warned of where they are never predicted, ranked, and scored by their ranking."""

import json

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

import dccgcn
from dccgcn.api import Result
from dccgcn.errors import DccgcnError
from dccgcn.evaluation.ranking import average_precision, recall_at
from dccgcn.graph.splits import Split
from dccgcn.models.prediction import Prediction
from dccgcn.workflow.class_summary import rare_classes
from dccgcn.workflow.run import FitDetails, measure
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
    return Result.from_run(measure(graph, split, prediction, FitDetails("lp", done.settings, 0, 1.0, 1)))


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
    from dccgcn.artifacts.report.data import report_data

    assert report_data(result).verdict[0].startswith("Class 'partner' (6 of 100 labels) is never predicted.")


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
    assert (
        (tmp_path / "run" / "ranked.csv")
        .read_text()
        .startswith("class,rank,node_id,probability,prediction\npartner,1,")
    )
    dccgcn.run(cora.graph, dccgcn.per_class(cora.graph, 2, seed=0), "lp").save(tmp_path / "run", overwrite=True)
    assert not (tmp_path / "run" / "ranked.csv").exists()


def test_fit_prints_the_warning_on_top_and_json_has_counts_and_trust(tmp_path):
    rows = "".join(f"n{i},{i % 7},{'' if i % 2 else 'partner' if i % 34 == 4 else 'other'}\n" for i in range(200))
    (tmp_path / "nodes.csv").write_text("id,x,topic\n" + rows)
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"n{i},n{(i * 3 + 1) % 200}\n" for i in range(200)))
    arguments = ["fit", "--nodes", "nodes.csv", "--edges", "edges.csv", "--method", "logreg"]
    done = command(*arguments, cwd=tmp_path)
    assert done.stderr.strip().startswith("warning: Class 'partner' (6 of 100 labels) is never predicted")
    assert "Most probable nodes of the rare class partner" in " ".join(done.stdout.split())
    found = json.loads(command(*arguments, "--json", cwd=tmp_path).stdout)
    assert found["predictions"]["nodes"] == 100
    assert [(row["class"], row["labels"], row["predicted"]) for row in found["predictions"]["classes"]] == [
        ("other", 94, 100),
        ("partner", 6, 0),
    ]
