"""Suspect labels of a fit: the table, the finding, and the doctor's line."""

from dataclasses import replace

import numpy as np
import pytest

import dccgcn
from dccgcn.errors import DccgcnError, Finding
from dccgcn.graph.splits import per_class
from dccgcn.workflow.doctor import check_given_labels
from dccgcn.workflow.suspect_labels import suspect_findings


@pytest.fixture(scope="module")
def mislabelled():
    """Cora with 15 labels per class, of which one of each class is given as the next class."""
    cora = dccgcn.load_dataset("cora").graph
    train = per_class(cora, 15, 3).train
    labels = np.full(cora.n, None, dtype=object)
    labels[train] = [cora.classes[code] for code in cora.labels[train]]
    wrong = {}
    for code in range(cora.c):
        node = train[cora.labels[train] == code][0]
        labels[node] = cora.classes[(code + 1) % cora.c]
        wrong[cora.ids[node]] = str(labels[node])
    return cora.with_labels(labels), wrong


def test_wrong_labels_are_listed_with_their_evidence(mislabelled):
    graph, wrong = mislabelled
    result = dccgcn.run(graph)
    frame = result.suspect_labels()
    found = frame[np.isin(frame["node_id"], list(wrong))]
    assert len(found) >= 4
    assert found["label"].tolist() == [wrong[node] for node in found["node_id"]]
    assert (found["probability_prediction"] > found["probability_label"]).all()
    assert (found["channels_against"] > 0.5).all()
    assert len(frame) < 20
    assert [f.code for f in result.findings].count("suspect-labels") == 1
    named = graph.with_names([f"paper {i}" for i in range(graph.n)])
    (finding,) = suspect_findings(named, result.split.train, result.prediction)
    assert f"paper {graph.positions([frame['node_id'][0]])[0]} ({frame['node_id'][0]})" in finding.text
    useless = replace(result.prediction, findings=(Finding("warning", "uninformative", "By chance."),))
    assert suspect_findings(named, result.split.train, useless) == []
    embeddings = result.embeddings()
    assert embeddings.shape == (graph.n, result.prediction.embeddings["joint"].shape[1])
    assert embeddings.index.tolist() == graph.ids.tolist()


def test_the_doctor_names_it(mislabelled):
    graph, *_ = mislabelled
    [diagnosis] = check_given_labels(graph)
    assert diagnosis.code == "suspect-labels"
    assert f"of {len(graph.labelled)} labels look wrong" in diagnosis.text


def test_methods_without_held_out_predictions_have_no_suspects(mislabelled):
    graph, *_ = mislabelled
    result = dccgcn.run(graph, method="lp")
    assert result.suspect_labels().empty
    with pytest.raises(DccgcnError, match="lp has no embeddings"):
        result.embeddings()
