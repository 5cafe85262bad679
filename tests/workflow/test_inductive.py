"""Nodes appended after training: the new graph, its predictions, and dccgcn predict."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dccgcn import NodeGraph, append_nodes, load_model, per_class, read_tables, run
from dccgcn.errors import DccgcnError, GraphError
from dccgcn.graph.splits import Split
from dccgcn.methods.base import ENTRIES, get_method
from dccgcn.workflow.inductive import predict_new
from helpers import literal
from helpers.command import dccgcn, refused, success

ABLE = [name for name in ENTRIES if get_method(name).predict_new]


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    centre = rng.random((3, 8)) < 0.4
    features = ((rng.random((60, 8)) < 0.3) | centre[truth]) * rng.random((60, 8)) + 0.01
    same = rng.integers(0, 20, (150, 2)) + 20 * rng.integers(0, 3, (150, 1))
    labels = [None if i % 20 > 3 else "abc"[truth[i]] for i in range(60)]
    return NodeGraph(sp.csr_array(features), same, labels, ids=[f"n{i}" for i in range(60)])


@pytest.fixture(scope="module")
def more(graph):
    """Features and edges of four further nodes; the last has neither neighbours among the old nor features."""
    features = sp.csr_array(np.vstack([graph.features.toarray()[[0, 20, 40]], np.zeros((1, 8))]))
    return features, [(60, 0), (60, 1), (61, 20), (61, 60), (62, 41)]


@pytest.mark.parametrize("name", ABLE)
def test_without_new_nodes_the_predictions_are_those_of_training(graph, name):
    result = run(graph, method=name)
    np.testing.assert_allclose(predict_new(result, graph).probabilities, result.prediction.probabilities, atol=1e-6)


@pytest.mark.parametrize("name", ABLE)
def test_predictions_do_not_depend_on_the_order_of_new_nodes(graph, more, name):
    result = run(graph, method=name)
    features, edges = more
    order = [2, 0, 3, 1]
    place = {60 + old: 60 + new for new, old in enumerate(order)}
    moved = [(place.get(u, u), place.get(v, v)) for u, v in edges]
    straight = predict_new(result, append_nodes(graph, features, edges, ids=list("wxyz")))
    turned = predict_new(result, append_nodes(graph, features[order], moved, ids=["y", "w", "z", "x"]))
    np.testing.assert_allclose(turned.probabilities[60:], straight.probabilities[60:][order], atol=1e-5)
    np.testing.assert_allclose(straight.probabilities.sum(axis=1), 1, rtol=1e-5)
    assert straight.y_pred[60:63].tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ABLE)
def test_only_training_labels_are_used(small_cora, name):
    graph = small_cora.graph
    split = per_class(graph, 2, seed=0)
    result = run(graph, split, name)
    blind = np.full(graph.n, None, dtype=object)
    blind[split.train] = [graph.classes[k] for k in graph.labels[split.train]]
    with_labels = predict_new(result, graph).probabilities
    without_labels = predict_new(result, graph.with_labels(blind, classes=graph.classes)).probabilities
    assert with_labels.tobytes() == without_labels.tobytes()


def test_sgc_predicts_new_nodes_by_its_formula(graph, more):
    result = run(graph, method="sgc")
    union = append_nodes(graph, *more, ids=list("wxyz"))
    step = literal.normalised_adjacency(union.adjacency.toarray().astype(float), "symmetric")
    x = literal.normalise_rows(union.features.toarray().astype(float), "row")
    logits = step @ step @ x @ result.prediction.model["weight"] + result.prediction.model["bias"]
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predict_new(result, union).probabilities, expected, atol=1e-5)


def test_a_class_without_a_training_label_keeps_probability_0(graph, more):
    train = np.flatnonzero((graph.labels >= 0) & (graph.labels != 1))
    result = run(graph, Split.from_parts(graph, "some", train, [], []), "ssgc")
    prediction = predict_new(result, append_nodes(graph, *more, ids=list("wxyz")))
    assert prediction.probabilities.shape == (64, 3)
    assert (prediction.probabilities[:, 1] == 0).all()


def test_appended_nodes_come_last_and_findings_are_about_them(graph, more):
    union = append_nodes(graph, more[0], [*more[1], (63, 63)], ids=list("wxyz"), edge_weights=[2, 1, 1, 1, 1, 1])
    assert union.ids.tolist() == [*graph.ids.tolist(), *"wxyz"]
    assert (union.labels[:60] == graph.labels).all()
    assert (union.labels[60:] == -1).all()
    assert len(union.edges) == len(graph.edges) + 5
    assert union.adjacency[60, 0] == 2
    assert [finding.code for finding in union.findings] == ["unknown-nodes"]
    assert "1 of the 4 new nodes have neither edges nor known features" in union.findings[0].text
    lone = append_nodes(graph, more[0], ids=list("wxyz")).findings
    assert {f.code for f in lone} == {"isolated-nodes", "unknown-nodes"}
    dense = NodeGraph(graph.features.toarray(), graph.edges, ids=graph.ids)
    assert isinstance(append_nodes(dense, more[0], ids=list("wxyz")).features, np.ndarray)


def test_nodes_that_do_not_fit_are_refused(graph, more):
    with pytest.raises(GraphError, match=r"2 of the new nodes are already in the graph: 'n0', 'n5'"):
        append_nodes(graph, more[0], ids=["n5", "x", "n0", "y"])
    with pytest.raises(GraphError, match="3 features, but the graph has 8"):
        append_nodes(graph, np.ones((2, 3)))
    with pytest.raises(GraphError, match="outside the 64 nodes"):
        append_nodes(graph, more[0], [(64, 0)], ids=list("wxyz"))
    new = np.ones((2, 8))
    for edges, words in (([[0, 1, 2], [60, 60, 61]], "PyG"), ([[0.9, 60.2]], "integer"), (sp.eye_array(62), "matrix")):
        with pytest.raises(GraphError, match=words):
            append_nodes(graph, new, edges)
    with pytest.raises(GraphError, match="new nodes are NaN"):
        append_nodes(graph, [[np.nan] * 8])


@pytest.mark.parametrize("ids", [range(1, 61), [str(i) for i in range(1, 61)], range(100, 160)])
def test_ids_are_found_where_none_are_given(graph, ids):
    numbered = NodeGraph(graph.features, graph.edges, ids=list(ids))
    made = append_nodes(numbered, np.ones((3, 8)))
    assert made.n == 63
    assert len({type(i) for i in made.ids.tolist()}) == 1


def tables(folder):
    """Two villages of 15 people each: trades in words, age, and acquaintances as edges; most have no label."""
    rng = np.random.default_rng(1)
    trades = {"hill": "sheep wool hill shepherd", "sea": "boat fish net sailor"}
    home = ["hill"] * 15 + ["sea"] * 15
    people = pd.DataFrame(
        {
            "who": [f"p{i}" for i in range(30)],
            "work": [" ".join(rng.choice(trades[h].split(), 2)) for h in home],
            "age": rng.integers(20, 70, 30),
            "home": [h if i % 15 < 4 else "" for i, h in enumerate(home)],
        }
    )
    pairs = [(f"p{i}", f"p{j}") for i in range(30) for j in rng.integers(0, 15, 2) + 15 * (i >= 15)]
    edges = pd.DataFrame(pairs, columns=["who", "knows"])
    people.to_csv(folder / "people.csv", index=False)
    edges.to_csv(folder / "knows.csv", index=False)
    new = pd.DataFrame({"age": [30, 40, 50], "who": ["n1", "=n2", "n3"], "work": ["wool", "fish net", "unheard of"]})
    new.to_csv(folder / "new.csv", index=False)
    pairs = [("n1", "p3"), ("=n2", "p20"), ("n3", "=n2"), ("n3", "p17"), ("n3", "p18")]
    pd.DataFrame(pairs, columns=["who", "knows"]).to_csv(folder / "new-edges.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tables(tmp_path_factory.mktemp("villages"))
    named = {"label": "home", "id": "who", "source": "who", "target": "knows", "text": ["work"]}
    read = read_tables(folder / "people.csv", folder / "knows.csv", **named)
    run(read.graph, method="ssgc").save(folder / "model", read)
    return folder


def test_tables_of_new_nodes_are_read_as_at_training(model):
    loaded = load_model(model / "model")
    predictions = loaded.predict(model / "new.csv", model / "new-edges.csv")
    assert predictions["node_id"].tolist() == ["n1", "=n2", "n3"]
    assert predictions["prediction"].tolist() == ["hill", "sea", "sea"]
    old = loaded.read(model / "new.csv", model / "new-edges.csv")
    assert old.ids[:30].tolist() == [f"p{i}" for i in range(30)]
    frames = loaded.predict(pd.read_csv(model / "new.csv"), pd.read_csv(model / "new-edges.csv"))
    pd.testing.assert_frame_equal(predictions, frames)
    pd.testing.assert_frame_equal(predictions, loaded.predict(old))
    alone = loaded.predict(model / "new.csv")
    assert alone["prediction"].tolist()[:2] == ["hill", "sea"]
    with pytest.raises(GraphError, match="start with the nodes and classes of training"):
        loaded.predict(NodeGraph(np.eye(3), []))


def test_predict_on_the_command_line(model, tmp_path):
    given = ("predict", model / "model", "--nodes", model / "new.csv", "--edges", model / "new-edges.csv")
    out = success(*given, "--out", tmp_path / "predictions.csv").stdout
    assert "3 new nodes" in out
    assert "n3" in out
    assert "probability" in out
    assert "prediction_" not in out  # the file has these
    written = pd.read_csv(tmp_path / "predictions.csv")
    assert written["prediction"].tolist() == ["hill", "sea", "sea"]
    assert written["node_id"].tolist() == ["n1", "'=n2", "n3"]  # a spreadsheet must not run it
    printed = json.loads(success(*given, "--json").stdout)["predictions"]
    assert [row["prediction"] for row in printed] == ["hill", "sea", "sea"]
    assert [row["node_id"] for row in printed] == ["n1", "=n2", "n3"]
    done = success("predict", model / "model", "--nodes", model / "new.csv")
    assert "only their features are used" in done.stderr


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        ("work,age\nwool,3\n", None, "no column 'who' for the id"),
        ("who,age\nx,3\n", None, "lacks columns that were there at training: 'work'"),
        ("who,work,age\np3,wool,3\n", None, "already in the graph: 'p3'"),
        ("who,work,age\nx,wool,3\nx,wool,3\n", None, "'x' occurs 2 times"),
        ("who,work,age\nx,wool,3\n", "who,knows\nx,p99\n", "'p99'"),
        ("who,work,age\nx,wool,3\n", "from,knows\nx,p1\n", "no column 'who' for the source"),
        ("who,work,age\n", None, "no rows"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_tables_that_do_not_fit_the_model_are_refused(model, tmp_path, nodes, edges, words):
    (tmp_path / "n.csv").write_text(nodes)
    arguments = ["predict", model / "model", "--nodes", tmp_path / "n.csv"]
    if edges is not None:
        (tmp_path / "e.csv").write_text(edges)
        arguments += ["--edges", tmp_path / "e.csv"]
    refused(dccgcn(*arguments), words)


def test_a_model_without_tables_refuses_them(graph, tmp_path):
    run(graph, method="ssgc").save(tmp_path)
    with pytest.raises(DccgcnError, match="not trained on tables"):
        load_model(tmp_path).predict(tmp_path / "any.csv")
    refused(dccgcn("predict", tmp_path / "nowhere", "--nodes", "any.csv"), "no model in")
