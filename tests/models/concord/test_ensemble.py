"""Members, pool, pseudo-labels and correction (C4 to C9) against slow literal versions."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score

from dccgcn import NodeGraph
from dccgcn.models.concord import method
from dccgcn.models.concord.ensemble import (
    assign_folds,
    clipped_kappa,
    log_opinion_pool,
    margin,
    reliability_weights,
    select_pseudo_labels,
)
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.members import Member, fit_heads, initial_weights, ppr_smooth, propagate_labels
from dccgcn.models.concord.neighbour_correction import corrected, correction_weights
from dccgcn.models.concord.neighbour_mi import mi_loss, mutual_information, refine_head
from dccgcn.models.concord.precompute import precompute
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.softmax_regression import fit_head, predict_proba
from dccgcn.models.concord.spectral_features import fit_svd, scarcity, ssgc_filter
from dccgcn.operators import topology_operator
from helpers.groups import blocks

RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def graph() -> NodeGraph:
    return blocks()


@pytest.mark.parametrize(("rows", "columns"), [(6, 40), (6, 8), (60, 8), (600, 8)])
def test_head_is_softmax_regression(rows: int, columns: int) -> None:
    z = RNG.standard_normal((rows, columns))
    y = np.arange(rows) % 3
    weights = RNG.random(rows) + 0.5
    head = fit_head(z, np.eye(3)[y], weights, 0.5)
    ours = predict_proba(z, head)
    start = head + RNG.standard_normal(head.shape)
    np.testing.assert_allclose(predict_proba(z, fit_head(z, np.eye(3)[y], weights, 0.5, start)), ours, atol=1e-2)
    theirs = LogisticRegression(C=2.0, tol=1e-8, max_iter=1000).fit(z, y, sample_weight=weights).predict_proba(z)
    np.testing.assert_allclose(ours, theirs, atol=5e-3)


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
    prior = np.array([0.3, 1.2, 1.5])
    with_prior = literal + joint.sum(axis=1) @ np.log(prior)
    assert mutual_information(graph.adjacency, p, prior)[0] == pytest.approx(with_prior, rel=1e-4)
    assert mutual_information(graph.adjacency, truth)[0] > 0.3
    uniform = np.full((graph.n, 3), 1 / 3, np.float32)
    assert mutual_information(graph.adjacency, uniform)[0] == pytest.approx(0, abs=1e-5)
    assert mutual_information(sp.csr_array((graph.n, graph.n), dtype=np.float32), p)[0] == 0


@pytest.mark.parametrize("prior", [None, np.array([0.3, 1.2, 1.5])])
def test_gradient_of_the_mi_loss(graph: NodeGraph, prior: np.ndarray | None) -> None:
    rng = np.random.default_rng(5)
    z = rng.standard_normal((graph.n, 5)).astype(np.float32)
    head = rng.standard_normal((6, 3)).astype(np.float32)
    labels = Labels(np.arange(9), np.eye(3, dtype=np.float32)[graph.labels[:9]], rng.random(9))
    loss = partial(mi_loss, z, adjacency=graph.adjacency, weight=9.0, labels=labels, l2=0.1, prior=prior)
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
    z = fit_svd(partial(ssgc_filter, operator=operator, n_steps=4, alpha=0.05), graph.features, 8).z
    labels = Labels.given(np.arange(3), graph.labels[:3], 3)
    start = fit_head(z[:3], labels.targets, labels.weights, 0.1)
    loss = partial(mi_loss, z, adjacency=graph.adjacency, weight=9.0, labels=labels, l2=0.1)
    refined = refine_head(start, loss, 20)
    assert loss(refined)[0] < loss(start)[0]

    def accuracy(head: np.ndarray) -> float:
        return float((predict_proba(z, head).argmax(axis=1) == graph.labels).mean())

    assert accuracy(refined) >= max(accuracy(start), 0.95)


def test_only_members_of_one_channel_are_refined(graph: NodeGraph) -> None:
    settings = ConcordSettings()
    given = Labels.given(np.arange(9), graph.labels[:9], 3)
    members = method.build_members(precompute(graph, settings, 0.7), 0.7, settings)
    plain, refined = fit_heads(members, given, settings), fit_heads(members, given, settings, 3)
    without_mi = fit_heads(members, given, ConcordSettings(mi_weight=0), 3)
    for one, other, third in zip(plain, refined, without_mi, strict=True):
        if one.z is None:
            assert other.head is None
        else:
            assert np.array_equal(one.head, other.head) == (one.channel == "joint")
            np.testing.assert_array_equal(one.head, third.head)


def test_members_of_one_embedding_share_a_head(graph: NodeGraph) -> None:
    settings = ConcordSettings()
    members = method.build_members(precompute(graph, settings, 0.7), 0.7, settings)
    fitted = fit_heads(members, Labels.given(np.arange(9), graph.labels[:9], 3), settings)
    assert all(member.head is None for member in members)  # members are not changed, but replaced
    on_topology, on_features = (member for member in fitted if member.channel == "joint")
    assert on_topology.head is on_features.head
    assert (on_topology.graph, on_features.graph) == ("topology", "features")


def test_smoothing_converges_to_personalised_pagerank(graph: NodeGraph) -> None:
    operator = topology_operator(graph, "symmetric")
    p = softmax(RNG.standard_normal((graph.n, 3)), axis=1).astype(np.float32)
    exact = 0.1 * np.linalg.solve(np.eye(graph.n) - 0.9 * operator.matrix.toarray(), p)
    np.testing.assert_allclose(ppr_smooth(operator.matrix, p, 0.1, 200), exact, atol=1e-5)


def test_propagated_labels_are_uniform_where_none_reaches() -> None:
    graph = NodeGraph(np.eye(5), [(0, 1), (1, 2), (3, 4)], [0, -1, 1, -1, -1])
    labels = Labels(np.array([0, 2]), np.eye(2, dtype=np.float32), np.ones(2))
    p, other = propagate_labels(topology_operator(graph, "symmetric"), [labels, labels.subset(np.array([1, 0]))])
    np.testing.assert_allclose(p, other)
    np.testing.assert_allclose(p[[3, 4]], 0.5)
    assert p[0, 0] > 0.5
    assert p[2, 1] > 0.5


def test_pool_is_the_weighted_geometric_mean() -> None:
    p, q = (softmax(RNG.standard_normal((4, 3)), axis=1) for _ in range(2))
    expected = p**0.25 * q**0.75
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(log_opinion_pool([np.log(p), np.log(q)], np.array([1.0, 3.0])), expected, rtol=1e-5)


def test_a_member_that_fails_in_cross_validation_has_hardly_any_weight() -> None:
    truth = np.arange(30) % 3
    good = np.log(np.eye(3)[truth] * 0.8 + 0.1)
    bad = np.log(np.eye(3)[(truth + 1) % 3] * 0.9 + 0.05)
    f, weights = reliability_weights([good, bad], np.array([20.0, 5.0]), 20, np.ones(2), ConcordSettings())
    assert (f.argmax(axis=1) == truth).all()
    assert weights[0] > 100 * weights[1]


def test_agreement_is_cohens_kappa_clipped_at_zero() -> None:
    rng = np.random.default_rng(4)
    one, other = rng.choice(3, 200, p=[0.7, 0.2, 0.1]), rng.choice(3, 200, p=[0.6, 0.3, 0.1])
    other[:120] = one[:120]
    assert clipped_kappa(one, other, 3) == pytest.approx(cohen_kappa_score(one, other))
    assert clipped_kappa(one, one, 3) == pytest.approx(1)
    assert clipped_kappa(one, (one + 1) % 3, 3) == 0
    constant = np.zeros(200, int)
    assert clipped_kappa(constant, constant, 3) == 0


def test_constant_members_do_not_outvote_an_informative_one() -> None:
    truth = np.arange(40) % 2
    informative = np.log(np.eye(2)[truth] * 0.2 + 0.4)
    constant = [np.log(np.full((40, 2), [0.8, 0.2])) for _ in range(3)]
    hits = np.array([2.0, 2.0, 2.0, 3.0])  # of four labels
    f, weights = reliability_weights([*constant, informative], hits, 4, np.ones(4), ConcordSettings())
    assert weights[3] > 10 * weights[:3].max()
    assert (f.argmax(axis=1) == truth).all()


def test_channels_have_equal_initial_weight(graph: NodeGraph) -> None:
    operator = topology_operator(graph, "symmetric")
    channels = ["topology", "features", "topology", "topology", "joint", "joint", "labels"]
    weights = initial_weights([Member(channel, channel, "topology", operator) for channel in channels])
    np.testing.assert_allclose(weights, [1 / 4, 1, 1 / 4, 1 / 4, 1 / 2, 1 / 2, 1 / 4])


def test_folds_are_stratified() -> None:
    y = np.repeat(np.arange(3), (20, 2, 7))
    fold = assign_folds(y, 0)
    assert set(fold) == set(range(5))
    assert np.ptp(np.bincount(fold[y == 0])) == 0


def test_pseudo_labels_are_balanced_and_never_outweigh_the_given() -> None:
    f = softmax(RNG.standard_normal((200, 4)) + np.array([2, 0, 0, 0]), axis=1)
    given = Labels(np.arange(4), np.eye(4, dtype=np.float32), np.ones(4))
    labels = select_pseudo_labels(f, given, 0.08, ConcordSettings(), np.ones(4))
    new = labels.nodes[4:]
    assert (np.bincount(labels.targets[4:].argmax(axis=1)) == 4).all()  # 0.08 · 200 / 4
    assert not set(new) & set(given.nodes)
    assert labels.weights[4:].sum() <= 4 * 4 * scarcity(1, ConcordSettings().scarcity_scale) + 1e-9
    rare = select_pseudo_labels(f, given, 0.08, ConcordSettings(), np.array([2.5, 0.5, 0.5, 0.5]))
    np.testing.assert_array_equal(np.bincount(rare.targets[4:].argmax(axis=1)), [10, 2, 2, 2])
    few = select_pseudo_labels(f, given, 0.08, ConcordSettings(max_pseudo_per_class=2), np.ones(4))
    assert (np.bincount(few.targets[4:].argmax(axis=1)) == 2).all()
    predicted, margins = f.argmax(axis=1), margin(f)
    for j in range(4):
        chosen = new[predicted[new] == j]
        left = np.setdiff1d(np.flatnonzero(predicted == j), np.concatenate([chosen, given.nodes]))
        assert margins[chosen].min() >= margins[left].max()


def test_correction_averages_agreeing_neighbours_only(graph: NodeGraph) -> None:
    operator = topology_operator(graph, "symmetric")
    agree = RNG.random(graph.n) < 0.7
    operators = {"topology": operator, "features": operator}
    support = correction_weights(operators, {"topology": 0.5, "features": 0.5}, agree)
    f = softmax(RNG.standard_normal((graph.n, 3)), axis=1).astype(np.float32)
    after = corrected(f, support, 0.3)
    s = operator.matrix.toarray()
    for v in range(graph.n):
        near = [u for u in range(graph.n) if u != v and s[v, u] > 0 and agree[u]]
        if agree[v] or not near:
            np.testing.assert_array_equal(after[v], f[v])
        else:
            mean = sum(s[v, u] * f[u] for u in near) / sum(s[v, u] for u in near)
            np.testing.assert_allclose(after[v], 0.7 * f[v] + 0.3 * mean, rtol=1e-4)
