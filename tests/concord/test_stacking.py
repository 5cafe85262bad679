"""Folds, stacking weights, pool and smoothing (C6, C7) against slow literal versions."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from dccgcn.concord.stacking import (
    assign_folds,
    cross_fitted_pool,
    log_opinion_pool,
    prior_weights,
    smooth_pool,
    stacking_weights,
)

RNG = np.random.default_rng(3)


def channels(n_channels: int = 3, n_repeats: int = 2, m: int = 12, c: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Held-out log-probabilities, of which the first channel is right, and the truth."""
    y = np.arange(m) % c
    scores = RNG.standard_normal((n_channels, n_repeats, m, c))
    scores[0] += 2 * np.eye(c)[y]
    return log_softmax(scores, axis=-1).astype(np.float32), y


def test_weights_minimise_the_held_out_loss_label_by_label() -> None:
    held_out, y = channels()
    prior = np.array([0.5, 0.5, 0])

    def loss(w: np.ndarray) -> float:
        total = 0.0
        for r in range(2):
            for i in range(12):
                pool = softmax(sum(w[v] * held_out[v, r, i].astype(float) for v in range(3)))
                total -= np.log(pool[y[i]]) / 2
        return total + 0.7 * sum((w[v] - prior[v]) ** 2 for v in range(3))

    ours = stacking_weights(held_out, y, prior, 0.7)
    best = minimize(loss, prior, bounds=[(0, None)] * 3, tol=1e-12)
    assert loss(ours) == pytest.approx(best.fun, rel=1e-5)
    np.testing.assert_allclose(ours, best.x, atol=5e-3)
    assert ours[0] > 3 * ours[1:].max()


def test_a_large_penalty_or_no_labels_leave_the_prior_weights() -> None:
    held_out, y = channels()
    prior = np.array([0.5, 0.5, 0])
    np.testing.assert_allclose(stacking_weights(held_out, y, prior, 1e6), prior, atol=1e-3)
    np.testing.assert_array_equal(stacking_weights(held_out[:, :, :0], y[:0], prior, 1.5), prior)


def test_sizes_and_joint_have_no_weight_before_labels_ask_for_it() -> None:
    np.testing.assert_array_equal(prior_weights(["own", "cites.hop1", "sizes", "joint"]), [0.5, 0.5, 0, 0])
    np.testing.assert_array_equal(prior_weights(["sizes", "joint"]), [0.5, 0.5])


def test_where_all_members_are_wrong_hardly_any_opinion_is_left() -> None:
    y = np.arange(40) % 2
    wrong = np.log(np.eye(2)[1 - y] * 0.9 + 0.05)[None, None].repeat(2, axis=0)
    np.testing.assert_allclose(stacking_weights(wrong, y, np.full(2, 0.5), 0.25), 5e-4)


def test_weights_of_the_cross_fitted_pool_never_saw_their_fold() -> None:
    held_out, y = channels(m=15)
    folds = [RNG.permutation(15) % 3 for _ in range(2)]
    counts, prior = np.arange(15) != 4, np.full(3, 1 / 3)
    pool = cross_fitted_pool(held_out, y, counts, folds, prior, 0.5)
    changed = y.copy()
    changed[folds[0] == 1] = (y[folds[0] == 1] + 1) % 3
    again = cross_fitted_pool(held_out, changed, counts, folds[:1], prior, 0.5)
    np.testing.assert_array_equal(again[0, folds[0] == 1], pool[0, folds[0] == 1])
    assert not np.array_equal(again[0, folds[0] == 0], pool[0, folds[0] == 0])
    out, others = folds[1] == 2, (folds[1] != 2) & counts
    w = stacking_weights(held_out[:, 1:][:, :, others], y[others], prior, 0.5)
    expected = softmax(np.tensordot(w, held_out[:, 1, out].astype(float), 1), axis=-1)
    np.testing.assert_allclose(pool[1, out], expected, rtol=1e-6)


def test_pool_is_the_product_of_powers() -> None:
    p, q = (softmax(RNG.standard_normal((4, 3)), axis=1) for _ in range(2))
    expected = p**0.5 * q**1.5
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(log_opinion_pool([np.log(p), np.log(q)], np.array([0.5, 1.5])), expected, rtol=1e-5)


def test_smoothing_node_by_node() -> None:
    a = (RNG.random((8, 8)) < 0.4).astype(np.float32)
    mean = a / np.maximum(a.sum(axis=1, keepdims=True), 1)
    p = softmax(RNG.standard_normal((8, 3)), axis=1).astype(np.float32)
    expected = p.astype(float)
    for _ in range(2):
        expected = np.array([0.7 * p[v] + 0.3 * sum(mean[v, u] * expected[u] for u in range(8)) for v in range(8)])
    np.testing.assert_allclose(smooth_pool(p, sp.csr_array(mean), 0.3, 2), expected, atol=1e-5)
    assert smooth_pool(p, sp.csr_array(mean), 0.0, 3) is p


@pytest.mark.parametrize(("counts", "n_folds", "n_repeats"), [((20, 2, 7), 5, 3), ((2, 2), 2, 8), ((1, 1, 3), 3, 8)])
def test_folds_are_stratified_and_repeated(counts: tuple[int, ...], n_folds: int, n_repeats: int) -> None:
    y = np.repeat(np.arange(len(counts)), counts)
    folds = assign_folds(y, 0)
    assert len(folds) == n_repeats
    for fold in folds:
        assert set(fold) == set(range(n_folds))
        assert np.ptp(np.bincount(fold)) <= 1
        for j in range(len(counts)):
            assert np.ptp(np.bincount(fold[y == j], minlength=n_folds)) <= 1


def test_folds_do_not_depend_on_the_numbers_of_the_classes() -> None:
    y = RNG.permutation(np.repeat(np.arange(4), (9, 2, 7, 1)))
    for one, other in zip(assign_folds(y, 5), assign_folds(np.array([2, 3, 1, 0])[y], 5), strict=True):
        np.testing.assert_array_equal(one, other)


def test_folds_are_drawn_by_the_seed() -> None:
    y = np.arange(30) % 3
    first, again, other = (assign_folds(y, seed)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
