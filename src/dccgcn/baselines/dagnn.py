"""DAGNN (Liu et al., KDD 2020): each node weighs how far away it looks.

Z = relu(X W0 + b0) W1 + b1; the answer is Σ_k sigmoid(S^k Z w + b) S^k Z over k = 0 … K, one gate per node and k.
"""

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from dccgcn.baselines.layers import FeatureLinear, random_key
from dccgcn.baselines.neural import fit_network
from dccgcn.graph import NodeGraph
from dccgcn.kernels import relu_dropout, spmm
from dccgcn.method import Method
from dccgcn.outcome import Outcome
from dccgcn.settings import Settings, count, rate, share, weight
from dccgcn.training import Progress, seeded
from dccgcn.views import Scaling, topology_view


class DagnnSettings(Settings):
    """The settings of the paper for Cora."""

    hidden: int = count(64, "Width of the hidden layer.")
    steps: int = count(10, "Steps of propagation, K.")
    dropout: float = share(0.8, "Share of features and hidden units dropped in training.")
    lr: float = rate(0.01, "Learning rate of Adam.")
    weight_decay: float = weight(5e-3, "L2 penalty on all parameters.")
    epochs: int = count(1000, "Training epochs, at most.")
    patience: int = count(500, "With validation nodes, stop after so many epochs without a better one.")
    features: Scaling = Field("row", description="Feature rows as given, divided by their sum, or of unit length.")


class Dagnn(nn.Module):
    """The network on one graph; forward() gives the logits of all nodes, (n, c)."""

    def __init__(self, graph: NodeGraph, s: DagnnSettings) -> None:
        super().__init__()
        self.s, self.view = s, topology_view(graph, "symmetric")
        self.first = FeatureLinear(graph, s.features, s.hidden, s.dropout)
        self.second = nn.Linear(s.hidden, graph.c)
        self.gate = nn.Linear(graph.c, 1)

    def forward(self) -> Tensor:
        hidden = relu_dropout(self.first(), self.s.dropout if self.training else 0.0, random_key(self.training))
        z = [self.second(hidden)]  # (n, c) each
        for _ in range(self.s.steps):
            z.append(spmm(self.view.pattern, self.view.alpha, z[-1]))
        stack = torch.stack(z, dim=1)  # (n, K + 1, c)
        return (torch.sigmoid(self.gate(stack)) * stack).sum(1)


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: DagnnSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Outcome:
    """Train on the labels of the nodes in ``train`` and classify all nodes."""
    s = settings
    with seeded(seed):
        network = Dagnn(graph, s)
    groups = [{"params": list(network.parameters()), "weight_decay": s.weight_decay}]
    logits = fit_network(network, graph, train, groups, s.lr, s.epochs, seed, progress, validation, s.patience)
    return Outcome(logits.softmax(1).numpy(), embeddings={"output": logits.numpy()})


METHOD = Method(
    name="dagnn",
    summary="Each node weighs how far away it looks.",
    reference="Liu et al., KDD 2020",
    settings=DagnnSettings,
    fit=fit,
)
