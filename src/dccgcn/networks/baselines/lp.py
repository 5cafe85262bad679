"""Label propagation in the three variants in use. None of them uses features.

lp            F ← D^-1 A F with labelled rows reset to Y, until convergence (Zhu, Ghahramani & Lafferty, ICML 2003).
              The limit is the harmonic function L_uu F_u = A_ul Y_l, which is solved for. With few labels it is nearly
              constant, and its largest class that of a well-connected label; class mass normalisation, of the same
              paper, is the remedy: each class is scaled to a share of the unlabelled nodes. Shares are equal by
              default: those of few labels mislead, since 4 labels against 3 and 3 already give nearly every node to
              the first class where the function is nearly constant.
lp-absorption P = (L + αI)^-1; a node takes the class of the labelled node with the largest entry in its row
              (partially absorbing random walks, Wu et al., NIPS 2012, as used by Li et al., AAAI 2018).
lp-series     F = a/(1+a) Σ_{k<K} (S/(1+a))^k Y with S = D̃^-1/2 (A+I) D̃^-1/2 (as in the code of Li et al., CVPR 2019).
"""

from typing import Literal

import numpy as np
from pydantic import Field

from dccgcn.features import topology_operator
from dccgcn.kernels import spmm
from dccgcn.methods.base import Method, Task
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines.laplacian import Components, conjugate_gradients, laplacian, one_hot, shifted_laplacian
from dccgcn.settings import Settings, count, rate

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


METHOD = Method(name="lp", settings=LpSettings, fit=fit)
ABSORPTION = Method(name="lp-absorption", settings=AbsorptionSettings, fit=fit_absorption)
SERIES = Method(name="lp-series", settings=SeriesSettings, fit=fit_series)
