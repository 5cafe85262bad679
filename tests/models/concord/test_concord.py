"""Concord's voices, concord, repair and trust (C4 to C9, C13 to C15) against slow literal versions."""

from functools import partial
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score

from dccgcn import NodeGraph
from dccgcn.models.concord import groundwork, method
from dccgcn.models.concord.confidence import (
    COEFFICIENTS,
    approval,
    by_luck,
    evidence,
    in_common,
    lead,
    normal_scores,
    trust,
    with_confidence,
)
from dccgcn.models.concord.ensemble import _folds, beyond_chance, held_out_hits, inferred, margin, pooled, weighed
from dccgcn.models.concord.members import Labels, Voice, learn, smoothed, speak, spread_labels, standing
from dccgcn.models.concord.neighbour_correction import agreeing_neighbours, repaired
from dccgcn.models.concord.neighbour_mi import attuned, mutual_information
from dccgcn.models.concord.neighbour_mi import loss as accord_loss
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.softmax_regression import answer, fit_head
from dccgcn.models.concord.spectral_features import represent, scarcity, travelled
from dccgcn.models.concord.state import Learned
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
    ours = answer(z, head)
    elsewhere = head + RNG.standard_normal(head.shape)
    np.testing.assert_allclose(answer(z, fit_head(z, np.eye(3)[y], weights, 0.5, elsewhere)), ours, atol=1e-2)
    theirs = LogisticRegression(C=2.0, tol=1e-8, max_iter=1000).fit(z, y, sample_weight=weights).predict_proba(z)
    np.testing.assert_allclose(ours, theirs, atol=5e-3)


def test_mutual_information_of_neighbours_is_that_of_the_edges(graph: NodeGraph) -> None:
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
    frequent = np.array([0.3, 1.2, 1.5])
    told = literal + joint.sum(axis=1) @ np.log(frequent)
    assert mutual_information(graph.adjacency, p, frequent)[0] == pytest.approx(told, rel=1e-4)
    assert mutual_information(graph.adjacency, truth)[0] > 0.3
    alike = np.full((graph.n, 3), 1 / 3, np.float32)
    assert mutual_information(graph.adjacency, alike)[0] == pytest.approx(0, abs=1e-5)
    assert mutual_information(sp.csr_array((graph.n, graph.n), dtype=np.float32), p)[0] == 0


@pytest.mark.parametrize("frequent", [None, np.array([0.3, 1.2, 1.5])])
def test_gradient_of_the_attuned_loss(graph: NodeGraph, frequent: np.ndarray | None) -> None:
    rng = np.random.default_rng(5)
    z = rng.standard_normal((graph.n, 5)).astype(np.float32)
    head = rng.standard_normal((6, 3)).astype(np.float32)
    known = Labels(np.arange(9), np.eye(3, dtype=np.float32)[graph.labels[:9]], rng.random(9))
    _, slope = accord_loss(z, head, graph.adjacency, 9.0, known, 0.1, frequent)
    for a in range(6):
        for j in range(3):
            moved = [head.copy(), head.copy()]
            moved[0][a, j] += 0.01
            moved[1][a, j] -= 0.01
            up, down = (accord_loss(z, there, graph.adjacency, 9.0, known, 0.1, frequent)[0] for there in moved)
            assert slope[a, j] == pytest.approx((up - down) / 0.02, rel=0.02, abs=2e-3)


def test_attuning_lowers_the_loss_and_finds_the_groups(graph: NodeGraph) -> None:
    """One label for each group, and answers that neighbours bear out."""
    view = topology_operator(graph, "symmetric")
    z = represent(partial(travelled, view=view, steps=4, own=0.05), graph.features, 8).z
    known = Labels(np.arange(3), np.eye(3, dtype=np.float32)[graph.labels[:3]], np.ones(3))
    start = fit_head(z[:3], known.targets, known.weights, 0.1)
    loss_at = partial(accord_loss, z, a=graph.adjacency, weight=9.0, labels=known, ridge=0.1)
    found = attuned(start, loss_at, 20)
    assert loss_at(found)[0] < loss_at(start)[0]

    def right(head: np.ndarray) -> float:
        return float((answer(z, head).argmax(axis=1) == graph.labels).mean())

    assert right(found) >= max(right(start), 0.95)


def test_only_the_channels_own_voices_are_attuned(graph: NodeGraph) -> None:
    settings = ConcordSettings()
    views = groundwork.channel_views(graph, settings)
    given = Labels(np.arange(9), np.eye(3, dtype=np.float32)[graph.labels[:9]], np.ones(9))
    voices = method.voices_of(groundwork.representations(graph, settings, 0.7), views, 0.7, settings)
    nothing = [None] * len(voices)
    plain, listening = learn(voices, given, settings, nothing), learn(voices, given, settings, nothing, 3)
    deaf = learn(voices, given, ConcordSettings(accord=0), nothing, 3)
    for voice, one, other, third in zip(voices, plain, listening, deaf, strict=True):
        if voice.z is None:
            assert other is None
        else:
            assert np.array_equal(one, other) == (voice.channel == "joined")
            np.testing.assert_array_equal(one, third)


def test_smoothing_tends_to_pagerank(graph: NodeGraph) -> None:
    view = topology_operator(graph, "symmetric")
    p = softmax(RNG.standard_normal((graph.n, 3)), axis=1).astype(np.float32)
    exact = 0.1 * np.linalg.solve(np.eye(graph.n) - 0.9 * view.matrix.toarray(), p)
    np.testing.assert_allclose(smoothed(view, p, 0.1, 200), exact, atol=1e-5)


def test_spread_labels_are_uniform_where_none_arrives() -> None:
    graph = NodeGraph(np.eye(5), [(0, 1), (1, 2), (3, 4)], [0, -1, 1, -1, -1])
    labels = Labels(np.array([0, 2]), np.eye(2, dtype=np.float32), np.ones(2))
    p, other = spread_labels(topology_operator(graph, "symmetric"), [labels, labels.only(np.array([1, 0]))])
    np.testing.assert_allclose(p, other)
    np.testing.assert_allclose(p[[3, 4]], 0.5)
    assert p[0, 0] > 0.5
    assert p[2, 1] > 0.5


def test_pool_is_the_weighted_geometric_mean() -> None:
    p, q = (softmax(RNG.standard_normal((4, 3)), axis=1) for _ in range(2))
    expected = p**0.25 * q**0.75
    np.testing.assert_allclose(
        pooled([np.log(p), np.log(q)], np.array([1.0, 3.0])), expected / expected.sum(axis=1, keepdims=True), rtol=1e-5
    )


def test_a_voice_that_fails_on_held_out_labels_is_all_but_silent() -> None:
    truth = np.arange(30) % 3
    good = np.log(np.eye(3)[truth] * 0.8 + 0.1)
    bad = np.log(np.eye(3)[(truth + 1) % 3] * 0.9 + 0.05)
    f, weights = weighed([good, bad], np.array([20.0, 5.0]), 20, np.ones(2), ConcordSettings())
    assert (f.argmax(axis=1) == truth).all()
    assert weights[0] > 100 * weights[1]


def test_agreement_counts_beyond_chance() -> None:
    rng = np.random.default_rng(4)
    one, other = rng.choice(3, 200, p=[0.7, 0.2, 0.1]), rng.choice(3, 200, p=[0.6, 0.3, 0.1])
    other[:120] = one[:120]
    assert beyond_chance(one, other, 3) == pytest.approx(cohen_kappa_score(one, other))
    assert beyond_chance(one, one, 3) == pytest.approx(1)
    assert beyond_chance(one, (one + 1) % 3, 3) == 0  # contradiction is no less than chance
    same = np.zeros(200, int)
    assert beyond_chance(same, same, 3) == 0  # one answer for all nodes says nothing


def test_voices_that_give_one_answer_to_all_do_not_outvote_one_that_tells_nodes_apart() -> None:
    truth = np.arange(40) % 2
    telling = np.log(np.eye(2)[truth] * 0.2 + 0.4)
    dull = [np.log(np.full((40, 2), [0.8, 0.2])) for _ in range(3)]
    hits = np.array([2.0, 2.0, 2.0, 3.0])  # of four labels
    f, weights = weighed([*dull, telling], hits, 4, np.ones(4), ConcordSettings())
    assert weights[3] > 10 * weights[:3].max()
    assert (f.argmax(axis=1) == truth).all()


def test_channels_stand_alike_before_they_are_judged(graph: NodeGraph) -> None:
    view, z = topology_operator(graph, "symmetric"), np.zeros((graph.n, 2), np.float32)
    names = ["topology", "features", "topology", "topology", "joined", "joined", "labels"]
    weights = standing([Voice(name, z, view) for name in names])
    np.testing.assert_allclose(weights, [1 / 4, 1, 1 / 4, 1 / 4, 1 / 2, 1 / 2, 1 / 4])


def test_every_label_is_held_out_once_and_classes_are_spread() -> None:
    y = np.repeat(np.arange(3), (20, 2, 7))
    fold = _folds(y, 0)
    assert set(fold) == set(range(5))
    assert np.ptp(np.bincount(fold[y == 0])) == 0


def test_inferred_labels_are_balanced_and_never_outvote_the_given() -> None:
    f = softmax(RNG.standard_normal((200, 4)) + np.array([2, 0, 0, 0]), axis=1)
    given = Labels(np.arange(4), np.eye(4, dtype=np.float32), np.ones(4))
    labels = inferred(f, given, 0.08, ConcordSettings(), np.ones(4))
    new = labels.nodes[4:]
    assert (np.bincount(labels.targets[4:].argmax(axis=1)) == 4).all()  # 0.08 · 200 / 4
    assert not set(new) & set(given.nodes)
    assert labels.weights[4:].sum() <= 4 * 4 * scarcity(1, ConcordSettings().enough) + 1e-9
    rare = inferred(f, given, 0.08, ConcordSettings(), np.array([2.5, 0.5, 0.5, 0.5]))
    np.testing.assert_array_equal(np.bincount(rare.targets[4:].argmax(axis=1)), [10, 2, 2, 2])
    few = inferred(f, given, 0.08, ConcordSettings(most=2), np.ones(4))
    assert (np.bincount(few.targets[4:].argmax(axis=1)) == 2).all()
    answers, gap = f.argmax(axis=1), margin(f)
    for j in range(4):
        chosen = new[answers[new] == j]
        left = np.setdiff1d(np.flatnonzero(answers == j), np.concatenate([chosen, given.nodes]))
        assert gap[chosen].min() >= gap[left].max()


def test_repair_takes_agreeing_neighbours_only(graph: NodeGraph) -> None:
    view = topology_operator(graph, "symmetric")
    agree = RNG.random(graph.n) < 0.7
    support = agreeing_neighbours({"topology": view, "features": view}, {"topology": 0.5, "features": 0.5}, agree)
    f = softmax(RNG.standard_normal((graph.n, 3)), axis=1).astype(np.float32)
    after = repaired(f, support, 0.3)
    s = view.matrix.toarray()
    for v in range(graph.n):
        near = [u for u in range(graph.n) if u != v and s[v, u] > 0 and agree[u]]
        if agree[v] or not near:
            np.testing.assert_array_equal(after[v], f[v])
        else:
            mean = sum(s[v, u] * f[u] for u in near) / sum(s[v, u] for u in near)
            np.testing.assert_allclose(after[v], 0.7 * f[v] + 0.3 * mean, rtol=1e-4)


def test_confidence_becomes_the_largest_probability() -> None:
    f = softmax(RNG.standard_normal((50, 4)), axis=1)
    goal = RNG.uniform(0.3, 0.99, 50)
    p = with_confidence(f, goal)
    np.testing.assert_allclose(p.max(axis=1), goal, atol=1e-4)
    np.testing.assert_array_equal(p.argsort(axis=1), f.argsort(axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)


def test_voices_are_asked_for_the_answer(graph: NodeGraph) -> None:
    answer = RNG.integers(0, 3, graph.n)
    said = [np.log(softmax(RNG.standard_normal((graph.n, 3)), axis=1)) for _ in range(2)]
    heard = [0.25 * np.exp(said[0][v, answer[v]]) + 0.75 * np.exp(said[1][v, answer[v]]) for v in range(graph.n)]
    np.testing.assert_allclose(approval(said, np.array([1.0, 3.0]), answer), heard)


def test_evidence_that_is_alone_counts_less() -> None:
    truth = RNG.standard_normal(500)
    kinds = np.column_stack([truth + 0.3 * RNG.standard_normal(500) for _ in range(3)] + [RNG.standard_normal(500)])
    shared = in_common(kinds)
    assert np.corrcoef(shared, truth)[0, 1] > 0.97
    assert abs(np.corrcoef(shared, kinds[:, 3])[0, 1]) < 0.2
    assert shared.std() == pytest.approx(1, abs=0.05)
    assert (in_common(np.zeros((5, 3))) == 0).all()


def test_scores_are_those_of_ranks() -> None:
    np.testing.assert_allclose(normal_scores(np.array([3.0, 1, 2])), norm.ppf([5 / 6, 1 / 6, 1 / 2]), atol=1e-12)
    np.testing.assert_allclose(normal_scores(np.full(7, 0.3)), 0, atol=1e-12)
    values = RNG.standard_normal(50)
    np.testing.assert_array_equal(normal_scores(values), normal_scores(np.exp(values)))


def test_lead_is_the_gap_to_the_next_class() -> None:
    scores, answer = RNG.standard_normal((20, 3)), RNG.integers(0, 3, 20)
    for v, ahead in enumerate(lead(scores, answer)):
        others = [scores[v, j] for j in range(3) if j != answer[v]]
        assert ahead == pytest.approx(scores[v, answer[v]] - max(others))


def test_evidence_has_a_coefficient_each(graph: NodeGraph) -> None:
    settings = ConcordSettings(rounds=1)
    views = groundwork.channel_views(graph, settings)
    given = Labels(np.arange(9), np.eye(3, dtype=np.float32)[graph.labels[:9]], np.ones(9))
    parts = groundwork.representations(graph, settings, 0.7)
    voices, rooms = method.voices_of(parts, views, 0.7, settings), groundwork.rooms_of(parts)
    learned, said = method.in_rounds(voices, given, np.ones(graph.c), settings, 0)
    for log_p, again in zip(said, speak(voices, learned.heads, learned.labels, settings), strict=True):
        np.testing.assert_array_equal(log_p, again)
    found = evidence(
        method.deliberate(voices, said, views, rooms, learned, np.ones(graph.c), settings), [*rooms.values()], learned
    )
    assert found.shape == (graph.n, len(COEFFICIENTS))
    assert np.isfinite(found).all()
    hits, together = held_out_hits(voices, given, settings, 0)
    assert together == learned.found
    assert hits.max() >= together / 2
    assert hits.max() <= len(given.nodes)


def test_luck_by_the_integral() -> None:
    """(C15): h of m labels are found by guessing, or as often as on graphs that tell something."""
    x = np.linspace(0, 1, 20_001)
    for found, sought, chance in ((0, 0, 0.3), (2, 14, 1 / 7), (9, 14, 1 / 7), (20, 140, 1 / 7), (3, 6, 1 / 3)):
        luck = comb(sought, found) * chance**found * (1 - chance) ** (sought - found)
        density = 20 * x**3 * (1 - x)  # Beta(4, 2)
        skill = np.trapezoid(comb(sought, found) * x**found * (1 - x) ** (sought - found) * density, x)
        assert by_luck(found, sought, chance) == pytest.approx(0.05 * luck / (0.05 * luck + 0.95 * skill), rel=1e-4)
    assert by_luck(0, 0, 0.3) == pytest.approx(0.05)  # nothing was sought, so nothing is learned of it
    assert by_luck(20, 140, 1 / 7) > 0.9
    assert by_luck(120, 140, 1 / 7) < 1e-9
    sure = trust(np.zeros((2, 3)), luck=0.25, chance=0.2)
    np.testing.assert_allclose(sure, 0.75 * 0.5 + 0.25 * 0.2)


def test_labels_that_could_be_found_have_a_class_with_another() -> None:
    targets = np.eye(4, dtype=np.float32)[[0, 0, 0, 1, 2, 2]]
    learned = Learned([], Labels(np.arange(6), targets, np.ones(6)), 6, np.ones(1), 2)
    assert learned.sought == 5
    assert learned.chance == pytest.approx((9 + 1 + 4) / 36)
