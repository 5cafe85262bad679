"""Linear systems with the graph Laplacian L = D - A, for any graph.

L is singular: solutions are unique up to a constant in each connected component, so everything here goes component by
component. Nodes of a component without labels get uniform probabilities.

Label propagation in the three variants in use. None of them uses features.

lp            F ← D^-1 A F with labelled rows reset to Y, until convergence (Zhu, Ghahramani & Lafferty, ICML 2003).
              The limit is the harmonic function L_uu F_u = A_ul Y_l, which is solved for. With few labels it is nearly
              constant, and its largest class that of a well-connected label; class mass normalisation, of the same
              paper, is the remedy: each class is scaled to a share of the unlabelled nodes. Shares are equal by
              default: those of few labels mislead, since 4 labels against 3 and 3 already give nearly every node to
              the first class where the function is nearly constant.
lp-absorption P = (L + αI)^-1; a node takes the class of the labelled node with the largest entry in its row
              (partially absorbing random walks, Wu et al., NIPS 2012, as used by Li et al., AAAI 2018).
lp-series     F = a/(1+a) Σ_{k<K} (S/(1+a))^k Y with S = D̃^-1/2 (A+I) D̃^-1/2 (as in the code of Li et al., CVPR 2019).

Poisson learning (Calder et al., ICML 2020): L u = Σ_j (y_j - ȳ) δ_j with Σ_i d_i u_i = 0; the class is argmax u.

Labels are sources of their class and sinks of the others instead of boundary values, so that u is not nearly constant
when labels are few. L is that of the topology or of the feature graph. Sources must sum to zero in each connected
component for a solution to exist, so ȳ is the mean label of the component.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from scipy.sparse.csgraph import connected_components

from dccgcn.errors import Finding, TrainingError
from dccgcn.features import knn_operator, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.kernels import spmm
from dccgcn.methods import Method, Prediction, Task
from dccgcn.settings import Settings, count, rate
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


BLOCK = 64  # labelled nodes whose columns of P are solved for at once; results do not depend on it


class LpSettings(Settings):
    """Zhu et al. (2003) have no numbers to set."""

    class_mass: Literal["equal", "labels", "none"] = Field(
        "equal",
        description="Share of the nodes that each class is scaled to: equal, its share of the labels, or no scaling.",
    )
    tolerance: float = rate(1e-10, "Relative residual at which the solution counts as converged.")


class AbsorptionSettings(Settings):
    """The setting of Li et al. (2018)."""

    alpha: float = rate(1e-6, "Absorption α: how readily a walk stops where it is.")


class SeriesSettings(Settings):
    """The settings of Li et al. (2019)."""

    a: float = rate(0.01, "Weight a of a node's label against its neighbours'; smaller propagates farther.")
    steps: int = count(400, "Number of terms K.")


def fit(task: Task, settings: LpSettings) -> Prediction:
    """The harmonic function, with class mass normalisation. Deterministic; validation nodes are not used."""
    graph, train = task.graph, task.train
    y = one_hot(graph, train)
    components = Components.find(graph.adjacency, train, y)
    unlabelled = np.setdiff1d(np.flatnonzero(components.any_label), train)
    f = np.zeros((graph.n, graph.c))
    f[train] = y
    rows = laplacian(graph.adjacency)[unlabelled]
    f[unlabelled] = conjugate_gradients(rows[:, unlabelled], -(rows @ f), settings.tolerance)
    if settings.class_mass != "none":
        mass, share = f[unlabelled].sum(axis=0), y.mean(axis=0) if settings.class_mass == "labels" else np.ones(graph.c)
        f *= np.divide(share, mass, out=np.ones(graph.c), where=mass > 0)
    return Prediction(_normalise_rows(f), findings=components.findings(graph))


def fit_absorption(task: Task, settings: AbsorptionSettings) -> Prediction:
    """Absorption probabilities. A column of P is the constant 1/(α·size) on its node's component, plus the solution for
    a unit vector minus its mean. Deterministic; validation nodes are not used."""
    graph, train = task.graph, task.train
    y = one_hot(graph, train)
    components = Components.find(graph.adjacency, train, y)
    matrix = shifted_laplacian(graph.adjacency, settings.alpha)
    scores = np.full((graph.n, graph.c), -np.inf)
    for start in range(0, len(train), BLOCK):
        block = train[start : start + BLOCK]
        unit = np.zeros((graph.n, len(block)))
        unit[block, np.arange(len(block))] = 1
        p = conjugate_gradients(matrix, unit - components.mean(unit))
        same_component = components.index[:, None] == components.index[block]  # (n, block); elsewhere P is 0
        for column, label in enumerate(graph.labels[block]):
            rows = same_component[:, column]
            scores[rows, label] = np.maximum(scores[rows, label], p[rows, column])
        if task.progress:
            task.progress("absorption", start + len(block), len(train))
    return Prediction(components.probabilities(scores), findings=components.findings(graph))


def fit_series(task: Task, settings: SeriesSettings) -> Prediction:
    """Truncated series. Deterministic; validation nodes are not used."""
    graph, train = task.graph, task.train
    y = one_hot(graph, train)
    start = np.zeros((graph.n, graph.c), dtype=np.float32)
    start[train] = y
    s = topology_operator(graph, "symmetric").matrix
    f: np.ndarray = start
    for _ in range(settings.steps - 1):  # Horner's rule
        f = start + spmm(s, f) / (1 + settings.a)
    f = f * (settings.a / (1 + settings.a))
    components = Components.find(graph.adjacency, train, y)
    return Prediction(_normalise_rows(f), findings=components.findings(graph))


def _normalise_rows(f: np.ndarray) -> np.ndarray:
    """Non-negative rows divided by their sum; uniform where it is 0."""
    f = np.clip(f, 0, None)
    total = f.sum(axis=1, keepdims=True)
    return np.where(total > 0, f / np.where(total > 0, total, 1), 1 / f.shape[1]).astype(np.float32)


LP = Method(name="lp", settings=LpSettings, fit=fit)
ABSORPTION = Method(name="lp-absorption", settings=AbsorptionSettings, fit=fit_absorption)
SERIES = Method(name="lp-series", settings=SeriesSettings, fit=fit_series)


class PoissonSettings(Settings):
    """The paper uses graphs of the 10 nearest neighbours with Gaussian weights; here all weights are one."""

    graph: Literal["topology", "features"] = Field("topology", description="Topology, or kNN graph of the features.")
    k: int = count(10, "Neighbours in the feature graph.")

    @property
    def neighbours(self) -> int:
        return self.k if self.graph == "features" else 0


def fit_poisson(task: Task, settings: PoissonSettings) -> Prediction:
    """Solve for u. Deterministic; validation nodes are not used."""
    graph, train = task.graph, task.train
    if settings.graph == "features":
        operator = knn_operator(graph, settings.k, "none", task.progress)
    else:
        operator = topology_operator(graph, "none")
    y = one_hot(graph, train)
    components = Components.find(operator.adjacency, train, y)
    matrix = laplacian(operator.adjacency)
    labelled = np.zeros(graph.n)
    labelled[train] = 1
    labels = np.zeros((graph.n, graph.c))
    labels[train] = y
    sources = labelled[:, None] * (labels - components.mean(labels, labelled))
    u = conjugate_gradients(matrix, sources)
    u -= components.mean(u, matrix.diagonal())
    return Prediction(components.probabilities(u), findings=(*operator.findings, *components.findings(graph)))


POISSON = Method(name="poisson", settings=PoissonSettings, fit=fit_poisson)
