"""DAGNN (Liu et al., KDD 2020): each node weighs how far away it looks.

Z = relu(X W0 + b0) W1 + b1; the answer is Σ_k sigmoid(S^k Z w + b) S^k Z over k = 0 … K, one gate per node and k.
"""

from functools import partial

import torch
from torch import Tensor, nn

from dccgcn.graph import NodeGraph
from dccgcn.kernels import FeatureMatrix, relu_dropout, spmm
from dccgcn.models.base import Method
from dccgcn.models.baselines.layers import FeatureLinear, random_key
from dccgcn.models.baselines.neural import Network, NetworkSettings, fit_network
from dccgcn.operators import normalise_rows, topology_operator
from dccgcn.settings import count, share, weight


class DagnnSettings(NetworkSettings):
    """The settings of the paper for Cora."""

    hidden: int = count(64, "Width of the hidden layer.")
    steps: int = count(10, "Steps of propagation, K.")
    dropout: float = share(0.8, "Share of features and hidden units dropped in training.")
    weight_decay: float = weight(5e-3, "L2 penalty on all parameters.")
    patience: int = count(500, "With validation nodes, stop after so many epochs without a better one.")


class Dagnn(Network):
    """The network on one graph."""

    def __init__(self, graph: NodeGraph, s: DagnnSettings) -> None:
        super().__init__()
        self.s, self.view = s, topology_operator(graph, "symmetric")
        self.x = FeatureMatrix.of(normalise_rows(graph.features, s.features))
        self.first = FeatureLinear(graph.d, s.hidden, s.dropout)
        self.second = nn.Linear(s.hidden, graph.c)
        self.gate = nn.Linear(graph.c, 1)

    def forward(self, nodes: Tensor) -> Tensor:
        hidden = relu_dropout(self.first(self.x), self.s.dropout if self.training else 0.0, random_key(self.training))
        z = [self.second(hidden)]  # (n, c) each
        for _ in range(self.s.steps):
            z.append(spmm(self.view.pattern, self.view.alpha, z[-1]))
        stack = torch.stack([far[nodes] for far in z], dim=1)  # (nodes, K + 1, c)
        return (torch.sigmoid(self.gate(stack)) * stack).sum(1)


METHOD = Method(
    name="dagnn",
    summary="Each node weighs how far away it looks.",
    reference="Liu et al., KDD 2020",
    settings=DagnnSettings,
    fit=partial(fit_network, Dagnn),
)
