"""Label propagation, Poisson learning, SGC, SSGC and GLP against their formulas in dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dccgcn.errors import TrainingError
from dccgcn.graph import NodeGraph, splits
from dccgcn.methods.base import Task, get_method
from dccgcn.networks.baselines import filtered, label_propagation
from dccgcn.networks.baselines.filtered import FilteredFeatures, GlpSettings, filter_strength, ssgc_sum
from dccgcn.networks.training import seeded
from dccgcn.workflow.fitting import run
from helpers import literal, literal_linear

SOLVED = ("lp", "lp-absorption", "lp-series", "poisson")
OPTIONS = {"sgc": {"epochs": 5}, "ssgc": {"epochs": 5}, "glp": {"epochs": 5}}


def fit(name, graph, train, /, seed=0, validation=None, **options):
    method = get_method(name)
    settings = method.settings.of({**OPTIONS.get(name, {}), **options})
    return method.fit(Task(graph, np.asarray(train), seed, validation=validation), settings)


@pytest.fixture(scope="module")
def graph():
    """Two components with labels, of 12 and of 4 nodes, one of three without, an isolated node; weighted edges."""
    rng = np.random.default_rng(0)
    path = [(u, u + 1) for u in range(11)] + [(12, 13), (13, 14), (14, 15)] + [(16, 17), (17, 18)]
    edges = np.array([*path, (0, 5), (2, 9), (1, 7), (3, 11), (12, 15)])
    x = np.abs(rng.normal(size=(20, 6))) * (rng.random((20, 6)) < 0.7)
    x[4] = 0
    labels = np.array([0, 1, 2, 0, 0, 1, 1, 2, 2, 0, 1, 2, 0, 0, 1, 1, 2, 2, 2, 1])
    return NodeGraph(x, edges, labels, edge_weights=rng.uniform(0.5, 2, len(edges)))


TRAIN = np.array([0, 1, 2, 6, 9, 12, 15])  # classes 0 1 2 1 0 | 0 1
UNREACHED = [16, 17, 18, 19]


@pytest.mark.parametrize("class_mass", ["equal", "labels", "none"])
def test_lp_is_the_limit_of_clamped_propagation(graph, class_mass):
    y = np.eye(graph.c)[graph.labels[TRAIN]]
    limit = literal_linear.clamped(literal.dense_adjacency(graph), TRAIN, y)
    if class_mass != "none":
        share = y.mean(axis=0) if class_mass == "labels" else np.full(graph.c, 1 / graph.c)
        limit = literal_linear.class_mass(limit, TRAIN, share)
    found = fit("lp", graph, TRAIN, class_mass=class_mass).probabilities
    np.testing.assert_allclose(found, literal_linear.shares(limit), atol=1e-6)


def test_lp_keeps_the_given_labels(graph):
    found = fit("lp", graph, TRAIN).probabilities[TRAIN]
    np.testing.assert_array_equal(found, np.eye(graph.c)[graph.labels[TRAIN]])
    everything = fit("lp", graph, np.arange(graph.n))
    np.testing.assert_array_equal(everything.y_pred, graph.labels)
    assert everything.findings == ()


@pytest.mark.parametrize("alpha", [1e-6, 0.3])
@pytest.mark.parametrize("block", [2, 64])
def test_absorption_takes_the_class_of_the_labelled_node_with_the_largest_entry(graph, alpha, block, monkeypatch):
    monkeypatch.setattr(label_propagation, "BLOCK", block)
    a, labels = literal.dense_adjacency(graph), graph.labels[TRAIN]
    p, scores = literal_linear.absorption(a, TRAIN, labels, graph.c, alpha)
    found = fit("lp-absorption", graph, TRAIN, alpha=alpha)
    reached = np.setdiff1d(np.arange(graph.n), UNREACHED)
    np.testing.assert_array_equal(found.y_pred[reached], labels[p[:, TRAIN].argmax(axis=1)][reached])
    np.testing.assert_allclose(found.probabilities, literal_linear.ranked(scores, a, TRAIN, labels), atol=1e-5)


@pytest.mark.parametrize("terms", [1, 7, 400])
def test_series_is_the_sum_of_powers(graph, terms):
    s = literal.normalised_adjacency(literal.dense_adjacency(graph), "symmetric")
    y = np.zeros((graph.n, graph.c))
    y[TRAIN, graph.labels[TRAIN]] = 1
    expected = literal_linear.shares(literal_linear.series(s, y, 0.01, terms))
    np.testing.assert_allclose(fit("lp-series", graph, TRAIN, steps=terms).probabilities, expected, atol=1e-5)


def test_label_propagation_needs_no_features(graph):
    bare = NodeGraph(np.ones((graph.n, 1)), graph.edges, graph.labels, edge_weights=graph.weights, featureless=True)
    for name in SOLVED:
        assert fit(name, bare, TRAIN).probabilities.tobytes() == fit(name, graph, TRAIN).probabilities.tobytes()


@pytest.mark.parametrize("options", [{}, {"graph": "features", "k": 2}])
def test_poisson_solves_each_component_by_itself(graph, options):
    a, labels = literal.dense_adjacency(graph), graph.labels[TRAIN]
    if options:
        a = literal.feature_adjacency(graph.features, options["k"])
    u = literal_linear.poisson(a, TRAIN, labels, graph.c)
    found = fit("poisson", graph, TRAIN, **options).probabilities
    np.testing.assert_allclose(found, literal_linear.ranked(u, a, TRAIN, labels), atol=1e-5)


def test_a_component_with_labels_of_one_class_is_of_that_class(graph):
    train = np.array([0, 1, 2, 12])  # 12 is alone in its component
    for name in SOLVED:
        np.testing.assert_allclose(fit(name, graph, train).probabilities[12:16], np.eye(3)[[0] * 4])


def test_conjugate_gradients_solve_what_can_be_solved():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(30, 30))
    matrix, b = root @ root.T + np.eye(30), rng.normal(size=(30, 40))
    b[:, 7] = 0
    x = label_propagation.conjugate_gradients(sp.csr_array(matrix), b, 1e-12)
    np.testing.assert_allclose(x, np.linalg.solve(matrix, b), atol=1e-8)


def test_a_system_without_solution_is_an_error():
    matrix = label_propagation.laplacian(sp.csr_array(np.array([[0, 1.0], [1, 0]])))
    with pytest.raises(TrainingError, match="did not converge"):
        label_propagation.conjugate_gradients(matrix, np.array([[1.0], [0]]))


# filtered features

FILTERS = {
    "power": lambda propagate, h: filtered.apply_power(propagate, h, 3),
    "mean": lambda propagate, h: ssgc_sum(propagate, h, 3, 0.2),
    "ar": lambda propagate, h: filtered.neumann_series(propagate, h, 1 / 2.5, 10),
}


@pytest.mark.parametrize("kind", FILTERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_filtered_features_are_those_of_dense_matrices(graph, kind, sparse, monkeypatch):
    monkeypatch.setattr(filtered, "BLOCK", 3)
    given = NodeGraph(sp.csr_array(graph.features), graph.edges, edge_weights=graph.weights) if sparse else graph
    s = literal.normalised_adjacency(literal.dense_adjacency(graph), "symmetric")
    x = literal.normalise_rows(graph.features.astype(float), "row")
    expected = literal_linear.filtered_features(s, x, kind, 3, {"mean": 0.2, "ar": 2.5}.get(kind, 0))
    features = FilteredFeatures.of(given, "row", FILTERS[kind])
    theta = torch.randn(graph.d, 4)
    np.testing.assert_allclose(features.rows(TRAIN[::-1]), expected[TRAIN[::-1]], atol=1e-6)
    np.testing.assert_allclose(features.times(theta), expected @ theta.numpy(), atol=1e-5)


def test_a_long_series_is_the_auto_regressive_filter(graph):
    s = literal.normalised_adjacency(literal.dense_adjacency(graph), "symmetric")
    exact = np.linalg.inv(np.eye(graph.n) + 10 * (np.eye(graph.n) - s))
    found = filtered.neumann_series(filtered.propagation(graph), torch.eye(graph.n), 0.1, 400)
    np.testing.assert_allclose(found, exact, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "kind", "options"),
    [
        ("sgc", "power", {"k": 3}),
        ("ssgc", "mean", {"k": 4, "alpha": 0.2, "features": "unit"}),
        ("glp", "power", {"filter": "rnm", "k": 2}),
        ("glp", "ar", {"filter": "ar", "alpha": 2.5, "features": "raw"}),
    ],
)
def test_training_is_that_of_dense_matrices(graph, name, kind, options):
    options = {**options, "epochs": 20, "weight_decay": 0.01, **({"dropout": 0} if name == "glp" else {})}
    settings = get_method(name).settings(**options)
    s = literal.normalised_adjacency(literal.dense_adjacency(graph), "symmetric")
    x = literal.normalise_rows(graph.features.astype(float), settings.features)
    x = torch.from_numpy(literal_linear.filtered_features(s, x, kind, options.get("k", 0), options.get("alpha", 0)))
    truth = torch.from_numpy(np.eye(graph.c)[graph.labels[TRAIN]])
    with seeded(5):
        if name == "glp":
            start = [torch.nn.init.xavier_uniform_(torch.empty(shape)) for shape in ((graph.d, 16), (16, graph.c))]
        else:
            linear = torch.nn.Linear(graph.d, graph.c)
            start = [linear.weight.detach().T, linear.bias.detach()]
    weights = [w.double().requires_grad_() for w in start]

    def regression(x, w, b):
        return x @ w + b

    def perceptron(x, w0, w1):
        return torch.clamp(x @ w0, min=0) @ w1

    logits = perceptron if name == "glp" else regression
    optimiser = torch.optim.Adam(weights, lr=settings.lr, weight_decay=settings.weight_decay)
    literal.train(lambda _: literal.l_cross(logits(x[TRAIN], *weights), truth, "mean"), optimiser, settings.epochs)
    expected = logits(x, *weights).softmax(1).detach().numpy()
    np.testing.assert_allclose(fit(name, graph, TRAIN, 5, **options).probabilities, expected, atol=1e-4)


def test_glp_filters_more_where_labels_are_few():
    assert filter_strength(GlpSettings(), 4) == (10, 20)
    assert filter_strength(GlpSettings(), 20) == (5, 10)
    assert filter_strength(GlpSettings(k=3, alpha=0.5), 4) == (3, 0.5)


def test_glp_drops_units_in_training(graph):
    assert (fit("glp", graph, TRAIN).probabilities != fit("glp", graph, TRAIN, dropout=0).probabilities).any()


@pytest.mark.parametrize("name", SOLVED)
def test_row_25_nodes_that_no_label_reaches_are_uniform_and_flagged(graph, name):
    prediction = fit(name, graph, TRAIN)
    np.testing.assert_allclose(prediction.probabilities[UNREACHED], 1 / 3)
    (finding,) = prediction.findings
    assert (finding.level, finding.code) == ("warning", "uniform-nodes")
    assert "4 nodes" in finding.text
    assert "16, 17, 18, 19" in finding.text


def test_propagation_on_cora_with_fourteen_labels(cora):
    split = splits.by_rate(cora.graph, 0.005, 0)
    for name in ("lp-absorption", "poisson"):
        assert run(cora.graph, split, get_method(name), get_method(name).settings(), seed=0).accuracy > 0.5
