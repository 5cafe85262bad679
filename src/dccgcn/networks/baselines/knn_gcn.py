"""kNN-GCN: GCN on the cosine kNN graph of the features, a baseline of Wang et al. (KDD 2020)."""

from functools import partial

from dccgcn.features import Operator, knn_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Method
from dccgcn.networks.baselines import gcn
from dccgcn.settings import count


class KnnGcnSettings(gcn.GcnSettings):
    """GCN's settings and the number of neighbours."""

    k: int = count(6, "Neighbours of each node in the feature graph.")

    @property
    def neighbours(self) -> int:
        return self.k


def feature_graph(graph: NodeGraph, settings: KnnGcnSettings) -> Operator:
    """S of the kNN graph."""
    return knn_operator(graph, settings.k, settings.normalisation)


METHOD = Method(name="knn-gcn", settings=KnnGcnSettings, fit=partial(gcn.fit_on, feature_graph))
