"""Stacking: weights of the channels from held-out labels, the pool of their predictions, and its smoothing.

    F ∝ Π_v P_v^{w_v}
    w = argmin_{w ≥ 0} 1/R Σ_r Σ_i CE(softmax Σ_v w_v ℓ_vri, y_i) + λ |w - w⁰|²                       (C6)

ℓ_vri is channel v's log-probability of label i, held out in repeat r; only labels whose class has another one count,
since no channel can know the others. With few labels the weights stay near w⁰, which is equal for all channels but
`sizes` and `joint`: these have no weight unless labels ask for it. Weights need not sum to 1: their sum is the pool's
temperature.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from dccgcn.concord.settings import family
from dccgcn.kernels import spmm

_HELD_OUT = 60  # held-out predictions that repeats should make
_MOST_REPEATS = 8
_MOST_FOLDS = 5
_WITHOUT_PRIOR = ("sizes", "joint")
_LEAST_SUM = 1e-3  # of the weights, so that a pool without any information still has an order


def assign_folds(y: np.ndarray, seed: int) -> list[np.ndarray]:
    """Repeated stratified folds, (m,) each: as many as the largest class has labels, two to five."""
    rng = np.random.default_rng(seed)
    n_folds = int(np.clip(np.bincount(y).max(), 2, _MOST_FOLDS))
    folds = []
    for _ in range(int(np.clip(math.ceil(_HELD_OUT / len(y)), 1, _MOST_REPEATS))):
        order = rng.permutation(len(y))
        # classes in order of appearance, so that their names and numbers do not matter
        first = {j: at for at, j in reversed(list(enumerate(y[order])))}
        dealt = sorted(order, key=lambda i: first[y[i]])  # stable: random order within a class
        fold = np.empty(len(y), int)
        fold[dealt] = np.arange(len(y)) % n_folds
        folds.append(fold)
    return folds


def prior_weights(names: Sequence[str]) -> np.ndarray:
    """w⁰ of (C6), (channels,)."""
    counts = np.array([family(name) not in _WITHOUT_PRIOR for name in names], dtype=float)
    if not counts.any():
        counts[:] = 1
    return counts / counts.sum()


def stacking_weights(held_out: np.ndarray, y: np.ndarray, prior: np.ndarray, l2: float) -> np.ndarray:
    """w of (C6), (channels,). held_out: ℓ, (channels, repeats, m, classes); prior: w⁰; l2: λ."""
    n_channels, n_repeats = held_out.shape[:2]
    log_p = np.moveaxis(held_out, 0, -1).reshape(-1, held_out.shape[-1], n_channels).astype(np.float64)
    truth, rows = np.tile(y, n_repeats), np.arange(len(log_p))

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        p = softmax(log_p @ w)
        value = -np.log(np.maximum(p[rows, truth], 1e-300)).sum() / n_repeats + l2 * np.square(w - prior).sum()
        p[rows, truth] -= 1
        return value, np.einsum("ic,icv->v", p, log_p) / n_repeats + 2 * l2 * (w - prior)

    w = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=[(0, None)] * n_channels).x
    return w if w.sum() > _LEAST_SUM else _LEAST_SUM * prior


def cross_fitted_pool(
    held_out: np.ndarray, y: np.ndarray, counts: np.ndarray, folds: Sequence[np.ndarray], prior: np.ndarray, l2: float
) -> np.ndarray:
    """The pool's probabilities of each held-out label, with weights from the other folds, (repeats, m, classes).

    ``counts``: the labels that weights are fitted to, (m,).
    """
    pool = np.empty(held_out.shape[1:])
    for r, fold in enumerate(folds):
        for i in range(fold.max() + 1):
            out = fold == i
            others = counts & ~out
            w = stacking_weights(held_out[:, [r]][:, :, others], y[others], prior, l2)
            pool[r, out] = softmax(np.tensordot(w, held_out[:, r, out].astype(np.float64), 1))
    return pool


def log_opinion_pool(log_probs: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """F of (C6), (n, classes)."""
    total = np.zeros_like(log_probs[0])
    for log_p, weight in zip(log_probs, weights, strict=True):
        total += np.float32(weight) * log_p
    return softmax(total)


def smooth_pool(p: np.ndarray, mean: sp.csr_array, strength: float, n_steps: int) -> np.ndarray:
    """P ← (1-b) P0 + b M P on the feature graph, b the weight share of ``similar``, (n, classes)        (C7)"""
    smoothed = p
    for _ in range(n_steps if strength > 0 else 0):
        smoothed = np.float32(1 - strength) * p + np.float32(strength) * spmm(mean, smoothed)
    return smoothed


def softmax(scores: np.ndarray) -> np.ndarray:
    """Over the last axis."""
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return p
