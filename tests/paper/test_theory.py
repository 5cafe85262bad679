"""The theorems: what is exact holds for any predictions, what the paper claims is judged by counting."""

import doctest
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dccgcn.errors import DccgcnError
from paper import theory

shares = st.floats(0.01, 0.99)
classes = st.integers(2, 70)


@st.composite
def channels(draw, arrays=3):
    """Truth and predictions of 1 to 40 nodes in 2 to 5 classes."""
    n, c = draw(st.integers(1, 40)), draw(st.integers(2, 5))
    label = st.integers(0, c - 1)
    return [np.array(draw(st.lists(label, min_size=n, max_size=n))) for _ in range(arrays)]


def independent_binary():
    """100 nodes, c = 2, p1 = .8 and p2 = .7 independent to the node: 56 both right, 24, 14, and 6 both wrong."""
    truth = np.zeros(100, dtype=int)
    first = np.repeat([0, 0, 1, 1], [56, 24, 14, 6])
    second = np.repeat([0, 1, 0, 1], [56, 24, 14, 6])
    return truth, first, second


@given(channels())
def test_eq18_with_measured_gamma_is_too_small_by_exactly_the_jointly_wrong(arrays):
    stats = theory.measure(*arrays)
    assume(stats.p_low is not None)
    value = theory.eq18_left(stats.p1, stats.p2, 5, sum(stats.excess(5)))
    assert stats.p_low - value == pytest.approx(stats.w / (1 - stats.agreement), abs=1e-9)


@given(shares, shares, classes, st.floats(0, 0.5))
def test_eq18_inequality_is_true_of_its_left_side(p1, p2, c, gamma):
    assume(p1 * p2 + theory.independent_w(p1, p2, c) + gamma < 0.999)
    assert theory.eq18_left(p1, p2, c, gamma) < theory.theorem1_bound(p1, p2)


@given(shares, shares, st.floats(1e-3, 1))
def test_independent_channels_break_theorem1_for_any_w(p1, p2, part):
    r, w = theory.independent_r(p1, p2), part * (1 - p1) * (1 - p2)  # no more than all the jointly wrong
    assert theory.low_accuracy(p1, r, w) > theory.theorem1_bound(p1, p2)


def test_theorems_are_broken_on_nodes_one_can_count():
    stats = theory.measure(*independent_binary())
    assert (stats.p1, stats.p2, stats.r, stats.w) == (0.8, 0.7, 0.56, 0.06)
    assert stats.excess(2) == pytest.approx((0, 0), abs=1e-15)
    assert stats.p_low == 24 / 38
    assert stats.p_low > theory.theorem1_bound(0.8, 0.7) == pytest.approx(24 / 44)
    perfect = theory.gain(stats.p1, stats.r, stats.w, 1.0)  # without the assumption of Theorem 2
    assert perfect == pytest.approx(0.14)
    assert perfect > theory.theorem2_bound(stats.p1, stats.agreement)


@given(channels())
def test_theorem1_holds_just_when_the_channels_are_right_together_often_enough(arrays):
    stats = theory.measure(*arrays)
    assume(stats.p_low is not None and stats.p1 < 1)
    needed = stats.p1 * (1 - stats.p2) * stats.w / (1 - stats.p1)
    margin = stats.r - stats.p1 * stats.p2 - needed
    assume(abs(margin) > 1e-9)
    assert (stats.p_low < theory.theorem1_bound(stats.p1, stats.p2)) == (margin > 0)


@given(shares, shares, classes)
def test_words_of_theorem1_need_a_second_channel_better_than_chance(p1, p2, c):
    assume(abs(p2 - 1 / c) > 1e-6)
    low = theory.low_accuracy(p1, theory.independent_r(p1, p2), theory.independent_w(p1, p2, c))
    assert (low < p1) == (p2 > 1 / c)


@given(shares, shares)
def test_eq2_middle_is_its_bound_for_independent_channels(p1, p2):
    value = theory.theorem1_equality(p1, p2, theory.independent_r(p1, p2))
    assert value == pytest.approx(theory.theorem1_bound(p1, p2))


@given(channels(arrays=4))
def test_theorem2_holds_under_its_assumptions_and_the_corrected_one_is_tighter(arrays):
    truth, first, second, other = arrays
    low = first != second
    after = np.where(low, other, first)  # calibration changes low-confidence predictions only
    stats = theory.measure(truth, first, second)
    assume(low.any())
    p_after = float(np.mean(after[low] == truth[low]))
    gained = float(np.mean(after == truth) - np.mean(first == truth))
    paper = theory.theorem2_bound(stats.p1, stats.agreement)
    corrected = theory.theorem2_corrected(stats.p1, stats.r, stats.w)
    assert theory.gain(stats.p1, stats.r, stats.w, p_after) == pytest.approx(gained, abs=1e-12)
    assert paper - corrected == pytest.approx(stats.w, abs=1e-12)
    assert corrected == pytest.approx((1 - stats.agreement) * (stats.p1 - stats.p_low), abs=1e-12)
    # the bound is the gain at p'_low = p1, so it separates the two sides of Assumption 2
    if p_after < stats.p1:
        assert gained < corrected
    elif p_after > stats.p1:
        assert gained > corrected


@pytest.mark.parametrize("c", [3, 7, 70])
def test_surfaces_of_figure_7(c):
    axis = np.linspace(0, 1, 41)
    p1, p2 = np.meshgrid(axis, axis, indexing="ij")
    paper, corrected = theory.upper_bound(p1, p2, c), theory.corrected_upper_bound(p1, p2, c)
    assert paper.shape == corrected.shape == (41, 41)
    for i, j in [(0, 0), (40, 40), (20, 31), (7, 3)]:
        a, b = axis[i], axis[j]
        assert paper[i, j] == pytest.approx((1 - a) * (a * b + (1 - a) * (1 - b) / (c - 1)))
    np.testing.assert_allclose(paper - corrected, theory.independent_w(p1, p2, c), atol=1e-15)
    np.testing.assert_allclose(corrected, p1 * (1 - p1) * (c * p2 - 1) / (c - 1), atol=1e-15)


@pytest.mark.parametrize("c", [3, 7, 70])
def test_analysis_2_is_true_of_the_gain_over_the_better_channel_only(c):
    axis = np.arange(0.5, 0.96, 0.05)
    p1, p2 = np.meshgrid(axis, axis, indexing="ij")
    assert (theory.upper_bound(p1, p2, c).argmax(axis=1) == len(axis) - 1).all()  # at the best p2 on offer
    assert (theory.upper_bound_over_better(p1, p2, c).argmax(axis=1) == np.arange(len(axis))).all()  # at p2 = p1
    # but not for poor channels
    assert theory.upper_bound_over_better(0.4, 0.45, 70) > theory.upper_bound_over_better(0.4, 0.4, 70)
    assert theory.upper_bound(0.8, 0.7, 7, gamma=0.1) == pytest.approx(0.2 * 0.67)
    assert theory.corrected_upper_bound(0.8, 0.7, 7, alpha=0.06, beta=0.04) == pytest.approx(0.2 * 0.62 - 0.8 * 0.05)


def test_channel_counts_has_a_place_for_every_node():
    counts = theory.channel_counts([0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 1, 0], [0, 1, 2, 2, 0, 0])
    assert counts == theory.ChannelCounts(
        both_right=2, both_wrong_same=1, both_wrong_different=1, only_first_right=1, only_second_right=1
    )
    assert (counts.agree, counts.disagree, counts.n) == (3, 3, 6)


def test_perfect_channels_leave_no_low_confidence_accuracy():
    assert np.isnan(theory.theorem1_bound(1.0, 1.0))
    grid = theory.theorem1_bound(np.array([0.5, 1.0]), np.array([0.5, 1.0]))
    np.testing.assert_allclose(grid, [1 / 3, np.nan])
    with pytest.raises(DccgcnError, match="Two classes or more"):
        theory.independent_w(0.5, 0.5, 1)


def test_every_number_on_the_page_is_computed():
    page = Path(__file__).parents[2] / "docs" / "theory.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried >= 8


@given(channels())
def test_measure_and_the_identity_against_a_loop(arrays):
    truth, first, second = arrays
    triples = list(zip(*arrays, strict=True))
    n = len(triples)
    stats = theory.measure(truth, first, second)
    assert stats.n == n
    assert stats.p1 == sum(a == t for t, a, b in triples) / n
    assert stats.p2 == sum(b == t for t, a, b in triples) / n
    assert stats.r == sum(a == t and b == t for t, a, b in triples) / n
    assert stats.w == sum(a != t and a == b for t, a, b in triples) / n
    assert stats.agreement == sum(a == b for t, a, b in triples) / n
    low = [a == t for t, a, b in triples if a != b]
    assert stats.p_low == (sum(low) / len(low) if low else None)
    identity = theory.low_accuracy(stats.p1, stats.r, stats.w)
    assert identity == pytest.approx(stats.p_low if low else np.nan, abs=1e-12, nan_ok=True)
