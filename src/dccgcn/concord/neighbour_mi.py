"""Mutual information of neighbours' predictions: a semi-supervised loss for the heads.

    J = Pᵀ A P / Σ A,   I = Σ_jk J_jk log(J_jk / (a_j a_k)),   a = J 1                               (C4)

J_jk is the share of edges between predictions j and k, I the mutual information of the predictions at both ends of an
edge. It is 0 for constant or random predictions, and largest for confident, numerous classes that edges respect. With
few labels many heads fit; I prefers those whose classes the graph supports.
"""

from collections.abc import Callable

import numba
import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from dccgcn.concord.labels import Labels
from dccgcn.concord.softmax_regression import predict_proba
from dccgcn.features import combine, cross
from dccgcn.kernels import over_rows, softmax_rows, sparse_times
from dccgcn.runtime import all_rows, column_sum, first_row, owned, row_count, take_rows

_EPSILON = 1e-9  # smallest probability in a logarithm
_MOST_ROWS = 20_000  # from which a mean confidence is taken


def refine_head(head: np.ndarray, loss: Callable[[np.ndarray], tuple[float, np.ndarray]], n_steps: int) -> np.ndarray:
    """The head after at most ``n_steps`` of L-BFGS on a loss that returns its value and gradient."""

    def flat_loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = loss(theta.reshape(head.shape).astype(np.float32))
        return value, gradient.astype(np.float64).reshape(-1)

    start = head.astype(np.float64).reshape(-1)
    theta = minimize(flat_loss, start, jac=True, method="L-BFGS-B", options={"maxiter": n_steps}).x
    return np.asarray(theta.reshape(head.shape), dtype=np.float32)


def mi_loss(
    z: np.ndarray,
    head: np.ndarray,
    *,
    adjacency: sp.csr_array,
    weight: float,
    labels: Labels,
    l2: float,
) -> tuple[float, np.ndarray]:
    """(C3): Σ_i CE(p_i, y_i) + l2/2 |W|² - weight · I with P = softmax(z W + b), and its gradient.

    Shapes: z (n, r), head (r + 1, classes), adjacency (n, n) → gradient (r + 1, classes).
    """
    p = predict_proba([z], head)
    information, gradient = mutual_information(adjacency, p)
    gradient *= np.float32(-weight)
    over_rows(_softmax_backward, len(p), p, gradient)
    which, at = owned(labels.nodes)
    gradient[at] += p[at] - labels.targets[which]
    p_labelled = take_rows(p, labels.nodes)
    value = -weight * information + l2 / 2 * float((head[:-1] ** 2).sum())
    value -= float((labels.targets * np.log(np.maximum(p_labelled, _EPSILON))).sum())
    to_weights = cross(gradient, z).T + l2 * head[:-1]
    return value, np.vstack([to_weights, column_sum(gradient)])


def scale_to_confidence(z: np.ndarray, head: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The head times a factor such that its predictions are in the mean as confident as those of the other head."""
    step = -(-row_count(len(z)) // _MOST_ROWS)
    rows = all_rows(z[-first_row() % step :: step])
    scores, none = rows @ head[:-1] + head[-1], np.zeros(head.shape[1], np.float32)

    def confidence(log_factor: float) -> float:
        return float(softmax_rows(scores * np.float32(np.exp(log_factor)), none, head.shape[1]).max(axis=1).mean())

    target, low, high = float(predict_proba([rows], other).max(axis=1).mean()), -8.0, 8.0
    for _ in range(20):  # bisection
        middle = (low + high) / 2
        low, high = (middle, high) if confidence(middle) < target else (low, middle)
    return head * np.float32(np.exp(low))


def mutual_information(adjacency: sp.csr_array, p: np.ndarray) -> tuple[float, np.ndarray]:
    """I of (C4) and its gradient by P up to a constant per row, (n, classes)."""
    total = float(column_sum(np.asarray(adjacency.sum(axis=1)).reshape(-1)))
    if total == 0:
        return 0.0, np.zeros_like(p)
    neighbour_sum = sparse_times(adjacency, p)
    joint = np.maximum(cross(p, neighbour_sum) / total, _EPSILON)
    log_marginal = np.log(joint.sum(axis=1))
    log_ratio = np.log(joint) - log_marginal[:, None] - log_marginal
    gradient = combine([neighbour_sum], (2 / total * log_ratio).astype(np.float32))
    return float((joint * log_ratio).sum()), gradient


@numba.njit(cache=True, nogil=True)
def _softmax_backward(first, last, p, gradient):  # type: ignore[no-untyped-def]
    """From the gradient by softmax(scores) to the gradient by the scores, in place."""
    for i in range(first, last):
        mean = p.dtype.type(0)
        for j in range(p.shape[1]):
            mean += p[i, j] * gradient[i, j]
        for j in range(p.shape[1]):
            gradient[i, j] = p[i, j] * (gradient[i, j] - mean)
