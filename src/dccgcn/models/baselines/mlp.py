"""MLP: Z = relu(X W0) W1, which is GCN with S = I. It uses features only."""

import numpy as np
import scipy.sparse as sp

from dccgcn.graph import NodeGraph
from dccgcn.models.base import Method
from dccgcn.models.baselines import gcn
from dccgcn.models.prediction import Prediction
from dccgcn.operators import Operator
from dccgcn.progress import Progress


class MlpSettings(gcn.TwoLayerSettings):
    """GCN's settings, without those of the graph."""


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: MlpSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes."""
    edgeless = sp.csr_array((graph.n, graph.n), dtype=np.float32)
    operator = Operator.of(edgeless, "none")  # the identity
    return gcn.fit_on_operator(operator, graph, train, settings, seed, progress, validation)


METHOD = Method(
    name="mlp",
    settings=MlpSettings,
    fit=fit,
)
