"""Softmax regression: what turns a representation into an answer."""

import numpy as np
from scipy.optimize import minimize


def fit_head(
    z: np.ndarray, targets: np.ndarray, weights: np.ndarray, ridge: float, start: np.ndarray | None = None
) -> np.ndarray:
    """(W; b) that minimises Σ_i w_i CE(softmax(z_i W + b), y_i) + ridge/2 |W|²                       (C4)

    Shapes: z (rows, r), targets (rows, classes), weights (rows,) → (r + 1, classes), the bias last. The search begins
    at ``start``, a head for slightly other labels, where there is one.
    """
    z = z.astype(np.float64)
    span = np.linalg.qr(z.T)[0] if len(z) < z.shape[1] else None  # W lies in the span of few rows: a smaller problem
    rows = np.column_stack([z if span is None else z @ span, np.ones(len(z))])
    shape = (rows.shape[1], targets.shape[1])
    penalty = np.full((shape[0], 1), ridge)
    penalty[-1] = 0
    targets, weights = targets.astype(np.float64), weights[:, None]
    goal = rows.T @ (weights * targets)  # the part of the gradient that stays
    first = np.zeros(shape)
    if start is not None:
        first = np.vstack([start[:-1] if span is None else span.T @ start[:-1], start[-1:]]).astype(np.float64)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        theta = flat.reshape(shape)
        score = rows @ theta
        score -= score.max(axis=1, keepdims=True)
        p = np.exp(score)
        mass = p.sum(axis=1, keepdims=True)
        p *= weights / mass
        pull = penalty * theta
        value = (weights * np.log(mass)).sum() - (weights * targets * score).sum() + (pull * theta).sum() / 2
        return float(value), (rows.T @ p - goal + pull).ravel()

    options = {"maxiter": 60, "ftol": 1e-5, "gtol": 1e-3}
    found = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options=options)
    theta = found.x.reshape(shape)
    weight = theta[:-1] if span is None else span @ theta[:-1]
    return np.vstack([weight, theta[-1:]]).astype(np.float32)


def answer(z: np.ndarray, head: np.ndarray) -> np.ndarray:
    """softmax(z W + b), (n, classes)."""
    score = z @ head[:-1] + head[-1]
    score -= score.max(axis=1, keepdims=True)
    p = np.exp(score, out=score)
    p /= p.sum(axis=1, keepdims=True)
    return np.asarray(p)
