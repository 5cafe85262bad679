"""Explanations: what is listed of a node, and whether the numbers are those of the fit."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import dccgcn
from dccgcn.concord import feature_contributions, similar_nodes
from dccgcn.concord.views import SIMILAR, precompute
from dccgcn.errors import DccgcnError
from dccgcn.features import knn_operator
from dccgcn.graph import NodeGraph
from helpers.command import success
from helpers.groups import blocks, many_words


@pytest.fixture(scope="module", params=["few columns", "many words"])
def result(request):
    graph = blocks(150) if request.param == "few columns" else many_words(150)
    return dccgcn.run(graph, dccgcn.per_class(graph, 8, seed=0), settings={"exclude": [SIMILAR]})


def test_the_contributions_of_all_features_are_the_difference_of_the_scores(result):
    model, graph = result.prediction.model, result.graph
    embedding = precompute(graph, result.settings).projections.embeddings["own"]
    for node in (0, 70, 149):
        contributions = feature_contributions(model, graph, node, 0, 2)
        slope = model["head.own"][:-1, 0] - model["head.own"][:-1, 2]
        expected = embedding.z[node] @ slope
        if embedding.components.size:  # the mean belongs to no feature
            length = np.linalg.norm(graph_row(model, graph, node) @ embedding.components - embedding.mean)
            expected += embedding.mean @ slope / length
        assert contributions.sum() == pytest.approx(expected, abs=1e-3)
        features = graph.features[[node]].toarray()[0] if sp.issparse(graph.features) else graph.features[node]
        if embedding.components.size:
            assert (contributions[features == 0] == 0).all()


def graph_row(model, graph: NodeGraph, node: int) -> np.ndarray:
    row = graph.features[[node]].toarray()[0] * model.get("idf", 1)
    return row / np.linalg.norm(row)


def test_similar_nodes_are_those_of_the_feature_graph(result):
    graph, k = result.graph, 6
    if graph.d <= 128:
        pytest.skip("the feature graph of few columns is of standardised ones")
    operator = knn_operator(graph, k, "symmetric", None, result.prediction.model.get("idf"))
    for node in (0, 70, 149):
        near = [other for other, _ in similar_nodes(result.prediction.model, graph, node, k)]
        assert len(set(near) - set(operator.adjacency[[node]].indices.tolist())) <= 1  # of equal cosines either


def test_an_explanation_lists_what_the_result_holds(result):
    graph, prediction = result.graph, result.prediction
    node = int(result.split.test[5])
    told = result.explain(graph.ids[node])
    assert told.prediction == str(graph.classes[prediction.y_pred[node]])
    assert told.trust == pytest.approx(prediction.trust[node], abs=1e-4)
    assert told.degree == graph.degree[node]
    assert [vote.weight for vote in told.channels] == sorted(prediction.channel_weights.values(), reverse=True)
    labels = [near.label for near in told.neighbours]
    assert labels == sorted(labels, key=lambda label: label is None)
    assert all(x > 0 for _, x in told.speaks_for)
    assert all(x < 0 for _, x in told.speaks_against)
    assert told.headline in repr(told)
    assert json.loads(json.dumps(told.to_dict()))["node"] == told.node
    assert told._repr_html_().count("<table>") == 1
    trained = result.explain(graph.ids[result.split.train[0]])
    assert trained.headline == f"{trained.node} has the training label {trained.label}."


def test_a_method_without_channels_is_explained_by_neighbours(small_cora):
    graph = small_cora.graph
    told = dccgcn.run(graph, dccgcn.per_class(graph, 2, seed=0), "lp").explain(graph.ids[3])
    assert (told.channels, told.similar, told.speaks_for) == ([], [], [])
    assert told.neighbours


def test_the_command_explains_nodes_of_a_saved_run(tmp_path):
    graph = blocks(60)
    result = dccgcn.run(graph, dccgcn.per_class(graph, 3, seed=0))
    result.save(tmp_path / "run")
    listed = json.loads(success("explain", "run", "3", "4", "--json", cwd=tmp_path).stdout)["nodes"]
    assert [one["node"] for one in listed] == ["3", "4"]
    assert listed[0]["prediction"] == result.explain(3).prediction
    assert result.explain(3).headline in success("explain", "run", "3", cwd=tmp_path).stdout.replace("\n", " ")
    with pytest.raises(DccgcnError, match="no node '3x'"):
        result.explain("3x")
