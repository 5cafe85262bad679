"""Heads, mutual information, label propagation and held-out predictions (C3 to C5) against slow literal versions."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from dccgcn import NodeGraph
from dccgcn.concord import method
from dccgcn.concord.channels import Channel, fit_full_head, held_out_log_proba, log_proba, spread_log_proba
from dccgcn.concord.labels import Labels
from dccgcn.concord.neighbour_mi import mi_loss, mutual_information, refine_head
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.softmax_regression import fit_head, predict_proba
from dccgcn.concord.stacking import assign_folds
from dccgcn.concord.views import precompute
from dccgcn.features import topology_operator
from dccgcn.features.embedding import fit_svd, ssgc_filter
from helpers.groups import blocks

RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def graph() -> NodeGraph:
    return blocks()


def test_spectral_views_are_reweighted_by_the_scarcity_of_labels(graph: NodeGraph) -> None:
    settings, q = ConcordSettings(), 0.6
    inputs = precompute(graph, settings)
    channels = {channel.name: channel.z[0] for channel in method.build_channels(inputs, q, settings) if channel.z}
    assert {"propagated", "structure"} <= channels.keys()
    for spec in inputs.specs:
        view = inputs.projections.embeddings[spec.name]
        expected = view.z
        if spec.is_spectral:
            expected = view.z * view.scale ** (q * settings.spectral_weighting)
            expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
            assert abs(expected - view.z).max() > 0.01
        if spec.name in channels:
            np.testing.assert_allclose(channels[spec.name], expected, atol=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(6, 40), (6, 8), (60, 8), (600, 8)])
def test_head_is_softmax_regression(rows: int, columns: int) -> None:
    z = RNG.standard_normal((rows, columns))
    y = np.arange(rows) % 3
    head = fit_head(z, np.eye(3)[y], 0.5)
    ours = predict_proba([z], head)
    exact = LogisticRegression(C=2.0, tol=1e-8, max_iter=1000).fit(z, y)
    theirs = exact.predict_proba(z)
    np.testing.assert_allclose(ours, theirs, atol=5e-2)

    def loss(p: np.ndarray, w: np.ndarray) -> float:
        return float(-np.log(p[np.arange(rows), y]).sum() + 0.25 * np.square(w).sum())

    # stops once the loss hardly falls
    assert loss(ours, head[:-1]) == pytest.approx(loss(theirs, exact.coef_), rel=1e-3)
    np.testing.assert_allclose(predict_proba([z[:, :3], z[:, 3:]], head), ours, rtol=1e-5)  # in column blocks


def test_mutual_information_edge_by_edge(graph: NodeGraph) -> None:
    rng = np.random.default_rng(5)
    truth = np.eye(3, dtype=np.float32)[graph.labels]
    p = softmax(rng.standard_normal((graph.n, 3)) + 2 * truth, axis=1).astype(np.float32)
    joint = np.zeros((3, 3))
    for u, v in graph.edges:
        joint += np.outer(p[u], p[v]) + np.outer(p[v], p[u])
    joint /= joint.sum()
    literal = sum(
        joint[j, k] * np.log(joint[j, k] / (joint[j].sum() * joint[k].sum())) for j in range(3) for k in range(3)
    )
    assert mutual_information(graph.adjacency, p)[0] == pytest.approx(literal, rel=1e-4)
    assert mutual_information(graph.adjacency, truth)[0] > 0.3
    uniform = np.full((graph.n, 3), 1 / 3, np.float32)
    assert mutual_information(graph.adjacency, uniform)[0] == pytest.approx(0, abs=1e-5)
    assert mutual_information(sp.csr_array((graph.n, graph.n), dtype=np.float32), p)[0] == 0


def test_gradient_of_the_mi_loss(graph: NodeGraph) -> None:
    rng = np.random.default_rng(5)
    z = rng.standard_normal((graph.n, 5)).astype(np.float32)
    head = rng.standard_normal((6, 3)).astype(np.float32)
    labels = Labels.of(np.arange(9), graph.labels[:9], 3)
    loss = partial(mi_loss, z, adjacency=graph.adjacency, weight=9.0, labels=labels, l2=0.1)
    _, gradient = loss(head)
    for a in range(6):
        for j in range(3):
            moved = [head.copy(), head.copy()]
            moved[0][a, j] += 0.01
            moved[1][a, j] -= 0.01
            up, down = (loss(there)[0] for there in moved)
            assert gradient[a, j] == pytest.approx((up - down) / 0.02, rel=0.02, abs=2e-3)


def test_refining_lowers_the_loss_and_finds_the_groups(graph: NodeGraph) -> None:
    """One label per group suffices where neighbours are of one class."""
    operator = topology_operator(graph, "symmetric")
    z = fit_svd(ssgc_filter(operator, 4, 0.05), graph.features, 8).z
    labels = Labels.of(np.arange(3), graph.labels[:3], 3)
    start = fit_head(z[:3], labels.targets, 0.1)
    loss = partial(mi_loss, z, adjacency=graph.adjacency, weight=9.0, labels=labels, l2=0.1)
    refined = refine_head(start, loss, 20)
    assert loss(refined)[0] < loss(start)[0]

    def accuracy(head: np.ndarray) -> float:
        return float((predict_proba([z], head).argmax(axis=1) == graph.labels).mean())

    assert accuracy(refined) >= max(accuracy(start), 0.95)


def test_only_members_on_a_relation_are_refined(graph: NodeGraph) -> None:
    given = Labels.of(np.arange(9), graph.labels[:9], 3)
    channels = method.build_channels(precompute(graph, ConcordSettings()), 0.7, ConcordSettings())
    for channel in channels:
        if channel.z:
            refined, plain = (fit_full_head(channel, given, ConcordSettings(mi_weight=w)) for w in (4.0, 0.0))
            assert np.array_equal(refined, plain) == (channel.name not in ("propagated", "structure", "similar"))


def test_the_penalty_of_views_side_by_side_is_that_of_unit_rows() -> None:
    parts = [RNG.standard_normal((40, 5)).astype(np.float32) for _ in range(4)]
    given = Labels.of(np.arange(30), np.arange(30) % 3, 3)
    head = fit_full_head(Channel("joint", parts), given, ConcordSettings())
    rows = np.hstack(parts) / 2  # √4
    expected = fit_head(rows[:30], given.targets, 0.1)
    np.testing.assert_allclose(predict_proba(parts, head), predict_proba([rows], expected), atol=0.05)


@pytest.mark.parametrize("name", ["own", "similar", "joint", "labels"])
def test_held_out_predictions_one_fold_at_a_time(graph: NodeGraph, name: str) -> None:
    """Each label is predicted by a channel that was trained on the other folds only."""
    settings = ConcordSettings(mi_weight=0)
    given = Labels.of(np.arange(12), graph.labels[:12], 3)
    channels = method.build_channels(precompute(graph, settings), 0.7, settings)
    channel = next(channel for channel in channels if channel.name == name)
    folds = assign_folds(given.y, 0)
    if channel.z:
        held_out = held_out_log_proba(channel, given, folds, settings)
    else:
        held_out, _ = spread_log_proba(channel, given, folds)
    assert held_out.shape == (len(folds), 12, 3)
    for r, fold in enumerate(folds):
        for i in range(fold.max() + 1):
            others = given.subset(fold != i)
            alone = replace(channel, head=fit_full_head(channel, others, settings) if channel.z else None)
            expected = log_proba(alone, others)[given.nodes[fold == i]]
            np.testing.assert_allclose(held_out[r, fold == i], expected, atol=1e-4)


def test_mutual_information_leaves_the_confidence_of_structure(graph: NodeGraph) -> None:
    given = Labels.of(np.arange(6), graph.labels[:6], 3)
    inputs = precompute(graph, ConcordSettings())
    found = {}
    for mi_weight in (0, 4):
        settings = ConcordSettings(mi_weight=mi_weight)
        for channel in method.build_channels(inputs, 0.7, settings):
            if channel.relation and channel.z:
                p = predict_proba(channel.z, fit_full_head(channel, given, settings))
                found[channel.name, mi_weight] = p.max(axis=1).mean(), p
    assert found["structure", 4][0] == pytest.approx(found["structure", 0][0], abs=1e-3)
    assert np.abs(found["structure", 4][1] - found["structure", 0][1]).max() > 0.05  # other predictions
    assert found["propagated", 4][0] > found["propagated", 0][0] + 0.02


def test_propagated_labels_are_uniform_where_none_reaches() -> None:
    graph = NodeGraph(np.eye(5), [(0, 1), (1, 2), (3, 4)], [0, -1, 1, -1, -1])
    labels = Labels.of(np.array([0, 2]), np.array([0, 1]), 2)
    channel = Channel("labels", relation=topology_operator(graph, "symmetric"))
    p, other = (np.exp(log_proba(channel, given)) for given in (labels, labels.subset(np.array([1, 0]))))
    np.testing.assert_allclose(p, other)
    np.testing.assert_allclose(p[[3, 4]], 0.5, atol=1e-3)
    assert p[0, 0] > 0.5
    assert p[2, 1] > 0.5


def test_labels_spread_with_equal_mass_of_each_class(graph: NodeGraph) -> None:
    labels = Labels.of(np.array([0, 3, 6, 1, 2]), np.array([0, 0, 0, 1, 2]), 3)
    s = topology_operator(graph, "symmetric").matrix.toarray().astype(float)
    start = np.zeros((graph.n, 3))
    start[labels.nodes, labels.y] = 1
    p = start
    for _ in range(40):
        p = 0.95 * s @ p + 0.05 * start
    p = p / p.sum(axis=0)
    mass = p.sum(axis=1, keepdims=True)
    p = np.where(mass > 0, p / np.maximum(mass, 1e-12), 1 / 3)
    operator = topology_operator(graph, "symmetric")
    channel = Channel("labels", relation=operator)
    spread = np.exp(log_proba(channel, labels))
    np.testing.assert_allclose(spread, (p + 0.02) / (p + 0.02).sum(axis=1, keepdims=True), atol=1e-3)
    for folds in (assign_folds(labels.y, 0), [np.zeros(5, int)]):  # with one fold there are no others to learn from
        held, log_p = spread_log_proba(channel, labels, folds)
        np.testing.assert_allclose(np.exp(log_p), spread, atol=1e-5)
    np.testing.assert_allclose(np.exp(held), 1 / 3, atol=1e-3)


def test_checkable_labels_have_another_of_their_class() -> None:
    given = Labels.of(np.arange(6), np.array([0, 0, 0, 1, 2, 2]), 4)
    np.testing.assert_array_equal(given.is_checkable, [True, True, True, False, True, True])
    assert given.chance == pytest.approx((9 + 1 + 4) / 36)
    assert given.per_class == 1.5
