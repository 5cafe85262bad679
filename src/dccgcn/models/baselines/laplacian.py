"""What methods that solve with the Laplacian L = D - A share.

L is singular: a potential is known up to a constant in each connected component. Everything here goes component by
component, so it works on any graph; a component without a label has nothing to say.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dccgcn.errors import Finding, TrainingError
from dccgcn.graph import NodeGraph
from dccgcn.text import first_few

_BLOCK = 16  # columns solved for at once, few enough to stay in the cache; results do not depend on it


@dataclass(frozen=True, eq=False)
class Components:
    """The connected components of a graph, and which classes have labels in each."""

    of: np.ndarray  # (n,) number of each node's component
    members: sp.csr_array  # (components, n) of ones: sums over components
    present: np.ndarray  # (n, c) whether a node's component holds a label of the class

    @classmethod
    def find(cls, adjacency: sp.csr_array, train: np.ndarray, onehot: np.ndarray) -> "Components":
        """The components of a graph whose nodes ``train`` have these labels, (train, c)."""
        number, of = connected_components(adjacency, directed=False)
        n = len(of)
        members = sp.csr_array((np.ones(n), (of, np.arange(n))), shape=(number, n))
        present = (members[:, train] @ onehot > 0)[of]
        return cls(of, members, present)

    @property
    def reached(self) -> np.ndarray:
        """(n,) whether any label is in a node's component."""
        return np.asarray(self.present.any(axis=1))

    def mean(self, values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Of each column over each node's component, (n, columns); weights (n,), 0/0 counts as 0."""
        w = np.ones(len(self.of)) if weights is None else weights
        total = (self.members @ w)[:, None]
        means = (self.members @ (values * w[:, None])) / np.where(total > 0, total, 1)
        return means[self.of]

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Softmax of scores, in units of their spread within the component, over the classes that have a label there.

        Potentials have no scale of their own, so this is a ranking in the form of probabilities. Where there is no
        label, they are uniform.
        """
        known = np.where(self.present, scores, 0)
        choice = np.maximum(self.present.sum(axis=1, keepdims=True), 1)  # number of classes
        gap = np.where(self.present, known - known.sum(axis=1, keepdims=True) / choice, 0)
        spread = np.sqrt(self.mean(np.square(gap).sum(axis=1, keepdims=True) / choice))
        gap /= np.where(spread > 0, spread, 1)
        weights = np.where(self.present, np.exp(gap - gap.max(axis=1, keepdims=True)), 0)
        weights[~self.reached] = 1
        return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)

    def findings(self, graph: NodeGraph) -> tuple[Finding, ...]:
        """Which nodes no label reaches."""
        lost = np.flatnonzero(~self.reached)
        if len(lost) == 0:
            return ()
        text = (
            f"No label reaches {len(lost)} nodes, whose classes are all equally probable: {first_few(graph.ids[lost])}."
        )
        return (Finding("warning", "uniform-nodes", text),)


def one_hot(graph: NodeGraph, train: np.ndarray) -> np.ndarray:
    """Labels of the training nodes, (train, c)."""
    return np.eye(graph.c)[graph.labels[train]]


def laplacian(adjacency: sp.csr_array) -> sp.csr_array:
    """D - A in double precision."""
    a = sp.csr_array(adjacency, dtype=np.float64)
    return sp.csr_array(sp.diags_array(np.asarray(a.sum(axis=1)).reshape(-1)) - a)


def absorbing(adjacency: sp.csr_array, alpha: float) -> sp.csr_array:
    """D - A + αI, whose inverse P are the absorption probabilities of a random walk (Wu et al., NIPS 2012).

    α is tiny and the constant on a component an eigenvector with eigenvalue α: take the mean off before solving, or it
    costs all precision.
    """
    matrix = laplacian(adjacency)
    matrix.setdiag(matrix.diagonal() + alpha)
    return matrix


def conjugate_gradients(matrix: sp.csr_array, b: np.ndarray, tolerance: float = 1e-10) -> np.ndarray:
    """x with matrix @ x = b, column by column, preconditioned by the diagonal.

    The matrix is symmetric and positive semi-definite; if it is singular, b must be in its range. A column is done when
    its residual is this small relative to b.
    """
    x = np.empty_like(b)
    for start in range(0, b.shape[1], _BLOCK):
        x[:, start : start + _BLOCK] = _solve(matrix, b[:, start : start + _BLOCK], tolerance)
    return x


def _solve(matrix: sp.csr_array, b: np.ndarray, tolerance: float) -> np.ndarray:
    diagonal = matrix.diagonal()[:, None]
    scale = 1 / np.where(diagonal > 0, diagonal, 1)
    x, r = np.zeros_like(b), b.copy()
    p = scale * r
    rz = _dots(r, p)
    enough = tolerance**2 * _dots(b, b)
    most = 10 * len(b) + 1000  # exact arithmetic needs at most len(b)
    for _ in range(most):
        active = _dots(r, r) > enough
        if not active.any():
            return x
        q = matrix @ p
        curvature = _dots(p, q)
        step = np.divide(rz, curvature, out=np.zeros_like(rz), where=active & (curvature > 0))
        x += step * p
        r -= step * q
        z = scale * r
        rz, before = _dots(r, z), rz
        p *= np.divide(rz, before, out=np.zeros_like(rz), where=active)
        p += z
    raise TrainingError(f"Conjugate gradients did not converge in {most} steps.", "Raise the tolerance.")


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", a, b)  # column by column, without a temporary product
