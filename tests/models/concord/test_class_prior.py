"""Frequencies of classes that a user knows: how they are read, and what they change."""

import numpy as np
import pytest

from dccgcn import NodeClassifier, NodeGraph, per_class
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.errors import SettingsError
from dccgcn.models.concord import method
from dccgcn.models.concord.class_prior import as_frequent, half_way, offsets, relative_frequencies
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.settings import parse_assignments


@pytest.mark.parametrize(
    ("classes", "known", "relative"),
    [
        (("a", "b"), {}, [1, 1]),
        (("fraud", "not"), {"fraud": 0.02}, [0.04, 1.96]),
        ((0, 1, 2, 3), {"0": 0.4}, [1.6, 0.8, 0.8, 0.8]),
        (("a", "b", "c"), {"a": 0.33, "b": 0.33, "c": 0.33}, [1, 1, 1]),  # rounded
    ],
)
def test_frequencies_are_relative_to_equal_ones(classes: tuple, known: dict, relative: list) -> None:
    np.testing.assert_allclose(relative_frequencies(classes, known), relative)


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ({"frod": 0.02}, "'frod' is not a class"),
        ({"fraud": 0.7, "not": 0.7}, "sum to 1.4"),
        ({"fraud": 0.2, "not": 0.2}, "sum to 0.4"),
    ],
)
def test_frequencies_that_cannot_be_are_refused(known: dict, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        relative_frequencies(("fraud", "not"), known)


@pytest.mark.parametrize("value", ["{fraud: 0}", "{fraud: 1}", "{fraud: often}", "0.2"])
def test_a_frequency_is_between_0_and_1(value: str) -> None:
    with pytest.raises(SettingsError, match="frequencies"):
        ConcordSettings.of(parse_assignments([f"frequencies={value}"]))


def test_frequencies_are_read_from_text_and_written_back() -> None:
    settings = ConcordSettings.of(parse_assignments(["frequencies={3: 0.25, fraud: 0.02}"]))
    assert settings.frequencies == {"3": 0.25, "fraud": 0.02}
    assert "fraud: 0.02" in settings.to_yaml()
    assert ConcordSettings.of(settings.model_dump(mode="json")) == settings


@pytest.fixture(scope="module")
def with_a_rare_class() -> NodeGraph:
    ten = synthetic_graph(1500, 7500, 200, homophily=0.4, telling=0.25)
    return NodeGraph(ten.features, ten.edges, np.where(ten.labels == 0, "fraud", "not"))


def test_rounds_are_told_half() -> None:
    np.testing.assert_allclose(half_way(np.array([0.04, 1.96])), [0.25, 1.75])
    np.testing.assert_array_equal(half_way(np.ones(7)), np.ones(7))  # exactly: nothing told changes nothing


def test_answers_come_half_the_way_to_the_frequencies() -> None:
    rng = np.random.default_rng(2)
    f = rng.dirichlet([3.0, 1.0, 1.0], 2000).astype(np.float32)
    shares = np.array([0.05, 0.25, 0.7])
    scores = np.log(f)
    v = offsets(scores, 3 * shares)
    np.testing.assert_allclose(np.bincount((scores + v).argmax(axis=1)) / 2000, shares, atol=0.005)
    expected = f * np.exp(v / 2)
    np.testing.assert_allclose(as_frequent(f, 3 * shares), expected / expected.sum(axis=1, keepdims=True), rtol=1e-4)
    certain = np.zeros((10, 2), np.float32)
    certain[:, 0] = 1  # and all the same: nobody can be told from anybody
    assert np.isfinite(as_frequent(certain, np.array([1.0, 1.0]))).all()


def test_a_rare_class_is_found_by_its_frequency(with_a_rare_class: NodeGraph) -> None:
    graph = with_a_rare_class
    fraud = graph.labels == graph.classes.index("fraud")

    def f1(settings: ConcordSettings, seed: int) -> float:
        split = per_class(graph, 3, seed)
        found = method.fit(graph, split.train, settings, 0).y_pred == graph.classes.index("fraud")
        hits, wrong = (found & fraud)[split.test].sum(), (found != fraud)[split.test].sum()
        return float(2 * hits / (2 * hits + wrong))

    plain = [f1(ConcordSettings(), seed) for seed in range(4)]
    told = [f1(ConcordSettings(frequencies={"fraud": 0.1}), seed) for seed in range(4)]
    assert np.mean(told) > np.mean(plain) + 0.1


def test_equal_frequencies_are_what_is_taken_for_granted(with_a_rare_class: NodeGraph) -> None:
    """But for the last steps, which bring answers nearer to what was said."""
    graph = with_a_rare_class
    split = per_class(graph, 3, 1)
    plain = method.fit(graph, split.train, ConcordSettings(), 0)
    told = method.fit(graph, split.train, ConcordSettings(frequencies={"fraud": 0.5}), 0)
    np.testing.assert_array_equal(plain.uncorrected, told.uncorrected)
    assert np.bincount(plain.y_pred).min() < np.bincount(told.y_pred).min() < 0.5 * graph.n


def test_the_estimator_takes_them(with_a_rare_class: NodeGraph) -> None:
    graph = with_a_rare_class
    train = per_class(graph, 3, 0).train
    known = np.full(graph.n, None, object)
    known[train] = np.array(graph.classes)[graph.labels[train]]
    plain = NodeClassifier().fit(graph.features, known, edges=graph.edges)
    told = NodeClassifier(settings={"frequencies": {"fraud": 0.1}}).fit(graph.features, known, edges=graph.edges)
    assert (told.predict() == "fraud").mean() < 0.15 < (plain.predict() == "fraud").mean()


def test_new_nodes_are_answered_with_the_frequencies_of_training(with_a_rare_class: NodeGraph) -> None:
    graph = with_a_rare_class
    settings = ConcordSettings(frequencies={"fraud": 0.1})
    prediction = method.fit(graph, per_class(graph, 3, 0).train, settings, 0)
    again = method.predict_new(prediction.model, graph, settings)
    assert (again.y_pred == prediction.y_pred).mean() > 0.99
