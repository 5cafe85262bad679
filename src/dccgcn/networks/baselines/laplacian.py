"""Linear systems with the graph Laplacian L = D - A, for any graph.

L is singular: solutions are unique up to a constant in each connected component, so everything here goes component by
component. Nodes of a component without labels get uniform probabilities.
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

    index: np.ndarray  # (n,) component of each node
    members: sp.csr_array  # (components, n) indicator matrix, for sums over components
    class_present: np.ndarray  # (n, c) whether a node's component has a label of the class

    @classmethod
    def find(cls, adjacency: sp.csr_array, train: np.ndarray, onehot: np.ndarray) -> "Components":
        """The components of a graph whose nodes ``train`` have the labels ``onehot``, (train, c)."""
        number, index = connected_components(adjacency, directed=False)
        n = len(index)
        members = sp.csr_array((np.ones(n), (index, np.arange(n))), shape=(number, n))
        return cls(index, members, (members[:, train] @ onehot > 0)[index])

    @property
    def any_label(self) -> np.ndarray:
        """(n,) whether a node's component has any label."""
        return np.asarray(self.class_present.any(axis=1))

    def mean(self, values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Weighted mean of each column over each node's component, (n, columns); weights (n,), 0/0 is 0."""
        w = np.ones(len(self.index)) if weights is None else weights
        total = (self.members @ w)[:, None]
        means = (self.members @ (values * w[:, None])) / np.where(total > 0, total, 1)
        return means[self.index]

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Softmax of scores over the classes with a label in the component, after division by their deviation there.

        Scores have an arbitrary scale, so these are a ranking in the form of probabilities. Without any label they are
        uniform. Shapes: (n, c) → (n, c).
        """
        known = np.where(self.class_present, scores, 0)
        classes = np.maximum(self.class_present.sum(axis=1, keepdims=True), 1)
        centred = np.where(self.class_present, known - known.sum(axis=1, keepdims=True) / classes, 0)
        deviation = np.sqrt(self.mean(np.square(centred).sum(axis=1, keepdims=True) / classes))
        centred /= np.where(deviation > 0, deviation, 1)
        weights = np.where(self.class_present, np.exp(centred - centred.max(axis=1, keepdims=True)), 0)
        weights[~self.any_label] = 1
        return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)

    def findings(self, graph: NodeGraph) -> tuple[Finding, ...]:
        """Which nodes have no label in their component."""
        nodes = np.flatnonzero(~self.any_label)
        if len(nodes) == 0:
            return ()
        text = (
            f"{len(nodes)} nodes have no path to a label and get uniform probabilities: {first_few(graph.ids[nodes])}."
        )
        return (Finding("warning", "uniform-nodes", text),)


def one_hot(graph: NodeGraph, train: np.ndarray) -> np.ndarray:
    """Labels of the training nodes, (train, c)."""
    return np.eye(graph.c)[graph.labels[train]]


def laplacian(adjacency: sp.csr_array) -> sp.csr_array:
    """D - A in double precision."""
    a = sp.csr_array(adjacency, dtype=np.float64)
    return sp.csr_array(sp.diags_array(np.asarray(a.sum(axis=1)).reshape(-1)) - a)


def shifted_laplacian(adjacency: sp.csr_array, alpha: float) -> sp.csr_array:
    """D - A + αI, whose inverse P holds the absorption probabilities of a random walk (Wu et al., NIPS 2012).

    A constant on a component is an eigenvector with the tiny eigenvalue α: subtract the mean before solving, or all
    precision is lost.
    """
    matrix = laplacian(adjacency)
    matrix.setdiag(matrix.diagonal() + alpha)
    return matrix


def conjugate_gradients(matrix: sp.csr_array, b: np.ndarray, tolerance: float = 1e-10) -> np.ndarray:
    """Solve matrix @ x = b, column by column, preconditioned by the diagonal.

    The matrix is symmetric and positive semi-definite; if it is singular, b must be in its range. A column has
    converged when its residual relative to b is below the tolerance. Shapes: (n, n), (n, columns) → (n, columns).
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
    target = tolerance**2 * _dots(b, b)
    max_steps = 10 * len(b) + 1000  # exact arithmetic needs at most len(b)
    for _ in range(max_steps):
        active = _dots(r, r) > target
        if not active.any():
            return x
        q = matrix @ p
        curvature = _dots(p, q)
        step = np.divide(rz, curvature, out=np.zeros_like(rz), where=active & (curvature > 0))
        x += step * p
        r -= step * q
        z = scale * r
        rz, rz_before = _dots(r, z), rz
        p *= np.divide(rz, rz_before, out=np.zeros_like(rz), where=active)
        p += z
    raise TrainingError(f"Conjugate gradients did not converge in {max_steps} steps.", "Raise the tolerance.")


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", a, b)  # of each pair of columns, without a temporary product
