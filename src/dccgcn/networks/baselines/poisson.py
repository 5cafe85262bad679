"""Poisson learning (Calder et al., ICML 2020): L u = Σ_j (y_j - ȳ) δ_j with Σ_i d_i u_i = 0; the class is argmax u.

Labels are sources of their class and sinks of the others instead of boundary values, so that u is not nearly constant
when labels are few. L is that of the topology or of the feature graph. Sources must sum to zero in each connected
component for a solution to exist, so ȳ is the mean label of the component.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from dccgcn.features import knn_operator, topology_operator
from dccgcn.methods.base import Method, Task
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines.laplacian import Components, conjugate_gradients, laplacian, one_hot
from dccgcn.settings import Settings, count


class PoissonSettings(Settings):
    """The paper uses graphs of the 10 nearest neighbours with Gaussian weights; here all weights are one."""

    graph: Literal["topology", "features"] = Field("topology", description="Topology, or kNN graph of the features.")
    k: int = count(10, "Neighbours in the feature graph.")

    @property
    def neighbours(self) -> int:
        return self.k if self.graph == "features" else 0


def fit(task: Task, settings: PoissonSettings) -> Prediction:
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


METHOD = Method(name="poisson", settings=PoissonSettings, fit=fit)
