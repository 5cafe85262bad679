"""Every measure against a slow literal version, a closed form, or an order of nodes that must not matter."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from dccgcn.errors import DccgcnError
from dccgcn.quality import calibration, metrics, paired

SCHEMES = ["equal-mass", "equal-width"]


@st.composite
def predictions(draw):
    """Probabilities with many ties, and a truth, for 1 to 25 nodes in 2 to 4 classes."""
    n, c = draw(st.integers(1, 25)), draw(st.integers(2, 4))
    rows = st.lists(st.integers(0, 6), min_size=c, max_size=c).filter(any)
    counts = np.array(draw(st.lists(rows, min_size=n, max_size=n)), dtype=float)
    truth = np.array(draw(st.lists(st.integers(0, c - 1), min_size=n, max_size=n)))
    return counts / counts.sum(axis=1, keepdims=True), truth


@st.composite
def ranked(draw, most=25):
    """Trust scores with ties, and whether the predictions are right."""
    n = draw(st.integers(1, most))
    score = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    return np.array(score, dtype=float), np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=30))
def test_accuracy_and_macro_f1_against_loops(pairs):
    truth, prediction = zip(*pairs, strict=True)
    f1 = []
    for k in set(truth):
        hit = sum(t == k and p == k for t, p in pairs)
        f1.append(2 * hit / (truth.count(k) + prediction.count(k)))
    assert metrics.macro_f1(truth, prediction) == pytest.approx(sum(f1) / len(f1))
    assert metrics.accuracy(truth, prediction) == pytest.approx(sum(t == p for t, p in pairs) / len(pairs))


@given(predictions(), st.integers(1, 20))
def test_equal_width_ece_against_a_loop(case, bins):
    p, truth = case
    total = 0.0
    edges = np.linspace(0, 1, bins + 1)
    for lower, upper in itertools.pairwise(edges):
        inside = [i for i in range(len(p)) if lower < max(p[i]) <= upper]
        if inside:
            right = sum(p[i].argmax() == truth[i] for i in inside) / len(inside)
            stated = sum(max(p[i]) for i in inside) / len(inside)
            total += len(inside) / len(p) * abs(right - stated)
    assert calibration.ece(p, truth, bins, "equal-width") == pytest.approx(total, abs=1e-12)


@given(st.integers(1, 40), st.integers(1, 20), st.integers(0, 10**6))
def test_equal_mass_ece_against_a_loop(n, bins, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), size=n)  # no ties
    truth = rng.integers(0, 3, size=n)
    groups: dict[int, list[int]] = {}
    for rank, i in enumerate(sorted(range(n), key=lambda i: max(p[i]))):
        groups.setdefault(rank * bins // n, []).append(i)
    total = sum(abs(sum(float(p[i].argmax() == truth[i]) - max(p[i]) for i in group)) for group in groups.values()) / n
    assert calibration.ece(p, truth, bins, "equal-mass") == pytest.approx(total, abs=1e-12)
    sizes = [bar.count for bar in calibration.reliability(p, truth, bins, "equal-mass")]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("scheme", SCHEMES)
@given(case=predictions(), bins=st.integers(1, 20), seed=st.integers(0, 10**6))
def test_calibration_does_not_depend_on_the_order_of_nodes(scheme, case, bins, seed):
    p, truth = case
    order = np.random.default_rng(seed).permutation(len(p))
    before, after = (calibration.reliability(p[i], truth[i], bins, scheme) for i in (np.arange(len(p)), order))
    assert [(b.lower, b.upper, b.count) for b in before] == [(b.lower, b.upper, b.count) for b in after]
    assert [b.accuracy for b in before] == pytest.approx([b.accuracy for b in after])
    assert calibration.ece(p, truth, bins, scheme) == pytest.approx(
        calibration.ece(p[order], truth[order], bins, scheme), abs=1e-12
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@given(case=predictions(), bins=st.integers(1, 20))
def test_gap_is_at_most_ece_and_equals_it_in_one_bin(scheme, case, bins):
    p, truth = case
    gap = calibration.confidence_gap(p, truth)
    assert gap == pytest.approx(p.max(axis=1).mean() - (p.argmax(axis=1) == truth).mean(), abs=1e-12)
    assert abs(gap) <= calibration.ece(p, truth, bins, scheme) + 1e-12
    assert abs(gap) == pytest.approx(calibration.ece(p, truth, 1, scheme), abs=1e-12)
    bars = calibration.reliability(p, truth, bins, scheme)
    assert sum(bar.count for bar in bars) == len(p)
    assert all(bar.lower <= bar.confidence + 1e-12 and bar.confidence <= bar.upper + 1e-12 for bar in bars)


def test_a_reliability_diagram_has_fifteen_bins():
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=300)
    assert len(calibration.reliability(p, np.zeros(300, int))) == 15
    assert len(calibration.bars(p.max(axis=1), np.ones(300))) == 15


def test_a_confidence_on_an_edge_belongs_to_the_bin_below():
    bars = calibration.reliability([[0.5, 0.5], [0.75, 0.25], [1.0, 0.0]], [0, 0, 0], bins=4, scheme="equal-width")
    assert [(bar.lower, bar.upper) for bar in bars] == [(0.25, 0.5), (0.5, 0.75), (0.75, 1.0)]


def test_scores_on_known_rows():
    p = [[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]]
    np.testing.assert_allclose(calibration.confidence(p), [0.5, 1, 1 / 3])
    np.testing.assert_allclose(calibration.margin(p), [0.2, 1, 0])
    np.testing.assert_allclose(calibration.margin([[0.1, 0.6, 0.25, 0.05], [0.3, 0.1, 0.2, 0.4]]), [0.35, 0.1])
    entropy = -(0.5 * math.log(0.5) + 0.3 * math.log(0.3) + 0.2 * math.log(0.2))
    np.testing.assert_allclose(calibration.negative_entropy(p), [-entropy, 0, -math.log(3)])


@given(ranked())
def test_auroc_against_all_pairs(case):
    score, right = case
    good, bad = score[right], score[~right]
    if not len(good) or not len(bad):
        assert calibration.auroc(score, right) is None
        return
    won = sum(1.0 if g > b else 0.5 if g == b else 0.0 for g in good for b in bad)
    assert calibration.auroc(score, right) == pytest.approx(won / (len(good) * len(bad)))


@given(ranked(most=5))
def test_risk_coverage_is_the_mean_over_all_orders_of_ties(case):
    score, right = case
    n = len(score)
    curves = []
    for order in itertools.permutations(range(n)):
        if any(score[a] < score[b] for a, b in itertools.pairwise(order)):
            continue  # not from the most to the least trusted
        curves.append([sum(not right[i] for i in order[:k]) / k for k in range(1, n + 1)])
    curve = calibration.risk_coverage(score, right)
    np.testing.assert_allclose(curve.risk, np.mean(curves, axis=0), atol=1e-12)
    np.testing.assert_allclose(curve.coverage, np.arange(1, n + 1) / n)
    assert curve.area == pytest.approx(np.mean(curves), abs=1e-12)
    for kind in (np.uint8, np.float32):
        assert calibration.risk_coverage(score.astype(kind), right).area == pytest.approx(curve.area)


@given(ranked(), st.integers(0, 10**6))
def test_rankings_ignore_the_order_of_nodes_and_the_scale_of_scores(case, seed):
    score, right = case
    order = np.random.default_rng(seed).permutation(len(score))
    there = calibration.risk_coverage(np.exp(score[order]), right[order])
    np.testing.assert_allclose(there.risk, calibration.risk_coverage(score, right).risk, atol=1e-12)
    assert calibration.auroc(np.exp(score[order]), right[order]) == pytest.approx(calibration.auroc(score, right))


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=2, max_size=30), st.sampled_from([0.95, 0.99])
)
def test_paired_difference_agrees_with_scipy(pairs, level):
    a, b = np.array(pairs).T
    assume((a - b).std() > 1e-6)
    ours, theirs = paired.paired_difference(a, b, level=level), stats.ttest_rel(a, b)
    interval = theirs.confidence_interval(level)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), abs=1e-7)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-9)
    assert ours.mean == pytest.approx(np.mean(a - b))
    assert ours.std == pytest.approx(np.std(a - b, ddof=1))
    assert ours.n == len(pairs)
    mirrored = paired.paired_difference(b, a, level=level)
    assert (mirrored.low, mirrored.high) == pytest.approx((-ours.high, -ours.low), abs=1e-9)


def test_paired_difference_at_its_limits():
    assert paired.paired_difference([0.7], [0.5]).mean == pytest.approx(0.2)
    alone = paired.paired_difference([1.0], [0.5])
    assert (alone.std, alone.low, alone.high, alone.p_value, alone.n) == (None, None, None, None, 1)
    same = paired.paired_difference([1.0, 2.0], [1.0, 2.0])
    assert (same.mean, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)
    constant = paired.paired_difference([2.0, 3.0], [1.0, 2.0])
    assert (constant.low, constant.high, constant.p_value) == (1.0, 1.0, 0.0)


def test_summary():
    assert paired.summary([1, 2, 3]) == paired.Summary(2.0, 1.0, 3)
    assert paired.summary([0.5]) == paired.Summary(0.5, None, 1)
    assert str(paired.summary([63.9])) == "63.9"
    assert str(paired.summary([60.0, 70.0])) == "65.0 ± 7.1"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.accuracy([0, 1], [0]), "lengths differ: truth 2, prediction 1"),
        (lambda: metrics.accuracy([], []), "nothing to score"),
        (lambda: metrics.macro_f1([0, -1], [0, 0]), r"truth of 1 nodes is unknown \(-1\), at positions 1"),
        (lambda: metrics.accuracy([[0], [1]], [0, 1]), "one value per node"),
        (lambda: calibration.ece([[0.5, 0.5]], [0, 1]), "lengths differ"),
        (lambda: calibration.ece([[0.5, 0.5]], ["a"]), "positions among the 2 columns"),
        (lambda: calibration.ece([[0.5, 0.5]], [2]), "positions among the 2 columns"),
        (lambda: calibration.ece([[2.0, -1.0]], [0]), "not probabilities"),
        (lambda: calibration.margin([[0.4, 0.6], [np.nan, 1.0]]), "1 rows are not probabilities, at positions 1"),
        (lambda: calibration.confidence([0.4, 0.6]), "two or more classes"),
        (lambda: calibration.ece([[0.5, 0.5]], [0], bins=0), "one bin or more"),
        (lambda: calibration.ece([[0.5, 0.5]], [0], scheme="equal"), "no binning scheme 'equal'"),
        (lambda: calibration.auroc([np.nan, 1], [True, False]), "NaN or infinite at positions 0"),
        (lambda: calibration.risk_coverage([], []), "nothing to score"),
        (lambda: paired.summary([1.0, np.nan]), "NaN or infinite"),
        (lambda: paired.paired_difference([1, 2], [1, 2, 3]), "lengths differ"),
        (lambda: paired.paired_difference([1, 2], [1, 2], level=95), "between 0 and 1"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call, message):
    with pytest.raises(DccgcnError, match=message):
        call()
