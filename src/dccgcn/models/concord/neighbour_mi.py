"""Accord: heads whose answers neighbours bear out, on all nodes, labelled or not.

    J = Pᵀ A P / Σ A,   I = Σ_jk J_jk log(J_jk / (a_j a_k)) + Σ_j a_j log(C ψ_j),   a = J 1              (C5)

J_jk is how often an edge joins an answer j to an answer k, I what one end of an edge tells of the other: nothing where
all answers are alike or given at random, most where classes are many, sure, and rarely joined to others. Labels alone
leave most of a head open while they are few; of the heads that fit them, those are preferred whose classes the graph
can be seen to have. I is also log C less the entropy of a neighbour's answer given a node's own, less the divergence of
a from ψ, by which the C classes are expected (C12): 1/C if nothing is known of that, and then the last sum is 0.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numba
import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from dccgcn.kernels import sparse_times
from dccgcn.models.concord.softmax_regression import answer

if TYPE_CHECKING:
    from dccgcn.models.concord.members import Labels

_LEAST = 1e-9  # a probability below counts as that


def attuned(head: np.ndarray, loss_at: Callable[[np.ndarray], tuple[float, np.ndarray]], steps: int) -> np.ndarray:
    """A head near the one given with a lower loss. A few steps are enough: other labels follow in the next round."""

    def at(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = loss_at(theta.reshape(head.shape).astype(np.float32))
        return value, slope.astype(np.float64).reshape(-1)

    start = head.astype(np.float64).reshape(-1)
    found = minimize(at, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
    return np.asarray(found.reshape(head.shape), dtype=np.float32)


def loss(
    z: np.ndarray,
    head: np.ndarray,
    a: sp.csr_array,
    weight: float,
    labels: "Labels",
    ridge: float,
    frequent: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """Σ_i w_i CE(p_i, y_i) + ridge/2 |W|² - weight · I, where P = softmax(z W + b), and its gradient.

    Shapes: z (n, r), head (r + 1, classes), a (n, n) → (r + 1, classes).
    """
    p = answer(z, head)
    told, slope = mutual_information(a, p, frequent)
    slope *= np.float32(-weight)
    _by_scores(p, slope)
    own = p[labels.nodes]
    slope[labels.nodes] += (labels.weights[:, None] * (own - labels.targets)).astype(np.float32)
    value = -weight * told + ridge / 2 * float((head[:-1] ** 2).sum())
    value -= float(labels.weights @ (labels.targets * np.log(np.maximum(own, _LEAST))).sum(axis=1))
    return value, np.vstack([(slope.T @ z).T + np.float32(ridge) * head[:-1], np.ones(len(z), np.float32) @ slope])


def mutual_information(a: sp.csr_array, p: np.ndarray, frequent: np.ndarray | None = None) -> tuple[float, np.ndarray]:
    """I of (C5), and its derivative by P but for what moves all classes of a node alike, (n, classes).

    ``frequent`` is C ψ, (classes,).
    """
    edges = float(a.data.sum())
    if edges == 0:
        return 0.0, np.zeros_like(p)
    around = sparse_times(a, p)
    joint = np.maximum(p.T @ around / edges, _LEAST)
    share = np.log(joint.sum(axis=1))
    told = np.log(joint) - share[:, None] - share
    if frequent is not None:
        told += np.log(frequent)[:, None] / 2 + np.log(frequent) / 2  # Σ_j a_j log(C ψ_j), by either end of an edge
    return float((joint * told).sum()), around @ (2 / edges * told).astype(np.float32)


@numba.njit(cache=True, nogil=True, parallel=True)
def _by_scores(p, slope):  # type: ignore[no-untyped-def]
    """From a derivative by softmax(scores) to the one by the scores, in place."""
    for i in numba.prange(len(p)):
        mean = p.dtype.type(0)
        for j in range(p.shape[1]):
            mean += p[i, j] * slope[i, j]
        for j in range(p.shape[1]):
            slope[i, j] = p[i, j] * (slope[i, j] - mean)
