"""Properties of Concord's predictions on graphs of several kinds, and on graphs that have grown."""

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn import NodeGraph, per_class
from dccgcn.concord import method
from dccgcn.concord.settings import ConcordSettings
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.errors import SettingsError
from dccgcn.methods.base import Task
from helpers.groups import blocks, many_words


@pytest.fixture(scope="module")
def graph() -> NodeGraph:
    return blocks()


def test_every_field_of_a_prediction(graph: NodeGraph) -> None:
    split = per_class(graph, 3, 0)
    prediction = method.fit(Task(graph, split.train), ConcordSettings())
    right = prediction.y_pred == graph.labels
    assert right[split.test].mean() > 0.9
    assert right[split.train].all()
    assert (prediction.trust[split.train] == 1).all()
    np.testing.assert_allclose(prediction.probabilities.sum(axis=1), 1, rtol=1e-5)
    trust = np.maximum(prediction.trust, 1 / graph.c)[split.test]  # a largest probability is at least 1/C
    np.testing.assert_allclose(prediction.probabilities.max(axis=1)[split.test], trust, atol=2e-3)
    assert sum(prediction.channel_weights.values()) == pytest.approx(1)
    names = ["own", "hop1", "hop2", "propagated", "structure", "similar", "sizes", "joint", "labels"]
    assert list(prediction.channels) == list(prediction.channel_weights) == names
    assert list(prediction.held_out) == [*names, "pool"]
    assert all(p.shape == (len(split.train), graph.c) for p in prediction.held_out.values())
    prediction.check(graph.n, graph.c)
    votes = np.zeros(graph.n)
    for name, weight in prediction.channel_weights.items():
        votes += weight * (prediction.channels[name].argmax(axis=1) == prediction.y_pred)
    np.testing.assert_array_equal(prediction.channels_agree, votes > 0.5)


def test_held_out_predictions_find_a_wrong_label() -> None:
    graph = blocks(300)
    train = per_class(graph, 10, 0).train
    labels = graph.labels.copy()
    labels[train[4]] = (labels[train[4]] + 1) % 3
    prediction = method.fit(Task(graph.with_labels(labels), train), ConcordSettings())
    given = prediction.held_out["pool"][np.arange(len(train)), labels[train]]
    assert given.argmin() == 4
    assert prediction.held_out["pool"][4].argmax() == graph.labels[train[4]]


def test_excluded_channels_are_left_out(graph: NodeGraph) -> None:
    train = per_class(graph, 3, 0).train
    prediction = method.fit(Task(graph, train), ConcordSettings(exclude=("labels", "own")))
    assert "labels" not in prediction.channels
    assert "own" not in prediction.channels
    with pytest.raises(SettingsError, match="no channel 'hop3'"):
        method.fit(Task(graph, train), ConcordSettings(exclude=("hop3",)))


def test_uninformative_edges_do_not_outvote_features_with_few_labels() -> None:
    for seed in range(5):
        graph = synthetic_graph(800, 8000, 60, classes=2, homophily=0.5, class_words=0.4, words=10, seed=seed % 3)
        prediction = method.fit(Task(graph, per_class(graph, 2, seed).train), ConcordSettings())
        assert np.bincount(prediction.y_pred, minlength=2).min() > 0.1 * graph.n  # not constant


def test_noise_features_do_little_harm_beside_informative_edges() -> None:
    noise = synthetic_graph(1500, 4500, 60, classes=4, homophily=0.75, class_words=0.0)
    none = NodeGraph(np.ones((noise.n, 1)), noise.edges, noise.labels, featureless=True)
    split = per_class(noise, 3, 0)

    def accuracy(graph: NodeGraph, settings: ConcordSettings) -> float:
        return float((method.fit(Task(graph, split.train), settings).y_pred == noise.labels)[split.test].mean())

    assert accuracy(noise, ConcordSettings()) > 0.75
    assert accuracy(none, ConcordSettings()) > 0.75
    assert accuracy(noise, ConcordSettings(exclude=("structure", "labels"))) < 0.75


def test_trust_is_low_where_nothing_is_informative() -> None:
    """Neither edges nor features depend on the classes, and there are enough labels to show it."""
    graph = synthetic_graph(800, 3000, 60, classes=5, homophily=0.2, class_words=0.0)
    split = per_class(graph, 20, 0)
    prediction = method.fit(Task(graph, split.train), ConcordSettings())
    assert (prediction.y_pred == graph.labels)[split.test].mean() < 0.3
    assert prediction.trust is not None
    assert prediction.trust[split.test].mean() < 0.3
    assert "uninformative" in {finding.code for finding in prediction.findings}
    informative = method.fit(Task(blocks(), np.arange(0, 90, 9)), ConcordSettings())
    assert "uninformative" not in {finding.code for finding in informative.findings}


def test_nodes_with_the_same_neighbours_are_equal() -> None:
    """Every edge leads to the next class, never within one, and there are no features."""
    rng = np.random.default_rng(0)
    labels = np.arange(1500) % 5
    of_class = [np.flatnonzero(labels == j) for j in range(5)]
    start = np.repeat(np.arange(1500), 5)
    end = np.array([rng.choice(of_class[(labels[v] + 1) % 5]) for v in start])
    graph = NodeGraph(np.ones((1500, 1)), np.stack([start, end], axis=1), labels, featureless=True)
    split = per_class(graph, 10, 0)
    prediction = method.fit(Task(graph, split.train), ConcordSettings())
    assert (prediction.y_pred == labels)[split.test].mean() > 0.6


def test_units_of_numeric_columns_do_not_matter() -> None:
    whole = blocks(180)
    rng = np.random.default_rng(4)
    x = rng.standard_normal((180, 6)) + 2 * np.eye(3)[whole.labels][:, [0, 1, 2, 0, 1, 2]]
    train, settings = per_class(whole, 3, 0).train, ConcordSettings()
    plain = method.fit(Task(NodeGraph(x, whole.edges, whole.labels), train), settings)
    for form in (np.asarray, sp.csr_array):
        other = NodeGraph(form(x * [1, 1000, 0.01, 1, 1, 1] + [50, 0, 3, -7, 0, 0]), whole.edges, whole.labels)
        rescaled = method.fit(Task(other, train), settings)
        assert (rescaled.y_pred == plain.y_pred).mean() > 0.99
        again = method.predict_new(rescaled.model, other, settings)
        np.testing.assert_allclose(again.probabilities, rescaled.probabilities, atol=1e-3)


def test_with_one_label_per_class_no_channel_is_preferred(graph: NodeGraph) -> None:
    """A held-out label whose class has no other one says nothing about a channel."""
    prediction = method.fit(Task(graph, per_class(graph, 1, 0).train), ConcordSettings())
    weights = {name: 0 if name in ("sizes", "joint") else 1 / 7 for name in prediction.channel_weights}
    assert prediction.channel_weights == pytest.approx(weights)
    assert prediction.uncorrected.max(axis=1).mean() > 0.5  # such labels do not take the weight from all channels


@pytest.mark.parametrize("edges", [True, False])
def test_featureless_graphs(edges: bool) -> None:
    whole = blocks(150)
    graph = NodeGraph(np.ones((150, 1)), whole.edges if edges else whole.edges[:0], whole.labels, featureless=True)
    split = per_class(graph, 4, 0)
    prediction = method.fit(Task(graph, split.train), ConcordSettings())
    assert np.isfinite(prediction.probabilities).all()
    if edges:
        assert (prediction.y_pred == whole.labels)[split.test].mean() > 0.85
        assert set(prediction.channels) == {"structure", "sizes", "joint", "labels"}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_relation_that_misleads_gets_less_weight(directed: bool, seed: int) -> None:
    graph = blocks(300)
    noise = np.random.default_rng(seed).permutation(graph.n)[graph.edges]
    other = graph.with_relations({"good": graph.edges, "noise": noise}, directed)
    split = per_class(other, 10, 0)
    prediction = method.fit(Task(other, split.train), ConcordSettings())
    assert (prediction.y_pred == graph.labels)[split.test].mean() > 0.95
    weights = prediction.channel_weights
    good, misleading = (sum(weights[name] for name in weights if name.startswith(r)) for r in ("good", "noise"))
    assert good > 1.4 * misleading  # about twice as much on average
    again = method.predict_new(prediction.model, other, ConcordSettings())
    np.testing.assert_allclose(again.probabilities, prediction.probabilities, atol=1e-3)
    fewer = method.fit(Task(other, split.train), ConcordSettings(exclude=("labels", "noise.structure")))
    assert not {"good.labels", "noise.labels", "noise.structure"} & set(fewer.channels)
    assert "good.structure" in fewer.channels


@pytest.mark.parametrize("what", ["classes", "columns"])
def test_the_order_of_classes_and_of_columns_does_not_matter(what: str) -> None:
    graph = many_words(150)
    train = per_class(graph, 4, 0).train
    other = graph.with_labels(graph.labels, classes=[2, 0, 1])
    if what == "columns":
        order = np.random.default_rng(1).permutation(graph.d)
        other = NodeGraph(sp.csr_array(graph.features[:, order]), graph.edges, graph.labels)
    one, two = (method.fit(Task(g, train), ConcordSettings(k=3)).y_pred for g in (graph, other))
    same = np.array(graph.classes)[one] == np.array(other.classes)[two]
    assert same.mean() > 0.95  # directions of small singular values are not converged


@pytest.mark.parametrize("counts", [(1, 1, 1), (1, 4, 2), (5, 1, 1), (2, 2)])
def test_classes_with_one_or_two_labels(counts: tuple[int, ...]) -> None:
    graph = blocks(150, c=len(counts))
    train = np.concatenate([np.flatnonzero(graph.labels == j)[:count] for j, count in enumerate(counts)])
    prediction = method.fit(Task(graph, train), ConcordSettings())
    assert (prediction.y_pred == graph.labels).mean() > 0.8
    if max(counts) <= 2:  # nothing is promised
        assert not prediction.promised
        assert "too-few-labels" in {finding.code for finding in prediction.findings}


def test_only_the_default_k_adapts_to_tiny_graphs() -> None:
    assert [ConcordSettings().k_for(n) for n in (4, 7, 100)] == [3, 6, 6]
    assert ConcordSettings(k=6).k_for(4) == ConcordSettings.of(ConcordSettings(k=6).model_dump()).k_for(4) == 6
