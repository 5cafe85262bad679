"""Systems that train a GCN again: pseudo-labels, Li et al.'s four, M3S, CaGCN and CaGCN-st, E-GCN (our reading)."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from dccgcn.errors import SettingsError
from dccgcn.features import topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Task, get_method
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines import cagcn, e_gcn, gcn, self_training
from dccgcn.networks.dcc import method as dcc
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.networks.layers import TorchOperator
from dccgcn.quality import calibration
from dccgcn.settings import read_yaml
from helpers import literal
from helpers import literal_pseudo as slow
from helpers.runs import toy

NAMES = (
    "pseudo-labels", "self-training", "co-training", "union", "intersection", "m3s", "cagcn", "cagcn-st", "e-gcn",
)  # fmt: skip
QUICK = {"epochs": 12, "hidden": 8}
FAST = {
    "pseudo-labels": {"alpha_after": 5, "added": 4, "dcc": {"epochs": 5, "hidden1": 8, "hidden2": 8, "k": 2}},
    "intersection": {"eta_factor": 8.0},
    "m3s": {"stages": 2, "clusters": 20, "epochs": 40, "lr": 0.1},
    "cagcn": {"calibration_epochs": 10, "most_epochs": 20},
    "cagcn-st": {"calibration_epochs": 10, "most_epochs": 20, "stages": 2, "threshold": 0.35},
}


def quick(name, **options):
    return get_method(name).settings.of({**QUICK, **FAST.get(name, {}), **options})


@pytest.fixture(scope="module")
def graph():
    """Two components of which the second has no label of class 2; edges have weights."""
    rng = np.random.default_rng(3)
    edges = np.concatenate([rng.integers(0, 20, (34, 2)), rng.integers(20, 30, (14, 2))])
    labels = np.arange(30) % 3
    x = np.abs(rng.normal(size=(30, 6))) + 2 * np.eye(3)[labels].repeat(2, axis=1)
    return NodeGraph(x, edges, labels, edge_weights=rng.uniform(0.5, 2, len(edges)))


TRAIN = np.array([0, 1, 2, 3, 4, 5, 21, 22])
VALIDATION = np.array([8, 9, 10, 25])


@pytest.mark.parametrize("name", NAMES)
def test_given_labels_are_kept_and_validation_nodes_never_trained_on(graph, name, monkeypatch):
    seen = []
    fit_on_operator = gcn.fit_on_operator

    def watched(operator, task, *args, labels=None, **kwargs):
        seen.append((task.train, task.labels if labels is None else labels))
        return fit_on_operator(operator, task, *args, labels=labels, **kwargs)

    monkeypatch.setattr(gcn, "fit_on_operator", watched)
    get_method(name).fit(Task(graph, TRAIN, 0, validation=VALIDATION), quick(name))
    for nodes, labels in seen:
        assert not np.isin(nodes, VALIDATION).any()
        pairs = list(zip(nodes.tolist(), labels.tolist(), strict=True))
        assert {pair for pair in pairs if pair[0] in TRAIN} == {(v, graph.labels[v]) for v in TRAIN}
        assert len(pairs) == len(set(pairs))
    guesses = len(seen[-1][0]) - len(TRAIN)
    assert guesses == 0 if name in ("cagcn", "e-gcn") else guesses > 0


def test_gcn_on_its_own_labels_is_gcn_to_the_bit(graph):
    s = gcn.GcnSettings(epochs=10)
    operator = topology_operator(graph, "symmetric")
    again = gcn.fit_on_operator(operator, Task(graph, TRAIN), s, labels=graph.labels[TRAIN])
    assert gcn.fit(Task(graph, TRAIN), s).probabilities.tobytes() == again.probabilities.tobytes()


def test_gcn_on_weighted_targets_trains_as_dense_matrices_do(graph):
    s = gcn.GcnSettings(epochs=20, dropout=0)
    nodes, labels = np.array([4, 0, 7, 7]), np.array([1, 0, 0, 2])  # a node with two classes

    def weights(epoch):
        return torch.tensor([1.0, 0.5, 0.25, 0.0 if epoch < 10 else 2.0])

    operator = topology_operator(graph, s.normalisation)
    found = gcn.fit_on_operator(operator, Task(graph, nodes, 5), s, labels=labels, weights=weights)
    targets = [(v, k, lambda e, i=i: weights(e)[i].item()) for i, (v, k) in enumerate(zip(nodes, labels, strict=True))]
    np.testing.assert_allclose(found.embeddings["output"], slow.gcn(graph, targets, s, 5), atol=1e-4)


def test_with_patience_the_smallest_validation_loss_counts(graph):
    labels = graph.labels.copy()
    labels[VALIDATION] = (labels[VALIDATION] + 1) % 3  # what is learned soon makes these worse
    wrong = NodeGraph(graph.features, graph.edges, labels)
    operator = topology_operator(wrong, "symmetric")

    def fit(epochs, validation=None, patience=None, progress=None):
        s = gcn.GcnSettings(epochs=epochs, lr=0.05, dropout=0)
        task = Task(wrong, TRAIN, 0, progress, validation)
        p = gcn.fit_on_operator(operator, task, s, patience=patience).probabilities
        return -np.log(p[VALIDATION, labels[VALIDATION]]).mean()

    losses = [fit(epochs) for epochs in range(1, 15)]
    done = []
    stopped = fit(100, VALIDATION, 10, lambda _, epoch, __: done.append(epoch))
    assert done[-1] == 1 + np.argmin(losses) + 10
    np.testing.assert_allclose(stopped, min(losses), rtol=1e-5)


def test_eq_13_with_the_most_confident_nodes(graph):
    s = quick("pseudo-labels", dropout=0, choice="confident", added=3, alpha=0.7, alpha_after=4)
    pairs = [(v, graph.labels[v]) for v in TRAIN]
    first = slow.softmax(slow.gcn(graph, slow.mean_targets(pairs), s, 2))
    free = [v for v in range(graph.n) if v not in TRAIN]
    chosen = sorted(free, key=lambda v: -first[v].max())[:3]
    targets = slow.mean_targets(pairs)
    targets += [(v, first[v].argmax(), lambda epoch: 0.7 / 3 if epoch + 1 > 4 else 0) for v in chosen]
    found = self_training.fit_pseudo_labels(Task(graph, TRAIN, 2), s)
    np.testing.assert_allclose(found.embeddings["output"], slow.gcn(graph, targets, s, 2), atol=1e-4)


def test_dual_channel_nodes_are_random_ones_of_the_agreement(graph):
    agreeing = {"channel_classifier": "mlp", "output_activation": True, "cross_entropy_reduction": "sum"}
    dual = dcc.fit(Task(graph, TRAIN), DccSettings(epochs=5, hidden1=8, hidden2=8, k=2, **agreeing))
    free = np.setdiff1d(np.arange(graph.n), TRAIN)
    high = {v for v in free if dual.channels["topology"][v].argmax() == dual.channels["features"][v].argmax()}
    draws = [self_training.random_agreed(dual, free, 3, seed) for seed in range(40)]
    assert {v for nodes, _ in draws for v in nodes} == high
    for nodes, labels in draws:
        assert len(set(nodes)) == 3
        assert labels.tolist() == [dual.channels["topology"][v].argmax() for v in nodes]
    assert len(self_training.random_agreed(dual, free, 1000, 0)[0]) == len(high)


def test_dccs_options_are_checked_and_read_back(tmp_path):
    settings = get_method("pseudo-labels").published_settings("pubmed")
    (tmp_path / "s.yaml").write_text(settings.to_yaml(), encoding="utf-8")
    assert self_training.PseudoLabelSettings.of(read_yaml(tmp_path / "s.yaml")) == settings
    with pytest.raises(SettingsError, match="no option 'neighbours'"):
        self_training.PseudoLabelSettings.of({"dcc": {"neighbours": 3}})


@pytest.mark.parametrize("factor", [1.0, 3.0, 7.5])
def test_quota(graph, factor):
    found = self_training.pseudo_labels_per_class(Task(graph, TRAIN), factor)
    assert found.tolist() == slow.quota(graph, TRAIN, factor)


def test_quota_of_the_paper_on_cora(cora):
    # 2708 nodes, 5278 edges: η = 178.2, and 3 η / 7 = 76.4 for each class
    task = Task(cora.graph, cora.splits["public"].train)
    assert self_training.pseudo_labels_per_class(task, 3.0).tolist() == [76] * 7


@pytest.mark.parametrize("alpha", [1e-6, 0.1])
def test_absorption_is_the_whole_inverse(graph, alpha):
    found = self_training.absorption(Task(graph, TRAIN), alpha)
    np.testing.assert_allclose(found, slow.absorption(graph, TRAIN, alpha), rtol=1e-6, atol=1e-9)
    same = graph.component[:, None] == graph.component[TRAIN]
    reached = np.stack([same[:, graph.labels[TRAIN] == k].any(axis=1) for k in range(3)], axis=1)
    assert ((found > 0) == reached).all()
    assert (found[~reached] == 0).all()


@pytest.mark.parametrize("choice", ["self-training", "co-training", "union", "intersection"])
def test_li_et_al_step_by_step(graph, choice):
    s = self_training.CoTrainingSettings(dropout=0, epochs=15, eta_factor=4)
    given = {(int(v), int(graph.labels[v])) for v in TRAIN}
    free = [v for v in range(graph.n) if v not in TRAIN]
    t = slow.quota(graph, TRAIN, 4)
    first = slow.softmax(slow.gcn(graph, slow.mean_targets(sorted(given)), s, 1))
    by_gcn = slow.confident(first, t, free)
    by_walk = slow.absorbed(
        slow.absorption(graph, TRAIN, s.alpha), t, free, self_training.absorption(Task(graph, TRAIN), s.alpha) > 0
    )
    guesses = {"self-training": by_gcn, "co-training": by_walk, "union": by_gcn | by_walk}
    guessed = guesses.get(choice, by_gcn & by_walk)
    assert guessed not in (set(), by_gcn & by_walk) or choice == "intersection"
    found = get_method(choice).fit(Task(graph, TRAIN, 1), s)
    expected = slow.gcn(graph, slow.mean_targets(sorted(given | guessed)), s, 1)
    np.testing.assert_allclose(found.embeddings["output"], expected, atol=1e-4)
    assert found.findings[-1].text.endswith(f" {len({v for v, _ in guessed})} nodes.")


def test_only_positive_scores_are_taken_and_the_first_of_equals():
    scores = np.array([[0.0, 1], [2, 1], [0, 1], [3, 0]])
    chosen = self_training.top_k_mask(scores, np.array([3, 2]))
    assert chosen.tolist() == [[False, True], [True, True], [False, False], [True, False]]


def test_a_graph_too_dense_for_pseudo_labels_is_reported():
    x = np.random.default_rng(0).normal(size=(12, 4))
    full = NodeGraph(x, [[u, v] for u in range(12) for v in range(u)], np.arange(12) % 2)
    settings = self_training.SelfTrainingSettings(epochs=5)
    prediction = self_training.fit(Task(full, np.arange(4)), settings, choice="self-training")
    assert [f.code for f in prediction.findings] == ["no-pseudo-labels"]


def test_a_cluster_takes_the_class_of_the_nearest_labelled_centroid():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    known = np.zeros((40, 4), dtype=bool)  # class 3 has no label
    known[np.arange(9), np.arange(9) % 3] = True
    unit = x / np.sqrt((x**2).sum(axis=1, keepdims=True))
    centroids = [unit[known[:, k]].mean(axis=0) for k in range(3)]
    nearest = [min(range(3), key=lambda k: ((row - centroids[k]) ** 2).sum()) for row in unit]
    assert self_training.cluster_classes(x, known, 200, 0).tolist() == nearest  # a cluster for each node
    assert len(set(self_training.cluster_classes(x, known, 1, 0))) == 1  # one for all


def test_cagcn_trains_as_dense_matrices_do(graph):
    s = quick("cagcn", dropout=0, calibration_epochs=25, margin=0.8)
    operator = TorchOperator.of(topology_operator(graph, s.normalisation))
    logits = 3 * torch.randn(graph.n, graph.c, generator=torch.Generator().manual_seed(0))
    nodes, labels = np.arange(0, 30, 2), graph.labels[::2].copy()
    with torch.random.fork_rng():
        torch.manual_seed(7)
        start = cagcn.Calibrator(operator, logits, s.calibration_hidden, 0.0)
    p = {name: value.detach().double().clone().requires_grad_() for name, value in start.named_parameters()}
    optimiser = torch.optim.Adam(p.values(), lr=s.calibration_lr, weight_decay=s.calibration_weight_decay)
    truth = torch.from_numpy(np.eye(graph.c)[labels])
    right = (logits.argmax(1)[nodes] == torch.from_numpy(labels)).tolist()
    assert 0 < sum(right) < len(right)
    for _ in range(25):
        optimiser.zero_grad()
        scaled = (logits.double() * slow.calibrator(graph, logits.double(), p, s))[nodes]
        loss = literal.l_cross(scaled, truth, "mean") + 0.8 * slow.margin_loss(scaled.softmax(1), right)
        loss.backward()
        optimiser.step()
    expected = (logits * slow.calibrator(graph, logits.double(), p, s)).detach()
    found = cagcn.calibrate_logits(operator, logits, nodes, labels, s, 7, early_stopping=False)
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("validation", [None, VALIDATION])
def test_cagcn_changes_no_prediction(graph, validation):
    s = cagcn.CagcnSettings(epochs=30, calibration_epochs=30, most_epochs=100)
    task = Task(graph, TRAIN, validation=validation)
    first = cagcn.fit_classifier(task, self_training.training_mask(task), s)
    prediction = cagcn.fit(task, s)
    assert (prediction.y_pred == first.y_pred).all()
    assert np.abs(prediction.probabilities - first.probabilities).max() > 0.01
    odds, before = (np.log(p[:, 0] / p[:, 1]) for p in (prediction.probabilities, first.probabilities))
    assert (odds / before > np.log(1.1) - 1e-3).all()  # t is never smaller
    codes = [f.code for f in prediction.findings]
    assert codes == ([] if validation is not None else ["calibrated-on-training-nodes"])


def test_cagcn_st_has_pseudo_labels_above_the_threshold_only(graph, monkeypatch):
    asked = []
    fit = cagcn.fit_classifier
    monkeypatch.setattr(cagcn, "fit_classifier", lambda task, mask, s: asked.append(mask) or fit(task, mask, s))
    s = quick("cagcn-st", stages=3, threshold=0.4)
    cagcn.fit_in_stages(Task(graph, TRAIN), s)
    assert len(asked) == 3
    operator = TorchOperator.of(topology_operator(graph, s.normalisation))
    for before, after in pairwise(asked):
        logits = torch.from_numpy(fit(Task(graph, TRAIN), before, s).embeddings["output"])
        nodes, labels = np.nonzero(before)
        p = cagcn.calibrate_logits(operator, logits, nodes, labels, s, 0, early_stopping=False).softmax(1).numpy()
        expected = {(v, p[v].argmax()) for v in range(graph.n) if p[v].max() > 0.4 and not before[v].any()}
        assert set(zip(*np.nonzero(after & ~before), strict=True)) == expected
        assert (after[before]).all()
    assert (asked[1] & ~asked[0]).any()


def test_cagcn_st_without_a_confident_node_is_cagcn(graph):
    s = quick("cagcn-st", threshold=0.9999)
    prediction = cagcn.fit_in_stages(Task(graph, TRAIN), s)
    assert prediction.probabilities.tobytes() == cagcn.fit(Task(graph, np.sort(TRAIN)), s).probabilities.tobytes()
    assert prediction.findings[-1].code == "no-pseudo-labels"


def test_cagcn_on_cora_is_better_calibrated_and_no_less_accurate(cora):
    split, s = cora.splits["public"], cagcn.CagcnSettings(most_epochs=200)
    truth = cora.graph.labels[split.test]
    task = Task(cora.graph, split.train, validation=split.validation)
    first = gcn.fit(task, s)
    prediction = cagcn.calibrate_prediction(task, first, s)
    assert (prediction.y_pred == first.y_pred).all()
    assert (prediction.y_pred[split.test] == truth).mean() > 0.79
    right = prediction.y_pred[split.test] == truth
    stated = [p.max(axis=1)[split.test] for p in (first.probabilities, prediction.probabilities)]
    errors = [calibration.calibration_error(calibration.bars(p, right)) for p in stated]
    assert errors[1] < 0.5 * errors[0]


def cosine(p, q):
    return p @ q / np.sqrt((p @ p) * (q @ q))


def test_e_gcns_graph_step_by_step(graph):
    s = quick("e-gcn", dropout=0, rounds=2, agreement=0.6, confident=0.7, k=2)
    pairs = slow.mean_targets([(v, graph.labels[v]) for v in TRAIN])
    a = literal.dense_adjacency(graph)
    logits = slow.gcn(graph, pairs, s, 0)
    for _ in range(2):
        q = slow.softmax(logits)
        for v in TRAIN:
            q[v] = np.eye(3)[graph.labels[v]]
        sure = sorted(range(graph.n), key=lambda v: (-q[v].max().astype(np.float32), v))[: int(0.7 * graph.n)]
        sure.sort()
        near, _ = literal.exact_knn(q[sure], 2)
        b = np.zeros_like(a)
        for u in range(graph.n):
            for v in range(graph.n):
                b[u, v] = a[u, v] * (0.4 + 0.6 * cosine(q[u], q[v]))
        new = 0
        for i, u in enumerate(sure):
            for j in near[i]:
                if i in near[j] and not (u in TRAIN and sure[j] in TRAIN):
                    b[u, sure[j]] += cosine(q[u], q[sure[j]])
                    new += 1
        assert new > 0
        logits = slow.gcn(graph, pairs, s, 0, b)
    np.testing.assert_allclose(e_gcn.fit(Task(graph, TRAIN), s).embeddings["output"], logits, atol=2e-3)


def test_e_gcn_that_refines_nothing_is_gcn(graph):
    s = quick("e-gcn", agreement=0, confident=0)
    ours, plain = (module.fit(Task(graph, TRAIN), s).probabilities for module in (e_gcn, gcn))
    assert ours.tobytes() == plain.tobytes()


@pytest.mark.parametrize("options", [{}, {"features": "unit", "normalisation": "row", "weight_decay": 0.1}])
def test_gcn_trains_as_dense_matrices_do(graph, options):
    s = gcn.GcnSettings(dropout=0, epochs=30, hidden=8, **options)
    targets = slow.mean_targets([(v, graph.labels[v]) for v in TRAIN])
    for train in (TRAIN, TRAIN[::-1]):  # in any order
        found = gcn.fit(Task(graph, train, 4), s).probabilities
        np.testing.assert_allclose(found, slow.softmax(slow.gcn(graph, targets, s, 4)), atol=1e-4)


@pytest.fixture
def m3s(monkeypatch):
    """M3S of a perfect classifier with a quota of 4, 3 and 1; the masks of the stages, and the clusters' classes."""
    graph, masks = toy(n=30), []
    p = (np.eye(3)[graph.labels] * 0.7 + 0.1).astype(np.float32)

    def fit_gcn(task, mask, *_):
        masks.append(mask)
        return Prediction(p, embeddings={"output": np.log(p)})

    def fit(stages, clusters):
        monkeypatch.setattr(self_training, "pseudo_labels_per_class", lambda *_: np.array([4, 3, 1]))
        monkeypatch.setattr(self_training, "fit_gcn", fit_gcn)
        monkeypatch.setattr(self_training, "cluster_classes", lambda *_: clusters)
        self_training.fit_m3s(Task(graph, np.array([0, 10, 20])), self_training.M3sSettings(stages=stages))
        return np.array([mask.sum(axis=0) for mask in masks])

    return fit


def test_m3s_adds_a_part_of_its_quota_in_each_stage_rounded_up(m3s):
    assert m3s(3, toy(n=30).labels).tolist() == [[1, 1, 1], [3, 2, 2], [5, 3, 3], [7, 4, 4]]


def test_m3s_drops_pseudo_labels_that_their_cluster_contradicts(m3s):
    assert m3s(1, np.full(30, 1)).tolist() == [[1, 1, 1], [1, 4, 1]]
