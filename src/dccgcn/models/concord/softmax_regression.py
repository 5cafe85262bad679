"""Softmax regression by L-BFGS, compiled as a whole.

A run fits dozens of heads to a few hundred rows each; returning to Python between the small products would dominate.
"""

import math
from collections.abc import Sequence

import numba
import numpy as np

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


def fit_head(z: np.ndarray, targets: np.ndarray, l2: float, start: np.ndarray | None = None) -> np.ndarray:
    """(W; b) that minimises Σ_i CE(softmax(z_i W + b), y_i) + l2/2 |W|²                               (C3)

    Shapes: z (rows, r), targets (rows, classes) → (r + 1, classes), the bias last. ``start`` is a warm start, such as
    the head of one label less.
    """
    wide = _WIDE * len(z) < z.shape[1]
    span = np.linalg.qr(z.T)[0] if wide else None  # the optimal W lies in the span of the rows
    z = z.astype(np.float64)
    rows = np.column_stack([z if span is None else z @ span, np.ones(len(z))])
    target_sum = rows.T @ targets.astype(np.float64)  # the constant part of the gradient
    theta = np.zeros((rows.shape[1], targets.shape[1]))
    if start is not None:
        theta = np.vstack([start[:-1] if span is None else span.T @ start[:-1], start[-1:]]).astype(np.float64)
    theta = _lbfgs(rows, target_sum, float(l2), np.ascontiguousarray(theta))
    w = theta[:-1] if span is None else span @ theta[:-1]
    return np.vstack([w, theta[-1:]]).astype(np.float32)


def predict_proba(z: Sequence[np.ndarray], *heads: np.ndarray) -> np.ndarray:
    """softmax(z W + b) of each head, side by side, (n, heads · classes). z: column blocks, (n, width) each."""
    stacked = np.hstack(heads)
    padded = np.zeros((len(stacked) - 1, -(-stacked.shape[1] // _ALIGN) * _ALIGN), stacked.dtype)
    padded[:, : stacked.shape[1]] = stacked[:-1]
    blocks = np.split(padded, np.cumsum([part.shape[1] for part in z])[:-1])
    scores = z[0] @ blocks[0]
    for part, block in zip(z[1:], blocks[1:], strict=True):
        scores += part @ block
    return softmax_rows(scores, stacked[-1], heads[0].shape[1])


@_jit
def _loss(rows, target_sum, l2, theta, p, gradient):  # type: ignore[no-untyped-def]
    """(C3) at theta; p and the gradient are overwritten. Σ_i y_i · scores_i = <target_sum, theta>."""
    np.dot(rows, theta, p)
    value = 0.0
    for i in range(len(p)):
        top = p[i].max()
        mass = 0.0
        for j in range(p.shape[1]):
            p[i, j] = math.exp(p[i, j] - top)
            mass += p[i, j]
        value += math.log(mass) + top
        p[i] /= mass
    np.dot(rows.T, p, gradient)
    for a in range(theta.shape[0]):
        penalty = l2 if a < theta.shape[0] - 1 else 0.0  # none on the bias
        for j in range(theta.shape[1]):
            gradient[a, j] += penalty * theta[a, j] - target_sum[a, j]
            value += (penalty * theta[a, j] / 2 - target_sum[a, j]) * theta[a, j]
    return value


@_jit
def _direction(gradient, n_pairs, s, y, sy):  # type: ignore[no-untyped-def]
    """-H⁻¹ g by the two-loop recursion over the last pairs; the first step has at most unit length."""
    direction = -gradient.copy().reshape(gradient.size)
    if n_pairs == 0:
        return direction / max(1.0, math.sqrt(np.dot(direction, direction)))
    recent = min(n_pairs, _MEMORY)
    coefficient = np.empty(_MEMORY)
    for step in range(n_pairs - 1, n_pairs - recent - 1, -1):
        m = step % _MEMORY
        coefficient[m] = np.dot(s[m], direction) / sy[m]
        direction -= coefficient[m] * y[m]
    last = (n_pairs - 1) % _MEMORY
    direction *= sy[last] / np.dot(y[last], y[last])
    for step in range(n_pairs - recent, n_pairs):
        m = step % _MEMORY
        direction += (coefficient[m] - np.dot(y[m], direction) / sy[m]) * s[m]
    return direction


@_jit
def _lbfgs(rows, target_sum, l2, theta):  # type: ignore[no-untyped-def]
    """The minimiser of (C3). The loss is convex, so that s·y > 0 without a Wolfe condition."""
    size = theta.size
    s, y, sy = np.empty((_MEMORY, size)), np.empty((_MEMORY, size)), np.empty(_MEMORY)
    p, gradient, new_gradient = np.empty((len(rows), theta.shape[1])), np.empty_like(theta), np.empty_like(theta)
    value = _loss(rows, target_sum, l2, theta, p, gradient)
    for n_pairs in range(_MAX_STEPS):
        if np.abs(gradient).max() <= _GRADIENT_TOL:
            break
        direction = _direction(gradient, n_pairs, s, y, sy)
        slope = np.dot(direction, gradient.reshape(size))
        step = 1.0
        while True:  # backtracking line search
            trial = theta + step * direction.reshape(theta.shape)
            new_value = _loss(rows, target_sum, l2, trial, p, new_gradient)
            if new_value <= value + _ARMIJO * step * slope or step < _MIN_STEP:
                break
            # the minimum of the parabola through both values and the slope, within bounds
            lowest = -slope * step**2 / (2 * (new_value - value - slope * step))
            step = min(max(lowest, step / 10), step / 2)
        decrease = value - new_value
        if decrease < 0:
            break
        m = n_pairs % _MEMORY
        s[m], y[m] = (trial - theta).reshape(size), (new_gradient - gradient).reshape(size)
        sy[m] = np.dot(s[m], y[m])
        theta, value = trial, new_value
        gradient, new_gradient = new_gradient, gradient
        if decrease <= _LOSS_TOL * max(abs(value), 1.0) or sy[m] <= 0:
            break
    return theta
