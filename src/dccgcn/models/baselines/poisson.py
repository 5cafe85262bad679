"""Poisson learning (Calder et al., ICML 2020): L u = Σ_j (y_j - ȳ) δ_j with Σ_i d_i u_i = 0; the class is argmax u.

Labels are sources of their class and sinks of the others instead of boundary values, which keeps u from being flat
when labels are few. L is that of the given graph or of the feature graph. Sources must balance in each connected
component for a solution to exist, so ȳ is the mean label of the component.
"""

from typing import Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field

from dccgcn.errors import Finding
from dccgcn.graph import NodeGraph
from dccgcn.models.base import Method
from dccgcn.models.baselines.laplacian import Components, conjugate_gradients, laplacian, one_hot
from dccgcn.models.prediction import Prediction
from dccgcn.models.training import Progress
from dccgcn.operators import knn_operator
from dccgcn.settings import Settings, count


class PoissonSettings(Settings):
    """Its paper builds graphs of the 10 nearest neighbours (with Gaussian weights; here each edge counts one)."""

    graph: Literal["topology", "features"] = Field("topology", description="Which graph: the edges, or the kNN graph.")
    k: int = count(10, "Neighbours in the feature graph.")

    @property
    def neighbours(self) -> int:
        return self.k if self.graph == "features" else 0


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: PoissonSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Solve for u. There is nothing random, and no epoch to choose."""
    adjacency, odd = _chosen_graph(graph, settings, progress)
    y = one_hot(graph, train)
    components = Components.find(adjacency, train, y)
    matrix = laplacian(adjacency)
    labelled = np.zeros(graph.n)
    labelled[train] = 1
    given = np.zeros((graph.n, graph.c))
    given[train] = y
    sources = labelled[:, None] * (given - components.mean(given, labelled))
    u = conjugate_gradients(matrix, sources)
    u -= components.mean(u, matrix.diagonal())
    return Prediction(components.probabilities(u), findings=(*odd, *components.findings(graph)))


def _chosen_graph(
    graph: NodeGraph, settings: PoissonSettings, progress: Progress | None
) -> tuple[sp.csr_array, tuple[Finding, ...]]:
    if settings.graph == "topology":
        return graph.adjacency, ()
    tell = (lambda done, of: progress("feature graph", done, of)) if progress else None
    view = knn_operator(graph, settings.k, "none", tell)
    return view.adjacency, view.findings


METHOD = Method(
    name="poisson",
    summary="Labels as sources and sinks of a potential on the graph.",
    reference="Calder et al., ICML 2020",
    settings=PoissonSettings,
    fit=fit,
)
