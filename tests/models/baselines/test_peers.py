"""Logistic regression and recent few-label systems against slow literal versions, and on public splits."""

import ast
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import dccgcn
from dccgcn import append_nodes, datasets
from dccgcn.graph import NodeGraph
from dccgcn.models.baselines import logreg
from dccgcn.models.registry import METHODS
from helpers import literal_peers

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
    method = METHODS[name]
    return method.fit(graph, np.asarray(train), method.settings.of(options), seed, None, validation)


def accuracy(name, dataset, **options):
    loaded = datasets.load(dataset)
    split = loaded.splits["public"]
    found = fit(name, loaded.graph, split.train, **options).y_pred[split.test]
    return (found == loaded.graph.labels[split.test]).mean()


# logistic regression


SCALINGS = ["few", "numeric", "words"]


@pytest.fixture(params=SCALINGS)
def scaled(request, monkeypatch):
    """A function from classes to a graph and its features as logistic regression scales them."""
    if request.param != "few":
        monkeypatch.setattr(logreg, "_FEW", 0)

    def make(classes, sparse=False):
        graph = make_graph(classes, request.param == "numeric", sparse)
        x = literal_peers.dense_features(graph)
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
    again = METHODS[name].predict_new(prediction.model, twin, METHODS[name].settings())
    np.testing.assert_allclose(again.probabilities[:20], prediction.probabilities, atol=1e-6)
    if name == "logreg":  # without edges the others know less of it
        np.testing.assert_allclose(again.probabilities[20], prediction.probabilities[7], atol=1e-6)


def imported_modules(path):
    """Names that a module imports when it is loaded, and the names inside each."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


@pytest.mark.parametrize("name", ["logreg", "graphany"])
def test_they_do_not_import_torch(name):
    package = Path(dccgcn.__file__).parent
    seen, left = set(), {f"dccgcn.models.baselines.{name}"}
    while left:
        module = left.pop()
        seen.add(module)
        stem = package.joinpath(*module.split(".")[1:])
        files = [path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()]
        if module.startswith("dccgcn.") and files:
            left |= {other for other in imported_modules(files[0]) if other not in seen}
    assert "dccgcn.operators.scaling" in seen
    assert not any(module.split(".")[0] == "torch" for module in seen)


def test_logreg_on_coras_public_split():
    assert accuracy("logreg", "cora") == pytest.approx(0.58, abs=0.03)  # an MLP: 55.5
    assert accuracy("logreg-hops", "cora") > 0.76


def test_they_predict_a_graph_without_features():
    edges = np.array([(0, 1), (1, 2), (2, 3), (4, 5)])
    graph = NodeGraph(np.ones((7, 1)), edges, np.arange(7) % 2, featureless=True)
    for name in ("logreg", "logreg-hops", "graphany"):
        p = fit(name, graph, [0, 1]).probabilities
        assert (p.dtype, p.shape) == (np.float32, (7, 2))
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)


# GraphAny's channels


@pytest.mark.parametrize("sparse", [False, True])
def test_graphany_is_the_mean_of_least_squares_classifiers(sparse):
    graph = make_graph(sparse=sparse)
    expected = literal_peers.graphany(graph, TRAIN)
    np.testing.assert_allclose(fit("graphany", graph).probabilities, expected, atol=1e-5)
    assert fit("graphany", graph, seed=3).probabilities.tobytes() == fit("graphany", graph).probabilities.tobytes()


def test_graphany_on_coras_public_split():
    assert accuracy("graphany", "cora") == pytest.approx(0.794, abs=0.01)  # its arxiv checkpoint: 79.4


@pytest.mark.benchmark_files("citeseer")
def test_graphany_on_citeseers_public_split():
    assert accuracy("graphany", "citeseer") == pytest.approx(0.684, abs=0.01)  # its arxiv checkpoint: 68.4
