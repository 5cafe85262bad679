"""Known class frequencies (C10): how they are read, and what they change."""

import numpy as np
import pytest

from dccgcn import NodeGraph, per_class
from dccgcn.concord import method
from dccgcn.concord.class_prior import log_shift, relative_prior, shift_to_labels, shift_to_prior
from dccgcn.concord.settings import ConcordSettings
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.errors import SettingsError
from dccgcn.methods.base import Task
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
def test_the_prior_is_relative_to_a_uniform_one(classes: tuple, known: dict, relative: list) -> None:
    np.testing.assert_allclose(relative_prior(classes, known), relative)


def test_the_prior_is_read_from_text_and_written_back() -> None:
    settings = ConcordSettings.of(parse_assignments(["class_prior={3: 0.25, fraud: 0.02}"]))
    assert settings.class_prior == {"3": 0.25, "fraud": 0.02}
    assert "fraud: 0.02" in settings.to_yaml()
    assert ConcordSettings.of(settings.model_dump(mode="json")) == settings


@pytest.fixture(scope="module")
def with_a_rare_class() -> NodeGraph:
    ten = synthetic_graph(1500, 7500, 200, homophily=0.4, class_words=0.25)
    return NodeGraph(ten.features, ten.edges, np.where(ten.labels == 0, "fraud", "not"))


def test_predictions_are_shifted_half_way_to_the_prior() -> None:
    rng = np.random.default_rng(2)
    f = rng.dirichlet([3.0, 1.0, 1.0], 2000).astype(np.float32)
    shares = np.array([0.05, 0.25, 0.7])
    scores = np.log(f)
    v = log_shift(scores, 3 * shares)
    np.testing.assert_allclose(np.bincount((scores + v).argmax(axis=1)) / 2000, shares, atol=0.005)
    expected = f * np.exp(v / 2)
    np.testing.assert_allclose(shift_to_prior(f, 3 * shares), expected / expected.sum(axis=1, keepdims=True), rtol=1e-4)
    constant = np.zeros((10, 2), np.float32)
    constant[:, 0] = 1  # all nodes equal: no shift reaches the prior
    assert np.isfinite(shift_to_prior(constant, np.array([1.0, 1.0]))).all()


def test_a_rare_class_is_found_with_its_frequency(with_a_rare_class: NodeGraph) -> None:
    graph = with_a_rare_class
    fraud = graph.labels == graph.classes.index("fraud")

    def f1(settings: ConcordSettings, seed: int) -> float:
        split = per_class(graph, 3, seed)
        found = method.fit(Task(graph, split.train), settings).y_pred == graph.classes.index("fraud")
        hits, wrong = (found & fraud)[split.test].sum(), (found != fraud)[split.test].sum()
        return float(2 * hits / (2 * hits + wrong))

    without = [f1(ConcordSettings(), seed) for seed in range(4)]
    known = [f1(ConcordSettings(class_prior={"fraud": 0.1}), seed) for seed in range(4)]
    assert np.mean(known) > np.mean(without) + 0.1


def test_the_default_prior_is_uniform(with_a_rare_class: NodeGraph) -> None:
    """Only the final shift, which needs an explicit prior, differs."""
    graph = with_a_rare_class
    split = per_class(graph, 3, 1)
    default = method.fit(Task(graph, split.train), ConcordSettings())
    uniform = method.fit(Task(graph, split.train), ConcordSettings(class_prior={"fraud": 0.5}))
    np.testing.assert_array_equal(default.uncorrected, uniform.uncorrected)
    assert np.bincount(default.y_pred).min() < np.bincount(uniform.y_pred).min() < 0.5 * graph.n


def test_new_nodes_are_predicted_with_the_prior_of_training(with_a_rare_class: NodeGraph) -> None:
    graph = with_a_rare_class
    settings = ConcordSettings(class_prior={"fraud": 0.1})
    prediction = method.fit(Task(graph, per_class(graph, 3, 0).train), settings)
    again = method.predict_new(prediction.model, graph, settings)
    assert (again.y_pred == prediction.y_pred).mean() > 0.99


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{frod: 0.02}", "'frod' is not a class"),
        ("{fraud: 0.7, not: 0.7}", "sum to 1.4"),
        ("{fraud: 0.2, not: 0.2}", "sum to 0.4"),
        *((value, "class_prior") for value in ("{fraud: 0}", "{fraud: 1}", "{fraud: often}", "0.2")),
    ],
)
def test_an_impossible_prior_is_refused(value: str, message: str) -> None:
    def read(assignment: str) -> np.ndarray:
        return relative_prior(("fraud", "not"), ConcordSettings.of(parse_assignments([assignment])).class_prior)

    with pytest.raises(SettingsError, match=message):
        read(f"class_prior={value}")


def test_predictions_take_the_shares_of_random_labels_as_far_as_there_are_labels() -> None:
    rng = np.random.default_rng(2)
    f = rng.dirichlet([3.0, 1.0, 1.0], 2000).astype(np.float32)
    predicted = np.bincount(f.argmax(axis=1)) / 2000
    for scale, weight in ((1, 1 / 4), (100, 100 / 103)):  # of 100 and of 10,000 labels, beside 300
        counts = scale * np.array([10.0, 30, 60])
        shares = np.bincount(shift_to_labels(f, counts).argmax(axis=1)) / 2000
        np.testing.assert_allclose(shares, weight * counts / counts.sum() + (1 - weight) * predicted, atol=0.005)


@pytest.mark.parametrize("drawn", ["random", "by class"])
def test_only_labels_drawn_at_random_tell_the_classes_frequencies(with_a_rare_class: NodeGraph, drawn: str) -> None:
    graph = with_a_rare_class
    train = np.random.default_rng(1).choice(graph.n, 300, replace=False)
    task = Task(graph, train if drawn == "random" else per_class(graph, 50, 1).train)
    auto, use, ignore = (method.fit(task, ConcordSettings(label_shares=how)) for how in ("auto", "use", "ignore"))
    same, other = (use, ignore) if drawn == "random" else (ignore, use)
    np.testing.assert_array_equal(auto.probabilities, same.probabilities)
    assert (auto.y_pred != other.y_pred).any()
    assert ("label-shares" in {finding.code for finding in auto.findings}) == (drawn == "random")
