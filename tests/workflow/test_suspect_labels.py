"""Suspect labels of a fit: the table, the finding, and the doctor's line."""

import numpy as np
import pytest

import dccgcn
from dccgcn.graph.splits import per_class
from dccgcn.workflow.doctor import check_given_labels


@pytest.fixture(scope="module")
def mislabelled():
    """Cora with 15 labels per class, of which one of the first class is given as the second."""
    cora = dccgcn.load_dataset("cora").graph
    train = per_class(cora, 15, 3).train
    labels = np.full(cora.n, None, dtype=object)
    labels[train] = [cora.classes[code] for code in cora.labels[train]]
    wrong = train[cora.labels[train] == 0][0]
    labels[wrong] = cora.classes[1]
    return cora.with_labels(labels), cora.ids[wrong], labels[wrong]


def test_the_wrong_label_is_listed_with_its_evidence(mislabelled):
    graph, wrong, label = mislabelled
    result = dccgcn.run(graph)
    frame = result.suspect_labels()
    row = frame[frame["node_id"] == wrong].iloc[0]
    assert row["label"] == str(label)
    assert row["probability_prediction"] > row["probability_label"] + 0.5
    assert row["channels_against"] > 0.5
    assert len(frame) < 20
    assert [f.code for f in result.findings].count("suspect-labels") == 1


def test_the_doctor_names_it(mislabelled):
    graph, *_ = mislabelled
    [diagnosis] = check_given_labels(graph)
    assert diagnosis.code == "suspect-labels"
    assert f"of {len(graph.labelled)} labels look wrong" in diagnosis.text


def test_methods_without_held_out_predictions_have_no_suspects(mislabelled):
    graph, *_ = mislabelled
    assert dccgcn.run(graph, method="lp").suspect_labels().empty
