"""Softmax regression: what turns a representation into an answer.

A run fits dozens of heads to a few hundred rows each. Between the products of one step there is too little work to go
back to Python for, so the search is compiled as a whole.
"""

import math

import numba
import numpy as np

from dccgcn.kernels import softmax_rows

_STEPS = 60  # at most
_FLAT = 1e-4  # a step that gains less, relative to the loss, is the last
_LEVEL = 1e-3  # a gradient without a larger entry is none
_MEMORY = 10  # steps that tell the curvature
_DESCENT = 1e-4  # of what the slope promises, so much must be gained
_FEW = 4  # so many directions for each row, and their span is worth finding
_EVEN = 8  # columns: a product with seven takes twice as long
_LEAST = 1e-10  # a step shorter than that gains nothing that numbers could tell

_jit = numba.njit(cache=True, nogil=True)


def fit_head(
    z: np.ndarray, targets: np.ndarray, weights: np.ndarray, ridge: float, start: np.ndarray | None = None
) -> np.ndarray:
    """(W; b) that minimises Σ_i w_i CE(softmax(z_i W + b), y_i) + ridge/2 |W|²                       (C4)

    Shapes: z (rows, r), targets (rows, classes), weights (rows,) → (r + 1, classes), the bias last. The search begins
    at ``start``, a head for slightly other labels, where there is one.
    """
    few = _FEW * len(z) < z.shape[1]
    span = np.linalg.qr(z.T)[0] if few else None  # W lies in the span of few rows: a smaller problem
    z = z.astype(np.float64)
    rows = np.column_stack([z if span is None else z @ span, np.ones(len(z))])
    weights = weights.astype(np.float64)
    goal = rows.T @ (weights[:, None] * targets)  # the part of the gradient that stays
    theta = np.zeros((rows.shape[1], targets.shape[1]))
    if start is not None:
        theta = np.vstack([start[:-1] if span is None else span.T @ start[:-1], start[-1:]]).astype(np.float64)
    found = _minimised(rows, weights, goal, float(ridge), np.ascontiguousarray(theta))
    weight = found[:-1] if span is None else span @ found[:-1]
    return np.vstack([weight, found[-1:]]).astype(np.float32)


def answer(z: np.ndarray, *heads: np.ndarray) -> np.ndarray:
    """softmax(z W + b) of each head, side by side, (n, heads · classes)."""
    both = np.hstack(heads)
    wide = np.zeros((len(both) - 1, -(-both.shape[1] // _EVEN) * _EVEN), both.dtype)
    wide[:, : both.shape[1]] = both[:-1]
    return softmax_rows(z @ wide, both[-1], heads[0].shape[1])


@_jit
def _loss(rows, weights, goal, ridge, theta, p, gradient):  # type: ignore[no-untyped-def]
    """(C4) at theta, and its gradient. Targets are distributions, so that Σ_i w_i y_i·score_i = <goal, theta>."""
    np.dot(rows, theta, p)
    value = 0.0
    for i in range(len(p)):
        top = p[i].max()
        mass = 0.0
        for j in range(p.shape[1]):
            p[i, j] = math.exp(p[i, j] - top)
            mass += p[i, j]
        value += weights[i] * (math.log(mass) + top)
        p[i] *= weights[i] / mass
    np.dot(rows.T, p, gradient)
    for a in range(theta.shape[0]):
        pull = ridge if a < theta.shape[0] - 1 else 0.0  # the bias is free
        for j in range(theta.shape[1]):
            gradient[a, j] += pull * theta[a, j] - goal[a, j]
            value += (pull * theta[a, j] / 2 - goal[a, j]) * theta[a, j]
    return value


@_jit
def _direction(gradient, known, moves, turns, curvature):  # type: ignore[no-untyped-def]
    """Minus the gradient, by the inverse curvature that the last steps tell; its length at first is one at most."""
    direction = -gradient.copy().reshape(gradient.size)
    if known == 0:
        return direction / max(1.0, math.sqrt(np.dot(direction, direction)))
    recent = min(known, _MEMORY)
    share = np.empty(_MEMORY)
    for step in range(known - 1, known - recent - 1, -1):
        m = step % _MEMORY
        share[m] = np.dot(moves[m], direction) / curvature[m]
        direction -= share[m] * turns[m]
    last = (known - 1) % _MEMORY
    direction *= curvature[last] / np.dot(turns[last], turns[last])
    for step in range(known - recent, known):
        m = step % _MEMORY
        direction += (share[m] - np.dot(turns[m], direction) / curvature[m]) * moves[m]
    return direction


@_jit
def _minimised(rows, weights, goal, ridge, theta):  # type: ignore[no-untyped-def]
    """L-BFGS. The loss is convex, so that every step tells a curvature that is positive."""
    size = theta.size
    moves, turns, curvature = np.empty((_MEMORY, size)), np.empty((_MEMORY, size)), np.empty(_MEMORY)
    p, gradient, new_gradient = np.empty((len(rows), theta.shape[1])), np.empty_like(theta), np.empty_like(theta)
    value = _loss(rows, weights, goal, ridge, theta, p, gradient)
    for known in range(_STEPS):
        if np.abs(gradient).max() <= _LEVEL:
            break
        direction = _direction(gradient, known, moves, turns, curvature)
        slope = np.dot(direction, gradient.reshape(size))
        step = 1.0
        while True:
            trial = theta + step * direction.reshape(theta.shape)
            reached = _loss(rows, weights, goal, ridge, trial, p, new_gradient)
            if reached <= value + _DESCENT * step * slope or step < _LEAST:
                break
            # to where the parabola through both values and the slope is lowest, within reason
            lowest = -slope * step**2 / (2 * (reached - value - slope * step))
            step = min(max(lowest, step / 10), step / 2)
        gain = value - reached
        if gain < 0:
            break
        m = known % _MEMORY
        moves[m], turns[m] = (trial - theta).reshape(size), (new_gradient - gradient).reshape(size)
        curvature[m] = np.dot(moves[m], turns[m])
        theta, value = trial, reached
        gradient, new_gradient = new_gradient, gradient
        if gain <= _FLAT * max(abs(value), 1.0) or curvature[m] <= 0:
            break
    return theta
