"""Constants, starting values, seeds and quotas that other tests would not miss."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from dccgcn import NodeGraph, Split, read_tables
from dccgcn.errors import SplitError, TrainingError
from dccgcn.features import operator, topology_operator
from dccgcn.features.approximate_search import MOST_WORK
from dccgcn.features.columns import numeric_columns
from dccgcn.features.exact_search import empty_neighbours, exact_work
from dccgcn.graph.splits import hold_out, per_class
from dccgcn.kernels import dropout_key
from dccgcn.methods.base import Task
from dccgcn.methods.prediction import Prediction
from dccgcn.methods.registry import METHODS
from dccgcn.networks import layers
from dccgcn.networks.baselines import self_training
from dccgcn.networks.dcc.method import fit as fit_dcc
from dccgcn.networks.dcc.model import DccGcn
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.networks.layers import ReceptiveField, TorchOperator
from dccgcn.networks.training import train_full_batch
from dccgcn.quality import calibration
from dccgcn.report.data import report_data
from dccgcn.tables.write import write_tables
from dccgcn.workflow import active_learning, doctor
from dccgcn.workflow.active_learning import similarity
from dccgcn.workflow.fitting import run
from helpers.runs import dual, toy
from paper.signals import trust_columns

SMALL = DccSettings(hidden1=6, hidden2=4, k=2, epochs=2)


def ring(sizes):
    """A ring of nodes with so many of each class."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    n = len(labels)
    return NodeGraph(np.eye(n), [(i, (i + 1) % n) for i in range(n)], labels)


# splits


@pytest.mark.parametrize(
    ("share", "tested"), [(0.3, [3, 1, 0]), (0.01, [1, 1, 0]), (0.5, [5, 2, 0]), (0.99, [9, 3, 0])]
)
def test_hold_out_tests_a_share_of_each_class_and_trains_on_the_rest(share, tested):
    graph = ring([10, 4, 1])
    split = hold_out(graph, share, seed=0)
    assert np.bincount(graph.labels[split.test], minlength=3).tolist() == tested
    assert np.bincount(graph.labels[split.train], minlength=3).tolist() == [10 - tested[0], 4 - tested[1], 1]
    assert hold_out(graph, 0.5, 1).hash != hold_out(graph, 0.5, 0).hash


def test_no_node_is_in_two_parts():
    graph = ring([4, 4])
    for parts in ({"train": [0], "test": [0]}, {"train": [0], "validation": [0]}, {"validation": [1], "test": [1]}):
        with pytest.raises(SplitError, match="in both"):
            Split.from_parts(graph, "mine", **{"train": [7], **parts})


# DCC-GCN


def test_dcc_gcn_starts_with_xaviers_mu_and_the_identity_as_sigma():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = DccGcn(40, 5, 3, SMALL)
    scores = model.mu_scores[0].detach()
    bound = (6 / (40 + 3)) ** 0.5
    assert scores.abs().max() <= bound
    assert scores.min() < -0.8 * bound
    assert scores.max() > 0.8 * bound
    assert (model.s(0) == 1).all()


def test_the_seed_decides_dcc_gcns_start():
    graph = toy(n=24)
    plain = SMALL.changed({"dropout": 0.0})
    first, second = (fit_dcc(Task(graph, np.array([0, 8, 16]), seed), plain).probabilities for seed in (0, 1))
    assert not np.array_equal(first, second)


def test_dropout_keys_depend_on_seed_epoch_and_site():
    keys = {dropout_key(*at) for at in ((0, 0, 0), (1, 0, 0), (2**32, 0, 0), (0, 1, 0), (0, 0, 1))}
    assert len(keys) == 5


def test_each_layer_of_each_channel_has_a_dropout_of_its_own(monkeypatch):
    graph, keys = toy(n=12), []
    monkeypatch.setattr(layers, "dropout_key", lambda *at: keys.append(at) or 1)
    a = TorchOperator.of(topology_operator(graph, "row"))
    field = ReceptiveField.of(graph, "raw", a, np.arange(12))
    layers.TwoLayerGcn(graph.d, 4, 2, 0.5, output_activation=True)(field, a.alpha, (7, 3, 1))
    assert keys == [(7, 3, 2), (7, 3, 3)]


def test_without_aggregation_only_the_first_channel_is_in_the_joint_logits():
    model = DccGcn(4, 3, 2, SMALL.changed({"aggregation": False, "channel_classifier": "padded"}))
    summands = model.summands([torch.ones(4, 4), torch.ones(4, 4)])
    assert len(summands) == 2
    assert torch.equal(model.joint_logits(summands), summands[0] + model.b)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2e9])
def test_a_loss_that_is_no_number_or_huge_is_named_with_its_epoch(bad):
    weight = torch.nn.Parameter(torch.ones(1))
    with pytest.raises(TrainingError, match=r"The loss became .* in epoch 2 of 3"):
        train_full_batch(lambda epoch: weight.sum() + (bad if epoch == 1 else 0), [{"params": [weight]}], 0.1, 3)


def test_networks_stop_after_so_many_epochs_without_improvement():
    graph, epochs = toy(n=30), []
    method = METHODS["appnp"]
    settings = method.settings(epochs=40, patience=2, lr=1e-12, hidden=4, steps=1)
    method.fit(Task(graph, np.array([0, 10, 20]), 0, lambda *at: epochs.append(at), np.array([5, 15, 25])), settings)
    assert 2 < len(epochs) < 10


# M3S


def test_m3s_divides_its_quota_among_the_stages_and_rounds_up(monkeypatch):
    graph, asked = toy(n=30), []
    p = np.full((30, 3), 1 / 3, np.float32)
    monkeypatch.setattr(self_training, "pseudo_labels_per_class", lambda *_: np.array([4, 3, 1]))
    monkeypatch.setattr(self_training, "fit_gcn", lambda *_: Prediction(p, embeddings={"output": p}))
    monkeypatch.setattr(self_training, "cluster_classes", lambda *_: np.zeros(30, int))
    monkeypatch.setattr(
        self_training, "top_k_mask", lambda scores, t: asked.append(t.tolist()) or np.zeros((30, 3), bool)
    )
    self_training.fit_m3s(Task(graph, np.array([0, 10, 20])), self_training.M3sSettings(stages=3))
    assert asked == [[2, 1, 1]] * 3


def test_each_stage_of_m3s_labels_further_nodes(monkeypatch):
    graph, masks = toy(n=30), []
    p = (np.eye(3)[graph.labels] * 0.7 + 0.1).astype(np.float32)
    monkeypatch.setattr(self_training, "pseudo_labels_per_class", lambda *_: np.array([2, 2, 2]))
    monkeypatch.setattr(
        self_training, "fit_gcn", lambda graph, mask, *_: masks.append(mask) or Prediction(p, embeddings={"output": p})
    )
    monkeypatch.setattr(self_training, "cluster_classes", lambda *_: graph.labels)
    self_training.fit_m3s(Task(graph, np.array([0, 10, 20])), self_training.M3sSettings(stages=2))
    assert [mask.sum() for mask in masks] == [3, 6, 9]


# features


def test_a_column_is_numeric_if_three_quarters_of_the_nodes_have_a_value():
    rng = np.random.default_rng(0)
    x = rng.normal(5, 1, size=(100, 2))
    x[:30, 1] = 0
    assert numeric_columns(x).columns.tolist() == [0]
    x[:10, 1] = 5
    assert numeric_columns(x).columns.tolist() == [0, 1]


def test_columns_of_different_units_are_standardised():
    x = np.random.default_rng(0).normal(size=(200, 2))
    assert numeric_columns(x) is None
    assert numeric_columns(x * [1, 5]).columns.tolist() == [0, 1]


@pytest.mark.parametrize(("recall", "level"), [(0.5, "warning"), (0.79, "warning"), (0.81, "note")])
def test_a_feature_graph_that_misses_a_fifth_of_the_neighbours_is_a_warning(recall, level):
    found = replace(empty_neighbours(3, 1), recall=recall)
    first = next(operator._findings(toy(n=6), found))
    assert (first.code, first.level) == ("knn-approximate", level)


def test_edges_that_are_all_given_in_both_directions_are_no_finding():
    pairs = np.array([(0, 1), (1, 2), (2, 3)])
    graph = NodeGraph(np.eye(4), np.concatenate([pairs, pairs[:, ::-1]]))
    assert [finding.code for finding in graph.findings] == []


def test_twenty_thousand_nodes_are_searched_exactly_and_a_hundred_thousand_are_not():
    """With 500 terms of which every node has 50, as in Pubmed."""
    work = {n: 500 * (n / 10) ** 2 for n in (1000, 20_000, 100_000)}
    rng = np.random.default_rng(0)
    x = sp.csr_array((np.ones(50_000), rng.integers(0, 500, 50_000), np.arange(0, 50_001, 50)), shape=(1000, 500))
    assert exact_work(x) == pytest.approx(work[1000], rel=0.05)
    assert work[20_000] < MOST_WORK < work[100_000]


def test_values_and_words_of_one_node_or_of_most_get_no_feature():
    n = 8
    frame = pd.DataFrame({"id": [f"n{i}" for i in range(n)], "topic": ["a", "b"] * 4})
    frame["country"] = ["DE", "DE", "FR", "FR", "FR", "XX", "DE", "FR"]
    frame["title"] = [f"always {'sometimes' if i % 3 == 0 else 'often'} {'once' if i == 5 else ''}" for i in range(n)]
    edges = pd.DataFrame({"source": ["n0"], "target": ["n1"]})
    read = read_tables(frame, edges, label="topic", categorical=["country"], text=["title"])
    assert read.encoder.categories[0].values == ["DE", "FR"]
    assert read.encoder.texts[0].words == ["sometimes"]


def test_the_truth_of_hidden_labels_has_no_row_for_a_node_without_a_label(tmp_path):
    graph = NodeGraph(np.eye(4), [(0, 1)], ["a", "b", "a", None])
    write_tables(graph, tmp_path, np.array([0]))
    assert (tmp_path / "truth.csv").read_text().splitlines() == ["id,label", "1,b", "2,a"]


# evaluation


def test_agreement_then_margin_ranks_by_agreement_first():
    p = np.array([[0.95, 0.05], [0.55, 0.45], [0.9, 0.1], [0.6, 0.4]])
    agree = np.array([False, True, False, True])
    truth = np.array([1, 0, 1, 0])  # right where the channels agree, though the margin is small there
    record = trust_columns(Prediction(p, {"one": p, "two": p}, channels_agree=agree), np.arange(4), truth)
    assert record["final_auroc_agreement_then_margin"] == 1
    assert record["final_auroc_margin"] == 0
    assert calibration.auroc(2.0 * agree + calibration.margin(p), p.argmax(axis=1) == truth) == 1


# what to label next, and the doctor


def test_similarity_is_the_fourth_power_of_the_cosine():
    one, other = np.array([[1.0, 0.0]]), np.array([[0.5, 0.75**0.5], [-1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(similarity(one, other), [[0.5**4, 0, 1]])


def test_a_node_hardly_similar_to_any_label_is_represented_by_none():
    cosines = np.array([1.0, 0.5, 0.32, 0.31, 0.0])  # to the power of four: 0.0105 and 0.0092
    embedding = np.vstack([np.stack([cosines, np.sqrt(1 - cosines**2), np.zeros(5)], axis=1), [0, 0, 1]])
    (represented,) = active_learning.represented_nodes(embedding, np.array([5]), np.array([0]))
    assert represented.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("n", "degree", "found"), [(300, 99, False), (300, 102, True), (2000, 199, False), (2000, 202, True)]
)
def test_a_hub_has_more_than_a_tenth_of_the_nodes_and_more_than_a_hundred(n, degree, found):
    graph = NodeGraph(np.eye(n, 3) + 1, [(0, i) for i in range(1, degree + 1)])
    assert ("hubs" in {diagnosis.code for diagnosis in doctor.examine(graph)}) == found


# the report


@pytest.fixture(scope="module")
def measured():
    graph = toy()
    return run(graph, per_class(graph, 3, seed=0), "lp")


def test_the_report_shows_precision_and_counts_training_labels(measured):
    wrong = measured.prediction.probabilities.copy()
    wrong[:25] = [0.1, 0.2, 0.7]  # class 2 is predicted too often
    result = type(measured)(**{**vars(measured), "prediction": Prediction(wrong)})
    shown = report_data(result)
    test, y_pred, y = result.split.test, result.prediction.y_pred, result.graph.labels
    right = (y_pred == y)[test]
    precision = [right[y_pred[test] == k].mean() if (y_pred[test] == k).any() else None for k in range(3)]
    recall = [right[y[test] == k].mean() for k in range(3)]
    assert precision[2] != pytest.approx(recall[2])
    assert [row.precision for row in shown.classes] == [
        p if p is None else pytest.approx(p, abs=1e-6) for p in precision
    ]
    assert [row.labels for row in shown.classes] == [3, 3, 3]
    curve = calibration.risk_coverage(wrong.max(axis=1)[test], right)
    assert shown.calibration.aurc == pytest.approx(curve.area, abs=1e-6)


def test_the_contingency_of_the_channels_has_the_first_in_its_rows(measured):
    result = dual(measured)
    first, second = (p.argmax(axis=1)[result.is_predicted] for p in result.prediction.channels.values())
    expected = [[int(((first == i) & (second == j)).sum()) for j in range(3)] for i in range(3)]
    shown = report_data(result).channel_contingency
    assert shown == expected
    assert shown != np.array(expected).T.tolist()
