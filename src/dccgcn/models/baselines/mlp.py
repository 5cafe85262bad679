"""MLP: Z = relu(X W0) W1, that is GCN with S = I. What the features alone can do."""

import numpy as np
import scipy.sparse as sp

from dccgcn.graph import NodeGraph
from dccgcn.models.base import Method
from dccgcn.models.baselines import gcn
from dccgcn.models.prediction import Prediction
from dccgcn.models.training import Progress
from dccgcn.operators import Operator


class MlpSettings(gcn.TwoLayerSettings):
    """GCN's settings, but for the graph."""


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
    view = Operator.of(edgeless, "none")  # every node sees itself alone
    return gcn.fit_on(view, graph, train, settings, seed, progress, validation)


METHOD = Method(
    name="mlp",
    summary="The features alone, GCN without edges.",
    reference="Kipf & Welling, ICLR 2017",
    settings=MlpSettings,
    fit=fit,
)
