"""NodeClassifier as scikit-learn expects an estimator to be, and as a graph needs it."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

import dccgcn
from dccgcn import NodeClassifier, NodeGraph
from dccgcn.errors import DccgcnError, GraphError, SettingsError, SplitError

# Checks of scikit-learn that a classifier of nodes cannot pass, each with its reason.
EXEMPT = {
    "check_classifiers_classes": "takes -1 for a class, which here means unlabelled, as in scikit-learn's own "
    "LabelPropagation"
}


@parametrize_with_checks([NodeClassifier()], expected_failed_checks=lambda _: EXEMPT)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def graph():
    """Two rings of 20 nodes, connected by one edge; weakly informative features, three labels each."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 20)
    features = rng.normal(size=(40, 6)) + truth[:, None] * np.array([2, -2, 2, -2, 2, -2])
    ring = [(i, (i + 1) % 20) for i in range(20)]
    edges = [*ring, *((20 + u, 20 + v) for u, v in ring), (0, 20)]
    labels = [["cat", "dog"][t] if node % 20 < 3 else None for node, t in enumerate(truth)]
    return NodeGraph(features, edges, labels, ids=[f"n{i}" for i in range(40)])


def given_labels(graph):
    return [None if label < 0 else graph.classes[label] for label in graph.labels]


def test_a_graph_and_its_parts_are_fitted_equally(graph):
    whole = NodeClassifier("ssgc", seed=3).fit(graph)
    parts = NodeClassifier("ssgc", seed=3).fit(graph.features, given_labels(graph), graph.edges)
    matrix = NodeClassifier("ssgc", seed=3).fit(sp.csr_array(graph.features), given_labels(graph), graph.adjacency)
    assert whole.label_distributions_.tobytes() == parts.label_distributions_.tobytes()
    np.testing.assert_allclose(matrix.label_distributions_, parts.label_distributions_, atol=1e-6)
    assert whole.classes_.tolist() == ["cat", "dog"]
    assert whole.n_features_in_ == 6
    assert whole.transduction_.tolist() == whole.predict().tolist()
    assert whole.transduction_.tolist() == whole.result_.to_frame()["prediction"].tolist()
    assert (whole.transduction_ == np.repeat(["cat", "dog"], 20)).mean() > 0.9
    np.testing.assert_array_equal(whole.predict_proba(), whole.label_distributions_)


@pytest.mark.parametrize(
    ("marks", "classes"),
    [
        ([0, 1, -1], [0, 1]),
        ([0.0, 1.0, np.nan], [0, 1]),
        (["a", "b", ""], ["a", "b"]),
        (["a", "b", float("nan")], ["a", "b"]),
        ([False, True, None], [False, True]),
        ([7, "seven", None], [7, "seven"]),
    ],
    ids=str,
)
def test_missing_labels_are_unlabelled_and_classes_come_back_as_given(graph, marks, classes):
    y = [marks[label] for label in graph.labels]  # the last mark means -1
    fitted = NodeClassifier("ssgc").fit(graph.features, y, graph.edges)
    assert fitted.classes_.tolist() == classes
    assert [type(name) for name in fitted.classes_.tolist()] == [type(name) for name in classes]
    assert fitted.predict()[0] == classes[0]
    assert len(fitted.result_.split.train) == 6
    column = NodeClassifier("ssgc").fit(graph.features, pd.Series(y, dtype=object), graph.edges)
    assert column.classes_.tolist() == classes


def test_without_edges_the_missing_topology_channel_is_reported(graph):
    found = NodeClassifier("ssgc").fit(graph.features, given_labels(graph)).result_.findings
    assert any(f.code == "no-edges" and "topology channel" in f.text for f in found)


def test_fitted_features_get_their_fitted_predictions_and_others_are_new_nodes(graph):
    fitted = NodeClassifier("ssgc").fit(graph.features, given_labels(graph), graph.edges)
    np.testing.assert_array_equal(fitted.predict_proba(graph.features), fitted.label_distributions_)
    np.testing.assert_array_equal(fitted.predict_proba(sp.csr_array(graph.features)), fitted.label_distributions_)
    np.testing.assert_allclose(fitted.predict_proba(graph.features[5:2:-1]), fitted.label_distributions_[5:2:-1])
    mixed = fitted.predict_proba(np.vstack([graph.features[3], -graph.features[3], graph.features[4]]))
    np.testing.assert_allclose(mixed[[0, 2]], fitted.label_distributions_[[3, 4]])
    assert not np.allclose(mixed[1], mixed[0], atol=0.01)  # a new node, classified from its features alone
    # a node without a feature of its own is what its neighbours are
    unknown = np.full((2, 6), 0.1)
    befriended = fitted.predict(unknown, edges=[(40, 5), (40, 6), (40, 7), (41, 30), (41, 31), (41, 32)])
    assert befriended.tolist() == ["cat", "dog"]
    with pytest.raises(GraphError, match="outside the 41 nodes"):
        fitted.predict(unknown[:1], edges=[(41, 5)])
    with pytest.raises(ValueError, match="expecting 6 features"):
        fitted.predict(np.ones((2, 5)))


def test_nodes_with_equal_features_get_their_mean_prediction(graph):
    features = np.array(graph.features)
    features[[3, 30]] = 0, 0, 0, 0, 0, 1
    for x in (features, sp.csr_array(features)):
        fitted = NodeClassifier("ssgc").fit(x, given_labels(graph), graph.edges)
        assert fitted.predict(x)[[3, 30]].tolist() == ["cat", "dog"]  # all nodes: each its own
        mean = fitted.label_distributions_[[3, 30]].mean(axis=0)
        np.testing.assert_allclose(fitted.predict_proba(features[[3]]), mean[None], rtol=1e-6)


def test_a_method_without_inductive_prediction_names_those_that_have_it(graph):
    fitted = NodeClassifier("gcn", {"epochs": 2}).fit(graph)
    assert len(fitted.predict()) == 40
    with pytest.raises(DccgcnError, match=r"gcn cannot predict.*ssgc"):
        fitted.predict(np.ones((2, 6)))


def test_with_a_graph_rows_are_ids_and_no_other_label_is_seen(graph):
    ids, y = graph.ids[graph.labelled], np.array(graph.classes)[graph.labels[graph.labelled]]
    fitted = NodeClassifier("ssgc", graph=graph).fit(ids, y)
    assert fitted.label_distributions_.tobytes() == NodeClassifier("ssgc").fit(graph).label_distributions_.tobytes()
    assert fitted.predict(["n39", "n1"]).tolist() == ["dog", "cat"]
    few = NodeClassifier("ssgc", graph=graph).fit(ids[[0, 5]], y[[0, 5]])
    assert few.result_.split.train.tolist() == [0, 22]
    assert few.predict(graph.features[:1]).tolist() == ["cat"]
    with pytest.raises(GraphError, match="not in 'graph': 'n40'"):
        fitted.predict(["n40"])
    with pytest.raises(GraphError, match="one-dimensional list of node ids"):
        NodeClassifier(graph=graph).fit(graph.features, given_labels(graph))
    with pytest.raises(GraphError, match="edges of its own"):
        NodeClassifier().fit(graph, edges=[(0, 1)])


def test_cross_validation_keeps_the_graph_and_hides_the_fold(cora):
    graph = cora.graph
    shown = np.array(cora.splits["public"].train)
    model = NodeClassifier("ssgc", {"epochs": 20}, graph=graph)
    predictions = cross_val_predict(model, graph.ids[shown], graph.labels[shown], cv=2)
    assert (predictions == graph.labels[shown]).mean() > 0.6  # seven classes
    assert clone(model).graph is graph  # operators are built once for all folds


def test_grid_search_over_the_methods_settings(cora):
    graph = cora.graph
    shown = np.array(cora.splits["public"].train)
    grid = {"settings__k": [1, 16], "method": ["sgc", "ssgc"]}
    search = GridSearchCV(NodeClassifier(settings={"epochs": 20}, graph=graph), grid, cv=2)
    search.fit(graph.ids[shown], graph.labels[shown])
    assert search.best_params_["settings__k"] == 16  # one hop is not enough for ten labels per class
    assert search.best_estimator_.settings == {"epochs": 20, "k": 16}
    test = cora.splits["public"].test
    assert search.score(graph.ids[test], graph.labels[test]) > 0.7


def test_what_cannot_be_fitted_is_refused(graph):
    with pytest.raises(SplitError, match="no labelled node"):
        NodeClassifier("ssgc").fit(graph.features, [-1] * 40)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        NodeClassifier("ssgc").fit(graph.features, [0, 1])
    with pytest.raises(ValueError, match="requires y"):
        NodeClassifier("ssgc").fit(graph.features)
    with pytest.raises(GraphError, match="fractions"):
        NodeClassifier("ssgc").fit(graph.features, [0.5, 1] * 20)
    with pytest.raises(GraphError, match="outside") as caught:
        NodeClassifier("lp").fit(np.eye(4), [0, 1, 0, 1], [(0, 9)])
    assert "graph=" in caught.value.remedy
    with pytest.raises(NotFittedError):
        NodeClassifier("ssgc").predict()


def test_the_page_on_models_runs(cora):
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    fit, search = re.findall(r"```python\n(.*?)```", page, re.S)
    rng = np.random.default_rng(0)
    names = {"X": rng.random((20, 4)), "y": [0, 1] + [-1] * 18, "edges": [(i, i + 1) for i in range(19)]}
    names |= {"more_X": rng.random((2, 4)), "more_edges": [(20, 3), (21, 20)]}
    exec(fit, names)
    assert names["model"].transduction_.shape == (20,)
    shown = cora.graph.with_labels([k if i % 40 == 0 else None for i, k in enumerate(cora.graph.labels)])
    names["graph"] = shown
    exec(search, names)
    assert names["search"].best_score_ > 0.5


def test_score_is_over_the_rows_whose_label_is_known():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 5)) + 4 * y[:, None]
    edges = [(i, i + 1) for i in range(39) if i != 19]
    half = np.where(np.arange(40) % 2, y, -1)
    model = NodeClassifier("sgc").fit(X, half, edges)
    assert model.score(X, half) == model.score(X[1::2], y[1::2]) == 1
    with pytest.raises(GraphError, match="No row has a label"):
        model.score(X, np.full(40, -1))


def test_run_takes_options_and_says_what_it_wants():
    graph = NodeGraph(np.eye(6), [(0, 1), (2, 3), (4, 5)], [0, 1, None, None, None, None])
    assert dccgcn.run(graph, method="sgc", settings={"k": 3}).settings.k == 3
    with pytest.raises(SettingsError, match=r"sgc: There is no option 'kk'\. Did you mean 'k'"):
        dccgcn.run(graph, method="sgc", settings={"kk": 3})
    with pytest.raises(DccgcnError, match="is a list, not a Split"):
        dccgcn.run(graph, [0, 1])
    with pytest.raises(DccgcnError, match="takes a NodeGraph"):
        dccgcn.run(np.eye(3))
    with pytest.raises(DccgcnError, match="The seed is -1"):
        dccgcn.run(graph, seed=-1)


def test_parameters_are_checked_by_fit_and_options_set_one_by_one(graph):
    with pytest.raises(DccgcnError, match="no method"):
        NodeClassifier("no such method", {"k": 0}, seed=-1).fit(graph)
    settings = {"epochs": 5}
    model = NodeClassifier("ssgc", settings).set_params(settings__k=0)
    assert settings == {"epochs": 5}
    with pytest.raises(SettingsError, match="k = 0"):
        model.fit(graph)
    with pytest.raises(ValueError, match="Invalid parameter 'kk'"):
        model.set_params(kk=3)
