"""Every measure against a slow literal version, a closed form, or an order of nodes that must not matter."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from dccgcn.errors import DccgcnError
from dccgcn.quality import calibration, metrics, paired


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


@given(st.integers(1, 40), st.integers(1, 20), st.integers(0, 10**6))
def test_the_calibration_error_against_a_loop(n, bins, seed):
    rng = np.random.default_rng(seed)
    stated, right = rng.permutation(n) / n, rng.random(n) < 0.5  # no ties
    groups: dict[int, list[int]] = {}
    for rank, i in enumerate(np.argsort(stated)):
        groups.setdefault(rank * bins // n, []).append(i)
    total = sum(abs(sum(float(right[i]) - stated[i] for i in group)) for group in groups.values()) / n
    diagram = calibration.bars(stated, right, bins)
    assert calibration.calibration_error(diagram) == pytest.approx(total, abs=1e-12)
    assert max(bar.count for bar in diagram) - min(bar.count for bar in diagram) <= 1
    assert len(calibration.bars(np.arange(300) / 300, np.ones(300))) == 15


@given(case=ranked(), bins=st.integers(1, 20), seed=st.integers(0, 10**6))
def test_calibration_does_not_depend_on_the_order_of_nodes(case, bins, seed):
    score, right = case
    order = np.random.default_rng(seed).permutation(len(score))
    before, after = (calibration.bars(score[i] / 4, right[i], bins) for i in (np.arange(len(score)), order))
    assert [b.count for b in before] == [b.count for b in after]
    assert [b.accuracy for b in before] == pytest.approx([b.accuracy for b in after])
    gap = abs((score / 4).mean() - right.mean())
    assert gap <= calibration.calibration_error(before) + 1e-12
    assert gap == pytest.approx(calibration.calibration_error(calibration.bars(score / 4, right, 1)), abs=1e-12)


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
        (lambda: calibration.bars([0.5], [True], bins=0), "one bin or more"),
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
