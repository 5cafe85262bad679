"""AGNN (Thekumparampil et al., 2018): propagation layers without weights but one, attention by cosine.

H = relu(X W0); in each propagation layer H ← P H with P_ij = softmax over j in N(i)+i of β cos(H_i, H_j); Z = H W1.
β is one number per layer; the first layer's is fixed.
"""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.graph import NodeGraph
from dccgcn.kernels import edge_product, neighbour_softmax, spmm
from dccgcn.models.base import Method
from dccgcn.models.baselines.layers import FeatureLinear
from dccgcn.models.baselines.neural import Network, NetworkSettings, fit_network
from dccgcn.operators import Layer, ReceptiveField, topology_operator
from dccgcn.settings import count, share, weight


class AgnnSettings(NetworkSettings):
    """The settings of the paper for Cora."""

    hidden: int = count(16, "Width of the hidden layer.")
    layers: int = count(2, "Propagation layers.")
    first_beta: float = weight(0.0, "β of the first propagation layer, which is not learned.")
    dropout: float = share(0.5, "Share of features and hidden units dropped in training.")


def propagate(layer: Layer, beta: Tensor, h: Tensor) -> Tensor:
    """One propagation layer, (inputs, width) → (outputs, width). A row of zeros is at right angles to all."""
    unit = F.normalize(h, dim=1)
    cosine = edge_product(layer.pattern, unit[layer.own], unit)  # (entries,)
    return spmm(layer.pattern, neighbour_softmax(layer.pattern, beta * cosine), h)


class Agnn(Network):
    """The network on one graph."""

    def __init__(self, graph: NodeGraph, s: AgnnSettings) -> None:
        super().__init__()
        self.graph, self.s = graph, s
        self.first = FeatureLinear(graph.d, s.hidden, s.dropout)
        self.first_beta = torch.tensor(s.first_beta)
        self.betas = nn.ParameterList(torch.ones(()) for _ in range(s.layers - 1))
        self.output = nn.Linear(s.hidden, graph.c)
        self.dropout = nn.Dropout(s.dropout)

    def part(self, nodes: np.ndarray) -> ReceptiveField:
        view = topology_operator(self.graph, "none")  # of A + I
        return ReceptiveField.of(self.graph, self.s.features, view, nodes, self.s.layers)

    def forward(self, part: ReceptiveField) -> Tensor:
        h = self.first(part.x).relu()
        for layer, beta in zip(part.layers, (self.first_beta, *self.betas), strict=True):
            h = propagate(layer, beta, h)
        return self.output(self.dropout(h))


METHOD = Method(
    name="agnn",
    summary="Attention by cosine, one weight per layer.",
    reference="Thekumparampil et al., arXiv 1803.03735, 2018",
    settings=AgnnSettings,
    fit=partial(fit_network, Agnn),
)
