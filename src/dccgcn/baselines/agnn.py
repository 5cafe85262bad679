"""AGNN (Thekumparampil et al., 2018): propagation layers without weights but one, attention by cosine.

H = relu(X W0); in each propagation layer H ← P H with P_ij = softmax over j in N(i)+i of β cos(H_i, H_j); Z = H W1.
β is one number per layer; the first layer's is fixed.
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.baselines.layers import FeatureLinear
from dccgcn.baselines.neural import Network, NetworkSettings, fit_network
from dccgcn.graph import NodeGraph
from dccgcn.kernels import Pattern, edge_product, neighbour_softmax, spmm
from dccgcn.method import Method
from dccgcn.settings import count, share, weight
from dccgcn.views import topology_view


class AgnnSettings(NetworkSettings):
    """The settings of the paper for Cora."""

    hidden: int = count(16, "Width of the hidden layer.")
    layers: int = count(2, "Propagation layers.")
    first_beta: float = weight(0.0, "β of the first propagation layer, which is not learned.")
    dropout: float = share(0.5, "Share of features and hidden units dropped in training.")


def propagate(pattern: Pattern, beta: Tensor, h: Tensor) -> Tensor:
    """One propagation layer, (n, width) → (n, width). A row of zeros is at right angles to all."""
    unit = F.normalize(h, dim=1)
    cosine = edge_product(pattern, unit, unit)  # (entries,)
    return spmm(pattern, neighbour_softmax(pattern, beta * cosine), h)


class Agnn(Network):
    """The network on one graph."""

    def __init__(self, graph: NodeGraph, s: AgnnSettings) -> None:
        super().__init__()
        self.pattern = topology_view(graph, "none").pattern  # of A + I
        self.first = FeatureLinear(graph, s.features, s.hidden, s.dropout)
        self.first_beta = torch.tensor(s.first_beta)
        self.betas = nn.ParameterList(torch.ones(()) for _ in range(s.layers - 1))
        self.output = nn.Linear(s.hidden, graph.c)
        self.dropout = nn.Dropout(s.dropout)

    def forward(self) -> Tensor:
        h = self.first().relu()
        for beta in (self.first_beta, *self.betas):
            h = propagate(self.pattern, beta, h)
        return self.output(self.dropout(h))


METHOD = Method(
    name="agnn",
    summary="Attention by cosine, one weight per layer.",
    reference="Thekumparampil et al., arXiv 1803.03735, 2018",
    settings=AgnnSettings,
    fit=partial(fit_network, Agnn),
)
