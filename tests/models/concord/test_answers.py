"""What Concord promises about its answers, on graphs of every kind and on ones that have grown."""

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn import NodeGraph, per_class
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.models.concord import groundwork, method
from dccgcn.models.concord.members import Labels
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import rarity
from dccgcn.models.concord.state import Bases, from_arrays, to_arrays
from helpers.groups import blocks

RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def graph() -> NodeGraph:
    return blocks()


def test_what_it_says_of_each_node(graph: NodeGraph) -> None:
    split = per_class(graph, 3, 0)
    prediction = method.fit(graph, split.train, ConcordSettings(), 0)
    right = prediction.y_pred == graph.labels
    assert right[split.test].mean() > 0.9
    assert right[split.train].all()
    assert (prediction.trust[split.train] == 1).all()
    np.testing.assert_allclose(prediction.probabilities.sum(axis=1), 1, rtol=1e-5)
    trusted = np.maximum(prediction.trust, 1 / graph.c)[split.test]  # no answer is less probable than chance
    np.testing.assert_allclose(prediction.probabilities.max(axis=1)[split.test], trusted, atol=2e-3)
    assert sum(prediction.channel_weights.values()) == pytest.approx(1)
    assert not (prediction.corrected & prediction.channels_agree).any()
    assert not prediction.corrected[split.train].any()  # what was given is not rebuilt
    assert prediction.support[split.train].nnz == 0
    assert set(prediction.channels) == {"topology", "features"}


def test_useless_edges_are_not_believed() -> None:
    graph = blocks(300)
    shuffled = RNG.permutation(graph.n)[graph.edges]
    other = NodeGraph(graph.features, shuffled, graph.labels)
    prediction = method.fit(other, per_class(other, 10, 0).train, ConcordSettings(), 0)
    assert prediction.channel_weights["features"] > 0.8


def test_useless_edges_do_not_outvote_features_where_labels_are_few() -> None:
    for seed in range(5):
        graph = synthetic_graph(800, 8000, 60, classes=2, homophily=0.5, telling=0.4, words=10, seed=seed % 3)
        prediction = method.fit(graph, per_class(graph, 2, seed).train, ConcordSettings(), 0)
        assert prediction.channel_weights["features"] > 0.6
        assert np.bincount(prediction.y_pred, minlength=2).min() > 0.1 * graph.n  # not one answer for all nodes


def test_useless_features_do_little_harm_where_edges_tell() -> None:
    noise = synthetic_graph(1500, 4500, 60, classes=4, homophily=0.75, telling=0.0)
    none = NodeGraph(np.ones((noise.n, 1)), noise.edges, noise.labels, featureless=True)
    split = per_class(noise, 3, 0)

    def right(graph: NodeGraph, settings: ConcordSettings) -> float:
        return float((method.fit(graph, split.train, settings, 0).y_pred == noise.labels)[split.test].mean())

    assert right(noise, ConcordSettings()) > 0.75
    assert right(none, ConcordSettings()) > 0.75
    assert right(noise, ConcordSettings(ties=0)) < 0.7


def test_where_nothing_tells_there_is_no_trust() -> None:
    """Neither edges nor words have to do with the classes, and enough labels show that."""
    graph = synthetic_graph(800, 3000, 60, classes=5, homophily=0.2, telling=0.0)
    split = per_class(graph, 20, 0)
    prediction = method.fit(graph, split.train, ConcordSettings(), 0)
    assert (prediction.y_pred == graph.labels)[split.test].mean() < 0.3
    assert prediction.trust is not None
    assert prediction.trust[split.test].mean() < 0.3
    assert "by-chance" in {finding.code for finding in prediction.findings}
    sound = method.fit(blocks(), np.arange(0, 90, 9), ConcordSettings(), 0)
    assert "by-chance" not in {finding.code for finding in sound.findings}


def test_nodes_that_are_joined_to_the_same_ones_are_alike() -> None:
    """Edges lead to the next class by rule, never to a node's own, and there are no features."""
    rng = np.random.default_rng(0)
    labels = np.arange(1500) % 5
    members = [np.flatnonzero(labels == j) for j in range(5)]
    start = np.repeat(np.arange(1500), 5)
    end = np.array([rng.choice(members[(labels[v] + 1) % 5]) for v in start])
    graph = NodeGraph(np.ones((1500, 1)), np.stack([start, end], axis=1), labels, featureless=True)
    split = per_class(graph, 10, 0)
    prediction = method.fit(graph, split.train, ConcordSettings(), 0)
    assert (prediction.y_pred == labels)[split.test].mean() > 0.6


@pytest.mark.parametrize("unit", [1e4, 1e-4])
def test_edges_may_have_weights_of_any_unit(unit: float) -> None:
    plain = blocks(180)
    graph = NodeGraph(plain.features, plain.edges, plain.labels, edge_weights=np.full(len(plain.edges), unit))
    split = per_class(graph, 3, 0)
    prediction = method.fit(graph, split.train, ConcordSettings(), 0)
    assert np.isfinite(prediction.probabilities).all()
    assert (prediction.y_pred == graph.labels)[split.test].mean() > 0.85


def test_units_of_measurements_do_not_matter() -> None:
    whole = blocks(180)
    rng = np.random.default_rng(4)
    x = rng.standard_normal((180, 6)) + 2 * np.eye(3)[whole.labels][:, [0, 1, 2, 0, 1, 2]]
    train, settings = per_class(whole, 3, 0).train, ConcordSettings()
    plain = method.fit(NodeGraph(x, whole.edges, whole.labels), train, settings, 0)
    for form in (np.asarray, sp.csr_array):
        other = NodeGraph(form(x * [1, 1000, 0.01, 1, 1, 1] + [50, 0, 3, -7, 0, 0]), whole.edges, whole.labels)
        moved = method.fit(other, train, settings, 0)
        assert (moved.y_pred == plain.y_pred).mean() > 0.99
        again = method.predict_new(moved.model, other, settings)
        np.testing.assert_allclose(again.probabilities, moved.probabilities, atol=1e-4)


def test_extending_by_nothing_gives_the_same_answers(graph: NodeGraph) -> None:
    train, settings = per_class(graph, 3, 0).train, ConcordSettings()
    prediction = method.fit(graph, train, settings, 0)
    again = method.predict_new(prediction.model, blocks(), settings)
    np.testing.assert_allclose(again.probabilities, prediction.probabilities, atol=1e-5)


def test_new_nodes_are_classified_without_training() -> None:
    whole = blocks(240)
    old = np.arange(180)
    inside = (whole.edges < 180).all(axis=1)
    part = NodeGraph(whole.features[old], whole.edges[inside], whole.labels[old])
    settings = ConcordSettings()
    model = method.fit(part, per_class(part, 4, 0).train, settings, 0).model
    answers = method.predict_new(model, whole, settings).y_pred
    assert (answers[180:] == whole.labels[180:]).mean() > 0.85


def test_arrays_round_trip(graph: NodeGraph) -> None:
    settings = ConcordSettings(rounds=1)
    parts = groundwork.representations(graph, settings, 0.8)
    given = Labels(np.arange(6), np.eye(3, dtype=np.float32)[graph.labels[:6]], np.ones(6))
    voices = method.voices_of(parts, groundwork.channel_views(graph, settings), 0.8, settings)
    learned, _ = method.in_rounds(voices, given, np.ones(graph.c), settings, 0)
    bases, back = from_arrays(to_arrays(Bases(parts, rarity(graph.features), None), learned))
    assert set(bases.parts) == set(parts)
    for name, part in parts.items():
        for field in ("basis", "offset", "spread"):
            np.testing.assert_array_equal(getattr(bases.parts[name], field), getattr(part, field))
    for a, b in zip(learned.heads, back.heads, strict=True):
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(back.labels.nodes, learned.labels.nodes)


def test_the_order_of_nodes_does_not_matter() -> None:
    graph = blocks(90)
    order = np.random.default_rng(1).permutation(graph.n)
    place = np.argsort(order)
    turned = NodeGraph(graph.features[order], place[graph.edges], graph.labels[order])
    train = per_class(graph, 4, 0).train
    ours = method.fit(graph, train, ConcordSettings(k=3), 0)
    theirs = method.fit(turned, place[train], ConcordSettings(k=3), 0)
    # ties among neighbours are broken by position, so a few answers may differ
    assert (ours.y_pred[order] == theirs.y_pred).mean() > 0.95
