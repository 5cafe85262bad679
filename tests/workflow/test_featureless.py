"""Graphs of which only the edges are known: from tables to predictions, to new nodes and to the next labels."""

import numpy as np
import pandas as pd
import pytest

from dccgcn import NodeGraph, load_model, read_tables, run
from dccgcn.concord import method
from dccgcn.concord.settings import ConcordSettings
from dccgcn.errors import GraphError
from dccgcn.graph.splits import check_training, uninformed_nodes
from dccgcn.methods.base import Task
from dccgcn.tables.encode import FeatureEncoder
from dccgcn.workflow.active_learning import suggest_labels
from dccgcn.workflow.doctor import examine
from helpers.command import dccgcn, refused, success

CLUBS = 3
SIZE = 12


def frames():
    """Three cliques, connected to no other, two of them with labels; the third is reached by no label."""
    rng = np.random.default_rng(0)
    pairs = [
        (f"m{SIZE * c + i}", f"m{SIZE * c + j}") for c in range(CLUBS) for i in range(SIZE) for j in range(i)
        if j == i - 1 or rng.random() < 0.5
    ]  # fmt: skip
    labels = {0: "chess", 5: "chess", SIZE: "go", SIZE + 5: "go"}
    nodes = pd.DataFrame({"id": [f"m{i}" for i in range(CLUBS * SIZE)]})
    nodes["club"] = [labels.get(i, "") for i in range(len(nodes))]
    return nodes, pd.DataFrame(pairs, columns=["source", "target"])


@pytest.fixture(scope="module")
def channels():
    return read_tables(*frames(), label="club", featureless=True)


def test_a_table_without_features_is_read_if_that_is_asked_for(channels):
    with pytest.raises(GraphError, match="no feature columns") as caught:
        read_tables(*frames(), label="club")
    assert "--featureless" in caught.value.remedy
    assert channels.graph.features.toarray().tolist() == [[1.0]] * CLUBS * SIZE
    assert "no-features" in {finding.code for finding in channels.graph.findings}
    assert not channels.graph.has_features.any()
    assert channels.columns.features == {}
    again = FeatureEncoder.model_validate(channels.encoder.model_dump())
    assert again == channels.encoder
    assert again.transform(pd.DataFrame({"any": [1, 2]})).toarray().tolist() == [[1.0], [1.0]]


def test_other_columns_are_left_alone_and_none_may_be_named():
    nodes, edges = frames()
    nodes["age"] = range(len(nodes))
    assert read_tables(nodes, edges, label="club", featureless=True).graph.d == 1
    for named in ({"features": ["age"]}, {"text": ["age"]}, {"categorical": "age"}):
        with pytest.raises(GraphError, match="Feature columns were named"):
            read_tables(nodes, edges, label="club", featureless=True, **named)


def test_nodes_without_a_label_in_reach_get_no_trust(channels):
    graph = channels.graph
    far = np.arange(graph.n) >= 2 * SIZE
    assert uninformed_nodes(graph, graph.labelled).tolist() == far.tolist()
    prediction = method.fit(Task(graph, graph.labelled), ConcordSettings())
    known = np.arange(SIZE, 2 * SIZE)
    assert (prediction.y_pred[known] == graph.classes.index("go")).all()
    assert prediction.trust is not None
    np.testing.assert_allclose(prediction.trust[far], 1 / graph.c)
    np.testing.assert_allclose(prediction.probabilities[far].max(axis=1), 1 / graph.c, atol=1e-3)
    assert prediction.trust[~far].min() > 1 / graph.c
    assert [f.code for f in check_training(graph, graph.labelled)] == ["unreached-components", "unknown-nodes"]


def test_one_feature_in_reach_is_enough_to_be_known():
    """A component is informed as soon as one of its nodes has a label or features; a lone node by its own alone."""
    x = np.eye(8, 6)  # the last two nodes have none
    graph = NodeGraph(x, [(0, 1), (4, 6)], [0, 1, *[None] * 6])
    assert graph.has_features.tolist() == [True] * 6 + [False] * 2
    assert np.flatnonzero(uninformed_nodes(graph, graph.labelled)).tolist() == [7]
    assert not uninformed_nodes(graph, np.array([0, 1, 7])).any()
    assert graph.with_features(np.ones((8, 1))).has_features.sum() == 0


def test_the_doctor_does_not_point_to_features_that_are_not_there(channels):
    meanings = {diagnosis.code: diagnosis.meaning for diagnosis in examine(channels.graph, 6)}
    assert "guesses" in meanings["unreached-components"]
    assert "no-features" in meanings


def test_new_nodes_are_known_by_their_edges(channels, tmp_path):
    run(channels.graph).save(tmp_path, channels)
    model = load_model(tmp_path)
    new = pd.DataFrame({"id": ["n1", "n2", "n3"]})
    edges = pd.DataFrame({"source": ["n1", "n1", "n2"], "target": ["m13", "m14", "m2"]})
    predictions = model.predict(new, edges)
    assert predictions["prediction"].tolist()[:2] == ["go", "chess"]
    assert predictions["trust"].tolist()[2] == pytest.approx(0.5)
    codes = [finding.code for finding in model.read(new, edges).findings]
    assert codes == ["unknown-nodes"]  # not that all of them lack features: so did those of training


def test_the_next_label_goes_to_the_club_without_one(channels):
    graph = channels.graph
    prediction = method.fit(Task(graph, graph.labelled), ConcordSettings())
    (first,) = suggest_labels(graph, prediction, graph.labelled, 1)
    assert first.position >= 2 * SIZE
    assert first.n_represented == SIZE


def test_from_the_command_line_to_predictions(tmp_path):
    for name, frame in zip(("nodes", "edges"), frames(), strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    tables = ("--nodes", tmp_path / "nodes.csv", "--edges", tmp_path / "edges.csv", "--label", "club")
    refused(dccgcn("fit", *tables), "--featureless")
    done = success("fit", *tables, "--featureless", "--out", tmp_path / "run", "--report")
    assert "their predictions are guesses" in done.stderr
    written = pd.read_csv(tmp_path / "run" / "predictions.csv")
    assert written["prediction"].tolist()[: 2 * SIZE] == ["chess"] * SIZE + ["go"] * SIZE
    success("doctor", *tables, "--featureless")
    success("label-next", tmp_path / "run", "--count", "2")
