"""DCC-GCN as a whole: findings, training, and what must hold of every prediction."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn.errors import TrainingError
from dccgcn.features import topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split
from dccgcn.methods.base import Method, Task, get_method
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.dcc.method import build_operators, classify, fit
from dccgcn.networks.dcc.model import DccGcn
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.networks.training import seeded, train_full_batch
from dccgcn.workflow.fitting import run
from helpers.small_dcc import TRAIN, C, N, random_model, settings_of


def decided(model, first, second):
    """Make the channels' classifiers give one class to every node."""
    with torch.no_grad():
        for classifier, k in zip(model.classifiers, (first, second), strict=True):
            classifier[2].weight.zero_()
            classifier[2].bias.zero_()
            classifier[2].bias[k] = 1
    return model


def test_row_34_a_node_without_trusted_neighbours_keeps_its_own_and_is_counted():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 7))
    x[-2:] = 0  # no edge in either graph, so that their embeddings are 0 and the classifiers' biases decide
    graph = NodeGraph(x, rng.integers(0, N - 2, (26, 2)), np.arange(N) % C)
    s = settings_of(output_activation=False, channel_classifier="mlp")
    model = random_model(graph, s)
    with torch.no_grad():
        for k, classifier in enumerate(model.classifiers):
            classifier[0].bias.zero_()
            classifier[2].bias.copy_(torch.eye(C)[k] / 100)
    prediction = classify(graph, build_operators(graph, s), model)
    left = ~prediction.channels_agree & ~prediction.corrected
    assert left[-2:].all()
    assert prediction.corrected.any()
    np.testing.assert_array_equal(prediction.probabilities[left], prediction.uncorrected[left])
    assert np.isfinite(prediction.probabilities).all()
    (finding,) = (f for f in prediction.findings if f.code == "uncalibrated")
    assert f"{left.sum()} of {(~prediction.channels_agree).sum()} low-confidence nodes" in finding.text


def test_fit_leaves_the_callers_random_numbers_alone(graph):
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    fit(Task(graph, TRAIN, 1), settings_of(dropout=0.5))
    assert torch.equal(torch.rand(3), expected)


def test_fit_learns_its_labels(graph):
    prediction = fit(Task(graph, TRAIN), settings_of(epochs=150, lr=0.02, calibration=False))
    assert (prediction.y_pred[TRAIN] == graph.labels[TRAIN]).all()


def test_fit_reports_its_progress(graph):
    seen = []
    fresh = NodeGraph(graph.features, graph.edges, graph.labels)
    fit(Task(fresh, TRAIN, progress=lambda *step: seen.append(step)), settings_of())
    assert seen[0] == ("feature graph", N, N)
    assert seen[1:] == [("training", epoch, 4) for epoch in (1, 2, 3, 4)]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e10, -float("inf")])
def test_row_36_a_broken_loss_names_the_epoch_and_makes_no_step(bad):
    def train(epochs, breaks):
        w = torch.nn.Parameter(torch.tensor([1.0, -2.0]))

        def loss(epoch):
            return w.square().sum() * (bad if epoch == breaks else 1)

        try:
            train_full_batch(loss, [{"params": [w]}], 0.1, epochs)
        finally:
            kept.append(w.detach().clone())

    kept = []
    with pytest.raises(TrainingError, match=r"in epoch 4 of 10\..*learning rate"):
        train(10, breaks=3)
    train(3, breaks=None)
    assert torch.equal(*kept)


def test_row_36_a_broken_gradient_makes_no_step():
    w = torch.nn.Parameter(torch.zeros(1))
    with pytest.raises(TrainingError):
        train_full_batch(lambda epoch: w.sqrt().sum(), [{"params": [w]}], 0.1, 5)  # a root's slope at 0 is infinite
    assert w.isfinite().all()


@st.composite
def any_graph(draw):
    """2 to 30 nodes: with or without edges, rows of zeros, twins, words or numbers; some nodes labelled."""
    n, d, classes = draw(st.integers(2, 30)), draw(st.integers(1, 8)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    x = rng.normal(size=(n, d)) if draw(st.booleans()) else (rng.random((n, d)) < 0.3).astype(float)
    x[rng.random(n) < draw(st.sampled_from([0.0, 0.5]))] = 0
    x[0] = x[1] + 1  # features must differ
    edges = rng.integers(0, n, (draw(st.integers(0, 3 * n)), 2))
    train = rng.permutation(n)[: draw(st.integers(2, n))]
    labels = rng.integers(0, classes, n)
    labels[train[:2]] = 0, 1
    features = sp.csr_array(x) if draw(st.booleans()) else x
    graph = NodeGraph(features, edges, labels, classes=range(classes))
    return graph, Split.from_parts(graph, "drawn", train, [], np.setdiff1d(np.arange(n), train))


@given(any_graph(), st.sampled_from(["softmax", "inverse"]), st.sampled_from([0.0, 1.0]), st.booleans())
@settings(max_examples=25)
def test_probabilities_are_finite_and_sum_to_one(drawn, influence, calibrate_from, share_mu):
    graph, split = drawn
    s = settings_of(
        k=min(3, graph.n - 1), dropout=0.5, influence=influence, calibrate_from=calibrate_from, share_mu=share_mu
    )
    result = run(graph, split, get_method("dcc-gcn"), s, seed=0)
    prediction = result.prediction
    unseen = np.setdiff1d(np.arange(graph.c), graph.labels[split.train])
    prediction.check(graph.n, graph.c)
    for probabilities in (prediction.probabilities, prediction.uncorrected, *prediction.channels.values()):
        assert (probabilities[:, unseen] == 0).all()
    shown = [p.argmax(axis=1) for p in prediction.channels.values()]
    np.testing.assert_array_equal(prediction.channels_agree, shown[0] == shown[1])
    np.testing.assert_array_equal(prediction.y_pred, prediction.probabilities.argmax(axis=1))
    assert not (prediction.corrected & prediction.channels_agree).any()
    changed = (prediction.probabilities != prediction.uncorrected).any(axis=1)
    assert not (changed & ~prediction.corrected).any()


def test_an_unseen_class_has_probability_nought_and_the_method_does_not_see_it(graph):
    train = np.flatnonzero(graph.labels < 2)[:6]
    unseen = Split.from_parts(graph, "two-classes", train, [], np.setdiff1d(np.arange(N), train))
    seen_by_method = []

    def fit(task, settings):
        seen_by_method.append((task.graph.classes, set(task.labels)))
        return Prediction(np.tile([0.25, 0.75], (N, 1)).astype(np.float32))

    result = run(graph, unseen, Method("fixed", DccSettings, fit), settings_of(), 0)
    assert seen_by_method == [(graph.classes[:2], {0, 1})]
    np.testing.assert_allclose(result.prediction.probabilities, np.tile([0.25, 0.75, 0], (N, 1)))
    assert "unseen-classes" in [f.code for f in result.findings]


def test_fewer_classes_share_the_operator(graph):
    assert topology_operator(graph.with_classes(np.array([0, 2])), "row") is topology_operator(graph, "row")


def test_dcc_gcn_starts_with_xaviers_mu_and_the_identity_as_sigma():
    with seeded(0):
        model = DccGcn(40, 5, 3, settings_of())
    scores = model.mu_scores[0].detach()
    bound = (6 / (40 + 3)) ** 0.5
    assert scores.abs().max() <= bound
    assert scores.min() < -0.8 * bound
    assert scores.max() > 0.8 * bound
    assert (model.s(0) == 1).all()


@pytest.mark.parametrize(
    ("classes", "level", "code"), [((1, 1), "note", "no-disagreement"), ((0, 2), "warning", "no-agreement")]
)
def test_row_35_channels_that_never_or_always_agree_are_reported_and_nothing_is_changed(graph, classes, level, code):
    s = settings_of(channel_classifier="mlp")
    prediction = classify(graph, build_operators(graph, s), decided(random_model(graph, s), *classes))
    assert [(f.level, f.code) for f in prediction.findings] == [(level, code)]
    assert set(prediction.channels_agree) == {code == "no-disagreement"}
    assert not prediction.corrected.any()
    np.testing.assert_array_equal(prediction.uncorrected, prediction.probabilities)
