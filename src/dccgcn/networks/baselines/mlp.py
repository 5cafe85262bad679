"""MLP: Z = relu(X W0) W1, which is GCN with S = I. It uses features only."""

from functools import partial

import numpy as np
import scipy.sparse as sp

from dccgcn.features import Operator
from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Method
from dccgcn.networks.baselines import gcn


class MlpSettings(gcn.TwoLayerSettings):
    """GCN's settings, without those of the graph."""


def identity(graph: NodeGraph, settings: MlpSettings) -> Operator:
    """S = I: that of a graph without edges."""
    edgeless = sp.csr_array((graph.n, graph.n), dtype=np.float32)
    return Operator.of(edgeless, "none")


METHOD = Method(name="mlp", settings=MlpSettings, fit=partial(gcn.fit_on, identity))
