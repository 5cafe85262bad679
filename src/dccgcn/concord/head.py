"""Softmax regression: what turns a representation into an answer."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax


def fit_head(z: np.ndarray, targets: np.ndarray, weights: np.ndarray, ridge: float) -> np.ndarray:
    """(W; b) that minimises Σ_i w_i CE(softmax(z_i W + b), y_i) + ridge/2 |W|²                       (C3)

    Shapes: z (rows, r), targets (rows, classes), weights (rows,) → (r + 1, classes), the bias last.
    """
    z = z.astype(np.float64)
    span = np.linalg.qr(z.T)[0] if len(z) < z.shape[1] else None  # W lies in the span of few rows: a smaller problem
    rows = np.column_stack([z if span is None else z @ span, np.ones(len(z))])
    shape = (rows.shape[1], targets.shape[1])
    penalty = np.full((shape[0], 1), ridge)
    penalty[-1] = 0

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        theta = flat.reshape(shape)
        log_p = log_softmax(rows @ theta, axis=1)
        gradient = rows.T @ (weights[:, None] * (np.exp(log_p) - targets)) + penalty * theta
        return float(-(weights[:, None] * targets * log_p).sum() + (penalty * theta**2).sum() / 2), gradient.ravel()

    found = minimize(
        loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 60, "ftol": 1e-5, "gtol": 1e-3}
    )
    theta = found.x.reshape(shape)
    weight = theta[:-1] if span is None else span @ theta[:-1]
    return np.vstack([weight, theta[-1:]]).astype(np.float32)


def answer(z: np.ndarray, head: np.ndarray) -> np.ndarray:
    """softmax(z W + b), (n, classes)."""
    return np.asarray(softmax(z @ head[:-1] + head[-1], axis=1), dtype=np.float32)
