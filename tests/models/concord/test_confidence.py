"""Confidence (C13 to C15) against slow literal versions."""

from math import comb

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import norm

from dccgcn.models.concord import method
from dccgcn.models.concord.confidence import (
    COEFFICIENTS,
    class_margin,
    confidence_features,
    first_pc,
    mean_vote,
    normal_scores,
    p_uninformative,
    rescale_to_confidence,
    trust,
)
from dccgcn.models.concord.ensemble import cv_hits
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.members import log_proba
from dccgcn.models.concord.precompute import precompute
from dccgcn.models.concord.settings import ConcordSettings
from helpers.groups import blocks

RNG = np.random.default_rng(3)


def test_trust_becomes_the_largest_probability() -> None:
    f = softmax(RNG.standard_normal((50, 4)), axis=1)
    target = RNG.uniform(0.3, 0.99, 50)
    p = rescale_to_confidence(f, target)
    np.testing.assert_allclose(p.max(axis=1), target, atol=1e-4)
    np.testing.assert_array_equal(p.argsort(axis=1), f.argsort(axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)


def test_mean_vote_node_by_node() -> None:
    predicted = RNG.integers(0, 3, 30)
    log_probs = [np.log(softmax(RNG.standard_normal((30, 3)), axis=1)) for _ in range(2)]
    votes = [
        0.25 * np.exp(log_probs[0][v, predicted[v]]) + 0.75 * np.exp(log_probs[1][v, predicted[v]]) for v in range(30)
    ]
    np.testing.assert_allclose(mean_vote(log_probs, np.array([1.0, 3.0]), predicted), votes)


def test_the_first_principal_component_ignores_an_unrelated_feature() -> None:
    truth = RNG.standard_normal(500)
    scores = np.column_stack([truth + 0.3 * RNG.standard_normal(500) for _ in range(3)] + [RNG.standard_normal(500)])
    e = first_pc(scores)
    assert np.corrcoef(e, truth)[0, 1] > 0.97
    assert abs(np.corrcoef(e, scores[:, 3])[0, 1]) < 0.2
    assert e.std() == pytest.approx(1, abs=0.05)
    assert (first_pc(np.zeros((5, 3))) == 0).all()


def test_normal_scores_are_those_of_ranks() -> None:
    np.testing.assert_allclose(normal_scores(np.array([3.0, 1, 2])), norm.ppf([5 / 6, 1 / 6, 1 / 2]), atol=1e-12)
    np.testing.assert_allclose(normal_scores(np.full(7, 0.3)), 0, atol=1e-12)
    values = RNG.standard_normal(50)
    np.testing.assert_array_equal(normal_scores(values), normal_scores(np.exp(values)))


def test_class_margin_is_the_difference_to_the_next_class() -> None:
    scores, predicted = RNG.standard_normal((20, 3)), RNG.integers(0, 3, 20)
    for v, difference in enumerate(class_margin(scores, predicted)):
        others = [scores[v, j] for j in range(3) if j != predicted[v]]
        assert difference == pytest.approx(scores[v, predicted[v]] - max(others))


def test_every_feature_has_a_coefficient() -> None:
    graph, settings = blocks(), ConcordSettings(n_rounds=1)
    given, inputs = Labels.given(np.arange(9), graph.labels[:9], 3), precompute(graph, settings, 0.7)
    members = method.build_members(inputs, 0.7, settings)
    state = method.self_train(members, given, np.ones(graph.c), settings, 0)
    for log_p, again in zip(state.log_probs, log_proba(state.members, state.labels, settings), strict=True):
        np.testing.assert_array_equal(log_p, again)
    output = method.combine(state, inputs, np.ones(graph.c), settings)
    features = confidence_features(output, state, [*inputs.regressors.values()])
    assert features.shape == (graph.n, len(COEFFICIENTS))
    assert np.isfinite(features).all()
    hits, n_recovered = cv_hits(members, given, settings, 0)
    assert n_recovered == state.n_recovered
    assert n_recovered / 2 <= hits.max() <= len(given.nodes)


def test_p_uninformative_by_the_integral() -> None:
    """(C15): h of m labels are recovered by chance, or at a rate drawn from Beta(4, 2)."""
    x = np.linspace(0, 1, 20_001)
    for h, m, g in ((0, 0, 0.3), (2, 14, 1 / 7), (9, 14, 1 / 7), (20, 140, 1 / 7), (3, 6, 1 / 3)):
        b0 = comb(m, h) * g**h * (1 - g) ** (m - h)
        b1 = np.trapezoid(comb(m, h) * x**h * (1 - x) ** (m - h) * 20 * x**3 * (1 - x), x)
        assert p_uninformative(h, m, g) == pytest.approx(0.05 * b0 / (0.05 * b0 + 0.95 * b1), rel=1e-4)
    assert p_uninformative(0, 0, 0.3) == pytest.approx(0.05)  # without checkable labels, the prior
    assert p_uninformative(20, 140, 1 / 7) > 0.9
    assert p_uninformative(120, 140, 1 / 7) < 1e-9
    np.testing.assert_allclose(trust(np.zeros((2, 3)), nu=0.25, chance=0.2), 0.75 * 0.5 + 0.25 * 0.2)


def test_checkable_labels_have_another_of_their_class() -> None:
    given = Labels.given(np.arange(6), np.array([0, 0, 0, 1, 2, 2]), 4)
    assert given.n_checkable == 5
    assert given.chance == pytest.approx((9 + 1 + 4) / 36)
