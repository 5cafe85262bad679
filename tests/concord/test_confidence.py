"""Confidence (C11 to C13) against slow literal versions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logit, ndtri, softmax
from scipy.stats import norm, rankdata

from dccgcn.concord.confidence import (
    GATE,
    Evidence,
    HeldOut,
    TrustModel,
    class_margin,
    evidence_of,
    expected_accuracy,
    first_pc,
    mean_vote,
    normal_scores,
    promise_findings,
    rescale_to_confidence,
    top_two_margin,
    trust,
)

RNG = np.random.default_rng(3)


def evidence(n: int = 50, mean_confidence: float = 0.7) -> Evidence:
    return Evidence(RNG.standard_normal(n), RNG.standard_normal(n), mean_confidence)


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
    values = RNG.integers(0, 9, 50)  # with ties
    np.testing.assert_array_equal(normal_scores(values), ndtri((rankdata(values) - 0.5) / 50))
    np.testing.assert_array_equal(normal_scores(values), normal_scores(np.exp(values)))


def test_class_margin_is_the_difference_to_the_next_class() -> None:
    scores, predicted = RNG.standard_normal((20, 3)), RNG.integers(0, 3, 20)
    for v, difference in enumerate(class_margin(scores, predicted)):
        others = [scores[v, j] for j in range(3) if j != predicted[v]]
        assert difference == pytest.approx(scores[v, predicted[v]] - max(others))


def test_trust_node_by_node() -> None:
    """(C11) and (C12), one node after the other."""
    t, held_out, given = TrustModel(), HeldOut(17.5, 21, 1 / 3), evidence(20)
    log_odds = t.beta0 * 21 / (21 + t.m0) * np.log(0.7 / 0.3)
    x = 1 / (1 + np.exp(-log_odds))
    assert expected_accuracy(held_out, 0.7, t) == pytest.approx(x)
    ours = trust(given, held_out)
    for i in range(20):
        score = log_odds + (x - 1 / 3) / (2 / 3) * (t.beta1 * given.e[i] + t.beta2 * given.log_odds[i])
        assert ours[i] == pytest.approx(1 / (1 + np.exp(-score)))


@pytest.mark.parametrize(("chance", "mean_confidence"), [(0.5, 0.5), (0.5, 0.3), (1.0, 1.0)])
def test_evidence_does_not_count_at_chance_level(chance: float, mean_confidence: float) -> None:
    assert np.ptp(trust(evidence(mean_confidence=mean_confidence), HeldOut(40, 40, chance))) == 0


def test_more_held_out_labels_and_a_surer_pool_raise_trust() -> None:
    given = evidence()
    means = [trust(given, HeldOut(m, m, 0.25)).mean() for m in (8, 12, 40, 1000)]
    assert (np.diff(means) > 0).all()
    surer = [replace(given, mean_confidence=p) for p in (0.3, 0.6, 0.9, 1.0)]
    assert (np.diff([trust(e, HeldOut(40, 40, 0.25)).mean() for e in surer]) > 0).all()


def test_nothing_is_promised_below_the_gate() -> None:
    below, above = HeldOut(15, 15, 0.5), HeldOut(16, 16, 0.5)
    assert below.z < GATE <= above.z
    assert HeldOut(31, 40, 0.5).z == pytest.approx((31 - 20) / np.sqrt(40 * 0.5 * 0.5))  # of a binomial
    assert HeldOut(31, 40, 0.5).best_z == pytest.approx(20 / np.sqrt(10))
    assert HeldOut(0, 0, 0.5).z == 0
    assert above.is_promised
    assert not below.is_promised


@pytest.mark.parametrize(
    ("held_out", "codes"),
    [
        (HeldOut(35, 40, 0.5), []),
        (HeldOut(22, 40, 0.5), ["uninformative"]),
        (HeldOut(28, 40, 0.5), ["too-few-labels"]),  # beyond chance, but not enough to promise
        (HeldOut(4, 4, 0.5), ["too-few-labels"]),  # two classes, two labels each: nothing could show it
        (HeldOut(1, 4, 0.5), ["too-few-labels"]),
        (HeldOut(0, 0, 0.5), ["too-few-labels"]),
    ],
)
def test_findings_say_why_nothing_is_trusted(held_out: HeldOut, codes: list[str]) -> None:
    findings = promise_findings(held_out)
    assert [finding.code for finding in findings] == codes
    assert all("label more" in finding.text for finding in findings)


def test_evidence_joins_margin_vote_and_refits() -> None:
    f, pooled, r1, r2 = (softmax(2 * RNG.standard_normal((60, 3)), axis=1) for _ in range(4))
    log_probs, weights = [np.log(pooled), np.log(f)], np.array([0.4, 0.1])
    found = evidence_of(f, pooled, log_probs, weights, [r1, r2])
    predicted = f.argmax(axis=1)
    columns = [top_two_margin(f), mean_vote(log_probs, weights, predicted), class_margin(r1, predicted)]
    columns.append(class_margin(r2, predicted))
    np.testing.assert_allclose(found.e, first_pc(np.column_stack([normal_scores(x) for x in columns])))
    odds = np.clip([logit(pooled[v, predicted[v]]) for v in range(60)], -3.9, 3.9)
    np.testing.assert_allclose(found.log_odds, odds - odds.mean())
    assert found.mean_confidence == pytest.approx(pooled.max(axis=1).mean())
