"""Networks that classify first and propagate then: APPNP and DAGNN."""

from functools import partial

import torch
from torch import Tensor, nn

from dccgcn.features import normalise_rows, topology_operator
from dccgcn.methods import Method, Task
from dccgcn.networks.autograd import FeatureMatrix, dropout, relu_dropout, spmm
from dccgcn.networks.layers import FeatureLinear, TorchOperator, random_key
from dccgcn.networks.training import Network, NetworkSettings, fit_network
from dccgcn.settings import count, rate, share, weight


class AppnpSettings(NetworkSettings):
    """The settings of the paper for citation graphs; it stops on a validation set, the number of epochs is ours."""

    hidden: int = count(64, "Width of the hidden layer.")
    alpha: float = rate(0.1, "Teleport probability: share of the unpropagated prediction in each step.", most=1)
    steps: int = count(10, "Steps of propagation, K.")
    dropout: float = share(0.5, "Share of features, hidden units and, in each step, entries of S dropped in training.")
    weight_decay: float = weight(5e-3, "L2 penalty on the first layer.")
    epochs: int = count(500, "Maximum number of training epochs.")


class Appnp(Network):
    """APPNP (Gasteiger et al., ICLR 2019): predict from features, propagate predictions by personalised PageRank.

    Z0 = relu(X W0) W1; Z ← (1-a) S Z + a Z0, K times.

    Shapes: X (n, d) → (nodes, c), hidden layer (n, hidden).
    """

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


APPNP = Method(name="appnp", settings=AppnpSettings, fit=partial(fit_network, Appnp))


class DagnnSettings(NetworkSettings):
    """The settings of the paper for Cora."""

    hidden: int = count(64, "Width of the hidden layer.")
    steps: int = count(10, "Steps of propagation, K.")
    dropout: float = share(0.8, "Share of features and hidden units dropped in training.")
    weight_decay: float = weight(5e-3, "L2 penalty on all parameters.")
    patience: int = count(500, "Epochs without improvement on the validation nodes before training stops.")


class Dagnn(Network):
    """DAGNN (Liu et al., KDD 2020): each node weights the propagation steps.

    Z = relu(X W0 + b0) W1 + b1; the output is Σ_k sigmoid(S^k Z w + b) S^k Z over k = 0 … K, one gate per node and k.

    Shapes: X (n, d) → (nodes, c), hidden layer (n, hidden).
    """

    def __init__(self, task: Task, s: DagnnSettings) -> None:
        super().__init__()
        graph = task.graph
        self.s, self.operator = s, TorchOperator.of(topology_operator(graph, "symmetric"))
        self.x = FeatureMatrix.of(normalise_rows(graph.features, s.features))
        self.first = FeatureLinear(graph.d, s.hidden, s.dropout)
        self.second = nn.Linear(s.hidden, graph.c)
        self.gate = nn.Linear(graph.c, 1)

    def forward(self, nodes: Tensor) -> Tensor:
        hidden = relu_dropout(self.first(self.x), self.s.dropout if self.training else 0.0, random_key(self.training))
        z = [self.second(hidden)]  # (n, c) each
        for _ in range(self.s.steps):
            z.append(self.operator.propagate(z[-1]))
        stack = torch.stack([z_k[nodes] for z_k in z], dim=1)  # (nodes, K + 1, c)
        return (torch.sigmoid(self.gate(stack)) * stack).sum(1)


DAGNN = Method(name="dagnn", settings=DagnnSettings, fit=partial(fit_network, Dagnn))
