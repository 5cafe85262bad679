"""Logistic regression and recent few-label systems against slow literal versions, and on public splits."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.ensemble import HistGradientBoostingClassifier

from dccgcn import append_nodes
from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Task, get_method
from dccgcn.networks.baselines import logreg
from dccgcn.networks.baselines.few_labels import D2pt, Iceberg, prototype_alignment
from dccgcn.networks.training import seeded
from helpers import literal, literal_peers

TRAIN = np.array([0, 1, 2, 6, 9, 12, 15])


def make_graph(classes=3, numeric=False, sparse=False):
    """20 nodes with weighted edges; node 4 has no features, node 19 no edges."""
    rng = np.random.default_rng(0)
    edges = np.array([*((u, u + 1) for u in range(18)), (0, 5), (2, 9), (1, 7), (3, 11), (12, 15)])
    x = np.abs(rng.normal(size=(20, 6))) * (rng.random((20, 6)) < 0.6)
    x[4] = 0
    if numeric:
        x[:, 0], x[:, 1] = rng.normal(40, 10, 20), rng.normal(1, 0.1, 20)
    labels = np.arange(20) % classes
    return NodeGraph(sp.csr_array(x) if sparse else x, edges, labels, edge_weights=rng.uniform(0.5, 2, len(edges)))


def fit(name, graph, train=TRAIN, /, seed=0, validation=None, **options):
    method = get_method(name)
    return method.fit(Task(graph, np.asarray(train), seed, validation=validation), method.settings.of(options))


SCALINGS = ["few", "numeric", "words"]


@pytest.fixture(params=SCALINGS)
def scaled(request, monkeypatch):
    """A function from classes to a graph and its features as logistic regression scales them."""
    if request.param != "few":
        monkeypatch.setattr(logreg, "_FEW", 0)

    def make(classes, sparse=False):
        graph = make_graph(classes, request.param == "numeric", sparse)
        x = literal.dense_features(graph)
        if request.param == "words":
            return graph, literal_peers.unit(x)
        columns = range(6) if request.param == "few" else (0, 1)
        for column in columns:
            x[:, column] = (x[:, column] - x[:, column].mean()) / x[:, column].std()
        return graph, x

    make.words = request.param == "words"
    return make


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_logreg_minimises_its_objective(scaled, classes, sparse):
    graph, x = scaled(classes, sparse)
    expected = literal_peers.logistic_regression(x, graph.labels, TRAIN, classes, 3.0)
    np.testing.assert_allclose(fit("logreg", graph, C=3).probabilities, expected, atol=2e-3)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("r", [3, 128])
def test_logreg_hops_is_logistic_regression_on_three_blocks(scaled, classes, r):
    graph, x = scaled(classes)
    rows = literal_peers.hops(graph, x, r, scaled.words)
    expected = literal_peers.logistic_regression(rows, graph.labels, TRAIN, classes, 1.0)
    np.testing.assert_allclose(fit("logreg-hops", graph, C=1, n_components=r).probabilities, expected, atol=2e-3)


@pytest.mark.parametrize("name", ["logreg", "logreg-hops", "graphany"])
def test_a_new_twin_of_a_node_gets_its_class(scaled, name):
    graph, _ = scaled(3)
    prediction = fit(name, graph)
    twin = append_nodes(graph, graph.features[[7]])
    again = get_method(name).predict_new(prediction.model, twin, get_method(name).settings())
    np.testing.assert_allclose(again.probabilities[:20], prediction.probabilities, atol=1e-6)
    if name == "logreg":  # without edges the others know less of it
        np.testing.assert_allclose(again.probabilities[20], prediction.probabilities[7], atol=1e-6)


def test_boosting_is_scikit_learns_on_the_rows_of_logreg_hops(cora):
    graph = cora.graph
    rows, _ = logreg.hop_features(graph, 16)
    train = np.flatnonzero(np.arange(graph.n) % 2 == 0)
    trees = HistGradientBoostingClassifier(max_iter=5, early_stopping=False, random_state=0)
    expected = trees.fit(rows[train], graph.labels[train]).predict_proba(rows)
    found = fit("boosting-hops", graph, train, n_iterations=5, n_components=16).probabilities
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert (found.argmax(axis=1) == graph.labels)[1::2].mean() > 0.75


def test_they_predict_a_graph_without_features():
    edges = np.array([(0, 1), (1, 2), (2, 3), (4, 5)])
    graph = NodeGraph(np.ones((7, 1)), edges, np.arange(7) % 2, featureless=True)
    for name in ("logreg", "logreg-hops", "boosting-hops", "graphany"):
        p = fit(name, graph, [0, 1]).probabilities
        assert (p.dtype, p.shape) == (np.float32, (7, 2))
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_graphany_is_the_mean_of_least_squares_classifiers(sparse):
    graph = make_graph(sparse=sparse)
    expected = literal_peers.graphany(graph, TRAIN)
    np.testing.assert_allclose(fit("graphany", graph).probabilities, expected, atol=1e-5)
    assert fit("graphany", graph, seed=3).probabilities.tobytes() == fit("graphany", graph).probabilities.tobytes()


def doubles(*tensors):
    return [tensor.detach().double().requires_grad_() for tensor in tensors]


def test_prototype_alignment_is_its_formula():
    generator = torch.Generator().manual_seed(0)
    o = torch.randn(12, 3, generator=generator).log_softmax(1)
    f, f2 = torch.randn(2, 12, 5, generator=generator)
    nodes, labels = torch.tensor([4, 0, 7]), torch.tensor([2, 1, 0])
    expected = literal_peers.alignment(o, f, f2, dict(zip(nodes.tolist(), labels.tolist(), strict=True)))
    assert prototype_alignment(o, f, f2, nodes, labels).item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("options", [{}, {"alpha": 0.4, "lambda_pa": 0.5, "lambda_ce": 2, "steps": 3}])
@pytest.mark.parametrize("sparse", [False, True])
def test_d2pt_trains_as_loops_over_dense_matrices_do(options, sparse):
    graph = make_graph(sparse=sparse)
    settings = get_method("d2pt").settings.of({"k": 3, "hidden": 5, "lr": 0.02, "epochs": 12, **options})
    with seeded(4):
        model = D2pt(Task(graph, TRAIN), settings)
    start = doubles(model.w1, model.b1, model.w2, model.b2, model.w3, model.b3)
    expected = literal_peers.d2pt(graph, TRAIN, settings, start)
    found = get_method("d2pt").fit(Task(graph, TRAIN, 4), settings)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-3)


@pytest.mark.parametrize("options", [{}, {"alpha": 0.4, "pseudo_weight": 0.3, "steps": 3}])
@pytest.mark.parametrize("sparse", [False, True])
def test_iceberg_trains_as_loops_over_dense_matrices_do(options, sparse):
    graph = make_graph(sparse=sparse)
    settings = get_method("iceberg").settings.of({"hidden": 5, "lr": 0.02, "epochs": 12, "dropout": 0, **options})
    with seeded(4):
        model = Iceberg(Task(graph, TRAIN), settings)
    start = doubles(model.first.weight.T, model.first.bias, model.second.weight.T, model.second.bias)
    expected = literal_peers.iceberg(graph, TRAIN, settings, start)
    found = get_method("iceberg").fit(Task(graph, TRAIN, 4), settings)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-3)


def test_they_are_fitted_without_torch():
    code = """
import sys
from dccgcn import NodeGraph, run
graph = NodeGraph([[i % 2, i % 3, 1] for i in range(12)], [(i, i + 2) for i in range(10)], [0, 1] * 3 + [None] * 6)
for name in ("logreg", "logreg-hops", "graphany"):
    run(graph, method=name)
sys.exit("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
