"""Softmax regression by L-BFGS.

A run fits dozens of heads to a few hundred rows each: only the loops over their elements are compiled.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np

from dccgcn.features import combine
from dccgcn.kernels import softmax_rows

_MAX_STEPS = 60
_LOSS_TOL = 1e-4  # relative decrease of the loss at which the iteration stops
_GRADIENT_TOL = 1e-3  # largest entry of the gradient at which it stops
_MEMORY = 10  # pairs (s, y) kept
_ARMIJO = 1e-4  # required share of the decrease that the slope predicts
_MIN_STEP = 1e-10
_WIDE = 4  # columns per row from which the problem is solved in the span of the rows
_ALIGN = 8  # columns of a product are padded to a multiple: seven take twice as long as eight

_jit = numba.njit(cache=True, nogil=True)


def fit_head(z: np.ndarray, targets: np.ndarray, l2: float) -> np.ndarray:
    """(W; b) that minimises Σ_i CE(softmax(z_i W + b), y_i) + l2/2 |W|²                               (C3)

    Shapes: z (rows, r), targets (rows, classes) → (r + 1, classes), the bias last.
    """
    wide = _WIDE * len(z) < z.shape[1]
    span = np.linalg.qr(z.T)[0] if wide else None  # the optimal W lies in the span of the rows
    z = z.astype(np.float64)
    rows = np.column_stack([z if span is None else z @ span, np.ones(len(z))])
    target_sum = rows.T @ targets.astype(np.float64)  # the constant part of the gradient
    theta = _lbfgs(rows, target_sum, float(l2), np.zeros((rows.shape[1], targets.shape[1])))
    w = theta[:-1] if span is None else span @ theta[:-1]
    return np.vstack([w, theta[-1:]]).astype(np.float32)


def predict_proba(z: Sequence[np.ndarray], *heads: np.ndarray) -> np.ndarray:
    """softmax(z W + b) of each head, side by side, (n, heads · classes). z: column blocks, (n, width) each."""
    stacked = np.hstack(heads)
    padded = np.zeros((len(stacked) - 1, -(-stacked.shape[1] // _ALIGN) * _ALIGN), stacked.dtype)
    padded[:, : stacked.shape[1]] = stacked[:-1]
    return softmax_rows(combine(z, padded), stacked[-1], heads[0].shape[1])


def _lbfgs(rows: np.ndarray, target_sum: np.ndarray, l2: float, theta: np.ndarray) -> np.ndarray:
    """The minimiser of (C3). The loss is convex, so that s·y > 0 without a Wolfe condition."""
    pairs: list[_Pair] = []
    value, gradient = _loss(rows, target_sum, l2, theta)
    for _ in range(_MAX_STEPS):
        if np.abs(gradient).max() <= _GRADIENT_TOL:
            break
        direction = _direction(gradient, pairs)
        slope = np.dot(direction, gradient.reshape(-1))
        step = 1.0
        while True:  # backtracking line search
            trial = theta + step * direction.reshape(theta.shape)
            new_value, new_gradient = _loss(rows, target_sum, l2, trial)
            if new_value <= value + _ARMIJO * step * slope or step < _MIN_STEP:
                break
            # the minimum of the parabola through both values and the slope, within bounds
            lowest = -slope * step**2 / (2 * (new_value - value - slope * step))
            step = min(max(lowest, step / 10), step / 2)
        decrease = value - new_value
        if decrease < 0:
            break
        s, y = (trial - theta).reshape(-1), (new_gradient - gradient).reshape(-1)
        pairs = [*pairs[1 - _MEMORY :], _Pair(s, y, np.dot(s, y))]
        theta, value, gradient = trial, new_value, new_gradient
        if decrease <= _LOSS_TOL * max(abs(value), 1.0) or pairs[-1].sy <= 0:
            break
    return theta


class _Pair(NamedTuple):
    """A step and the change of the gradient along it."""

    s: np.ndarray
    y: np.ndarray
    sy: float


def _direction(gradient: np.ndarray, pairs: list[_Pair]) -> np.ndarray:
    """-H⁻¹ g by the two-loop recursion over the last pairs, flat; the first step has at most unit length."""
    direction = -gradient.reshape(-1)
    if not pairs:
        return direction / max(1.0, math.sqrt(np.dot(direction, direction)))
    coefficients = []
    for s, y, sy in reversed(pairs):
        coefficients.append(np.dot(s, direction) / sy)
        direction -= coefficients[-1] * y
    last = pairs[-1]
    direction *= last.sy / np.dot(last.y, last.y)
    for (s, y, sy), coefficient in zip(pairs, reversed(coefficients), strict=True):
        direction += (coefficient - np.dot(y, direction) / sy) * s
    return direction


def _loss(rows: np.ndarray, target_sum: np.ndarray, l2: float, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """(C3) at theta and its gradient. Σ_i y_i · scores_i = <target_sum, theta>."""
    p = rows @ theta
    value = _softmax_in_place(p)
    gradient = rows.T @ p
    return _add_linear_and_penalty(value, target_sum, l2, theta, gradient), gradient


@_jit
def _softmax_in_place(p):  # type: ignore[no-untyped-def]
    """From scores to probabilities, in place; returns Σ_i log Σ_j exp(scores_ij)."""
    value = 0.0
    for i in range(len(p)):
        top = p[i, 0]
        for j in range(p.shape[1]):
            top = max(top, p[i, j])
        mass = 0.0
        for j in range(p.shape[1]):
            p[i, j] = math.exp(p[i, j] - top)
            mass += p[i, j]
        value += math.log(mass) + top
        for j in range(p.shape[1]):
            p[i, j] /= mass
    return value


@_jit
def _add_linear_and_penalty(value, target_sum, l2, theta, gradient):  # type: ignore[no-untyped-def]
    """Add l2/2 |W|² - <target_sum, theta> to the value, which is returned, and to the gradient."""
    for a in range(theta.shape[0]):
        penalty = l2 if a < theta.shape[0] - 1 else 0.0  # none on the bias
        for j in range(theta.shape[1]):
            gradient[a, j] += penalty * theta[a, j] - target_sum[a, j]
            value += (penalty * theta[a, j] / 2 - target_sum[a, j]) * theta[a, j]
    return value
