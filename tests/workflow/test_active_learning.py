"""suggest_labels: the formula, its properties, the command label-next and its benchmark."""

import json

import numpy as np
import pandas as pd
import pytest

import dccgcn.workflow.active_learning as module
from dccgcn import NodeGraph, Prediction, per_class, run, suggest_labels
from dccgcn.errors import DccgcnError
from helpers.command import dccgcn, refused, success


@pytest.fixture(scope="module")
def cliques():
    """Six cliques of eight nodes with features of their own; the first two have a label each. Node 48 is isolated."""
    rng = np.random.default_rng(0)
    features = np.kron(np.eye(6), np.ones((8, 3))) + 0.05 * rng.random((48, 18))
    features = np.vstack([np.hstack([features, np.zeros((48, 1))]), np.eye(1, 19, 18)])
    edges = [(8 * c + i, 8 * c + j) for c in range(6) for i in range(8) for j in range(i)]
    labels = [{0: "a", 8: "b"}.get(i) for i in range(49)]
    return NodeGraph(features, edges, labels, ids=[f"n{i}" for i in range(49)])


@pytest.fixture(scope="module")
def fitted(cora):
    """A split of Cora with two labels per class, and a prediction."""
    split = per_class(cora.graph, 2, seed=0)
    return split, run(cora.graph, split, "ssgc").prediction


def prediction(graph, confidence=0.6, **more):
    p = np.full((graph.n, graph.c), (1 - confidence) / (graph.c - 1), dtype=np.float32)
    p[:, 0] = confidence
    return Prediction(p, **more)


def greedy(graph, found, labelled, count, pool):
    """The formula, literally."""
    embedding = module.node_embedding(graph).astype(float)
    s = np.maximum(embedding @ embedding.T, 0) ** module.POWER
    labels = [list(graph.labels[labelled]).count(k) for k in range(graph.c)]
    chosen = []
    for _ in range(count):
        best = (-1.0, None)
        for u in pool:
            if u in chosen:
                continue
            gain = 0.0
            for v in range(graph.n):
                coverage = max(s[v, w] for w in [*labelled, *chosen])
                gain += module.uncertainty(found)[v] * max(0, s[u, v] - coverage)
            gain /= (1 + labels[found.y_pred[u]]) ** 0.5
            best = max(best, (gain, u), key=lambda pair: pair[0])
        chosen.append(best[1])
        labels[found.y_pred[best[1]]] += 1
    return chosen


@pytest.mark.parametrize("block", [1, 3, 1024])
def test_the_lazy_greedy_choice_equals_the_formula(block, monkeypatch):
    rng = np.random.default_rng(3)
    graph = NodeGraph(rng.random((25, 6)), rng.integers(0, 25, (40, 2)), [0, 1, 2] + [None] * 22)
    p = rng.dirichlet(np.ones(3), 25).astype(np.float32)
    found = Prediction(p, channels_agree=rng.random(25) < 0.5)
    monkeypatch.setattr(module, "BLOCK_SIZE", block)
    got = [s.position for s in suggest_labels(graph, found, np.arange(3), 6)]
    assert got == greedy(graph, found, [0, 1, 2], 6, range(3, 25))


def test_suggestions_come_from_different_cliques_and_outliers_are_left_out(cliques):
    chosen = suggest_labels(cliques, prediction(cliques), np.array([0, 8]), 4)
    assert sorted(s.position // 8 for s in chosen) == [2, 3, 4, 5]
    assert all(s.n_represented == 8 for s in chosen)
    assert all(s.node_id == f"n{s.position}" for s in chosen)


def test_uncertain_nodes_come_first_and_disagreement_is_uncertainty(cliques):
    trust = np.full(49, 0.9)
    trust[24:32] = 0.1
    sure = prediction(cliques, trust=trust)
    first = suggest_labels(cliques, sure, np.array([0, 8]), 1)[0]
    assert first.position // 8 == 3
    assert first.confidence == pytest.approx(0.1)
    assert "8 of them uncertain; uncertain itself" in first.reason
    agree = np.ones(49, dtype=bool)
    agree[40:48] = False
    channels = {"topology": np.eye(2)[np.zeros(49, int)], "feature": np.eye(2)[(~agree).astype(int)]}
    split = prediction(cliques, channels_agree=agree, channels=channels)
    first = suggest_labels(cliques, split, np.array([0, 8]), 1)[0]
    assert first.position // 8 == 5
    assert "the evidence disagrees: a by edges, b by feature" in first.reason


def test_classes_with_few_labels_come_first(cliques):
    p = np.tile(np.array([0.6, 0.4], dtype=np.float32), (49, 1))
    p[32:40] = [0.4, 0.6]
    graph = cliques.with_labels(["a" if i < 4 else "b" if i == 8 else None for i in range(49)])
    first = suggest_labels(graph, Prediction(p), np.array([0, 1, 2, 3, 8]), 1)[0]
    assert first.position // 8 == 4
    assert first.prediction == "b"
    assert "few labels of b so far" in first.reason


def test_only_candidates_are_chosen_and_only_so_many(cliques):
    pool = np.array([0, 3, 11])
    assert {s.position for s in suggest_labels(cliques, prediction(cliques), np.array([0, 8]), 2, pool)} == {3, 11}
    for count in (0, 3):
        with pytest.raises(DccgcnError, match=rf"{count} nodes cannot be chosen among 2"):
            suggest_labels(cliques, prediction(cliques), np.array([0, 8]), count, pool)


def test_a_graph_without_edges_or_with_one_feature_works():
    bare = NodeGraph(np.random.default_rng(0).random((10, 1)), [], ["a", "b"] + [None] * 8)
    assert len(suggest_labels(bare, prediction(bare), np.array([0, 1]), 8)) == 8


def test_a_node_similar_to_no_other_represents_itself():
    degenerate = NodeGraph(
        np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1], [0, 0]]), [(0, 1), (2, 3)], ["a", "a", "b", "b", None]
    )
    found = suggest_labels(degenerate, run(degenerate).prediction, np.arange(4), 1)
    assert (found[0].position, found[0].n_represented, found[0].reason[:22]) == (4, 1, "represents itself only")


def test_label_next_of_a_run_and_of_a_graph(small_cora, cora_is_small, tmp_path):
    given = ("--count", "3", "--json")
    by_name = json.loads(success("label-next", "cora", "--method", "ssgc", *given).stdout)
    run(small_cora.graph, per_class(small_cora.graph, 2, seed=0), "ssgc").save(tmp_path / "run")
    by_folder = json.loads(success("label-next", tmp_path / "run", *given).stdout)
    assert [s["node_id"] for s in by_folder["next"]] == [s["node_id"] for s in by_name["next"]]
    assert by_folder["labels"] == 14
    to_file = ("label-next", tmp_path / "run", "--count", "2", "--out", tmp_path / "next.csv")
    out = success(*to_file).stdout
    success(*to_file, "--overwrite")
    written = pd.read_csv(tmp_path / "next.csv")
    assert written["node_id"].tolist() == [s["node_id"] for s in by_name["next"]][:2]
    assert str(written["node_id"][0]) in out
    assert "represents" in out
    refused(dccgcn("label-next", "coraa"), "neither a folder nor a benchmark graph")
    refused(dccgcn("label-next", tmp_path), "no model in")
    refused(dccgcn("label-next", "cora", "--count", "5000", "--method", "ssgc"), "5000 nodes cannot be chosen")


def test_a_graph_of_one_number_per_node_is_not_one_similar_heap():
    rng = np.random.default_rng(0)
    group = np.arange(90) % 3
    edges = [(i, j) for i in range(90) for j in range(i) if group[i] == group[j] and rng.random() < 0.3]
    graph = NodeGraph(rng.normal(50, 5, (90, 1)), edges, ["a", "b"] + [None] * 88)
    chosen = suggest_labels(graph, prediction(graph), np.array([0, 1]), 3)
    assert group[chosen[0].position] == 2, "the group without a label"
    assert chosen[0].n_represented > 10


def test_a_large_graph_is_judged_by_a_sample_and_has_a_sample_of_candidates(cora, fitted, monkeypatch):
    monkeypatch.setattr(module, "SAMPLE_SIZE", 500)
    monkeypatch.setattr(module, "MOST_CANDIDATES", 50)
    split, found = fitted
    pool = np.setdiff1d(np.arange(cora.graph.n), split.train)
    few = pool[np.sort(np.random.default_rng(0).choice(len(pool), 50, replace=False))]
    chosen, again = ([s.position for s in suggest_labels(cora.graph, found, split.train, 10)] for _ in range(2))
    assert chosen == again
    assert len(set(chosen)) == 10
    assert set(chosen) <= set(few.tolist())
    assert len(suggest_labels(cora.graph, found, split.train, 60)) == 60


def test_a_node_hardly_similar_to_any_label_is_represented_by_none():
    cosines = np.array([1.0, 0.5, 0.32, 0.31, 0.0])  # to the power of four: 0.0105 and 0.0092
    embedding = np.vstack([np.stack([cosines, np.sqrt(1 - cosines**2), np.zeros(5)], axis=1), [0, 0, 1]])
    (represented,) = module.represented_nodes(embedding, np.array([5]), np.array([0]))
    assert represented.tolist() == [0, 1, 2]
