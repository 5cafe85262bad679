"""APPNP (Gasteiger et al., ICLR 2019): predict from features, propagate predictions by personalised PageRank.

Z0 = relu(X W0) W1; Z ← (1-a) S Z + a Z0, K times.
"""

from functools import partial

import torch
from pydantic import Field
from torch import Tensor, nn

from dccgcn.features import normalise_rows, topology_operator
from dccgcn.methods import Method, Task
from dccgcn.networks.autograd import FeatureMatrix, dropout, relu_dropout, spmm
from dccgcn.networks.layers import FeatureLinear, TorchOperator, random_key
from dccgcn.networks.training import Network, NetworkSettings, fit_network
from dccgcn.settings import count, share, weight


class AppnpSettings(NetworkSettings):
    """The settings of the paper for citation graphs; it stops on a validation set, the number of epochs is ours."""

    hidden: int = count(64, "Width of the hidden layer.")
    alpha: float = Field(
        0.1,
        gt=0,
        le=1,
        description="Teleport probability: share of the unpropagated prediction in each step.",
    )
    steps: int = count(10, "Steps of propagation, K.")
    dropout: float = share(0.5, "Share of features, hidden units and, in each step, entries of S dropped in training.")
    weight_decay: float = weight(5e-3, "L2 penalty on the first layer.")
    epochs: int = count(500, "Maximum number of training epochs.")


class Appnp(Network):
    """The network on one graph. Shapes: X (n, d) → (nodes, c), hidden layer (n, hidden)."""

    def __init__(self, task: Task, s: AppnpSettings) -> None:
        super().__init__()
        graph = task.graph
        self.s, self.operator = s, TorchOperator.of(topology_operator(graph, "symmetric"))
        self.x = FeatureMatrix.of(normalise_rows(graph.features, s.features))
        self.first = FeatureLinear(graph.d, s.hidden, s.dropout, bias=False)
        self.second = nn.Parameter(nn.init.xavier_uniform_(torch.empty(s.hidden, graph.c)))

    def decayed_parameters(self) -> list[nn.Parameter]:
        return [self.first.weight]

    def forward(self, nodes: Tensor) -> Tensor:
        p = self.s.dropout if self.training else 0.0
        z0 = z = relu_dropout(self.first(self.x), p, random_key(self.training)) @ self.second  # (n, c)
        for _ in range(self.s.steps):
            entries = dropout(self.operator.alpha, p, random_key(self.training))
            z = (1 - self.s.alpha) * spmm(self.operator.pattern, entries, z) + self.s.alpha * z0
        return z[nodes]


METHOD = Method(name="appnp", settings=AppnpSettings, fit=partial(fit_network, Appnp))
