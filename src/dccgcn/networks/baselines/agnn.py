"""AGNN (Thekumparampil et al., 2018): propagation layers with one parameter each, attention by cosine similarity.

H = relu(X W0); in each propagation layer H ← P H with P_ij = softmax over j in N(i)+i of β cos(H_i, H_j); Z = H W1.
β is a scalar per layer; that of the first layer is fixed.
"""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.features import topology_operator
from dccgcn.methods import Method, Task
from dccgcn.networks.autograd import edge_product, neighbour_softmax, spmm
from dccgcn.networks.layers import FeatureLinear, Layer, ReceptiveField, TorchOperator
from dccgcn.networks.training import Network, NetworkSettings, fit_network
from dccgcn.settings import count, share, weight


class AgnnSettings(NetworkSettings):
    """The settings of the paper for Cora."""

    hidden: int = count(16, "Width of the hidden layer.")
    layers: int = count(2, "Propagation layers.")
    first_beta: float = weight(0.0, "β of the first propagation layer, which is not learned.")
    dropout: float = share(0.5, "Share of features and hidden units dropped in training.")


def cosine_attention(layer: Layer, beta: Tensor, h: Tensor) -> Tensor:
    """One propagation layer, (inputs, width) → (outputs, width). The cosine with a row of zeros is 0."""
    unit = F.normalize(h, dim=1)
    cosine = edge_product(layer.pattern, unit[layer.output_positions], unit)  # (entries,)
    return spmm(layer.pattern, neighbour_softmax(layer.pattern, beta * cosine), h)


class Agnn(Network):
    """The network on one graph. Shapes: X (inputs, d) → (outputs, c), hidden layers (·, hidden)."""

    def __init__(self, task: Task, s: AgnnSettings) -> None:
        super().__init__()
        graph = task.graph
        self.graph, self.s = graph, s
        self.first = FeatureLinear(graph.d, s.hidden, s.dropout)
        self.first_beta = torch.tensor(s.first_beta)
        self.betas = nn.ParameterList(torch.ones(()) for _ in range(s.layers - 1))
        self.output = nn.Linear(s.hidden, graph.c)
        self.dropout = nn.Dropout(s.dropout)

    def inputs_of(self, nodes: np.ndarray) -> ReceptiveField:
        operator = TorchOperator.of(topology_operator(self.graph, "none"))  # A + I
        return ReceptiveField.of(self.graph, self.s.features, operator, nodes, self.s.layers)

    def forward(self, field: ReceptiveField) -> Tensor:
        h = self.first(field.x).relu()
        for layer, beta in zip(field.layers, (self.first_beta, *self.betas), strict=True):
            h = cosine_attention(layer, beta, h)
        return self.output(self.dropout(h))


METHOD = Method(name="agnn", settings=AgnnSettings, fit=partial(fit_network, Agnn))
