"""kNN-GCN: GCN on the cosine kNN graph of the features, a baseline of Wang et al. (KDD 2020)."""

from dataclasses import replace

import numpy as np

from dccgcn.graph import NodeGraph
from dccgcn.models.base import Method
from dccgcn.models.baselines import gcn
from dccgcn.models.prediction import Prediction
from dccgcn.operators import knn_operator
from dccgcn.progress import Progress
from dccgcn.settings import count


class KnnGcnSettings(gcn.GcnSettings):
    """GCN's settings and the number of neighbours."""

    k: int = count(6, "Neighbours of each node in the feature graph.")

    @property
    def neighbours(self) -> int:
        return self.k


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: KnnGcnSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes."""
    operator = knn_operator(graph, settings.k, settings.normalisation)
    prediction = gcn.fit_on_operator(operator, graph, train, settings, seed, progress, validation)
    return replace(prediction, findings=operator.findings)


METHOD = Method(
    name="knn-gcn",
    settings=KnnGcnSettings,
    fit=fit,
)
