"""AGNN (Thekumparampil et al., 2018): propagation layers without weights but one, attention by cosine.

H = relu(X W0); in each propagation layer H ← P H with P_ij = softmax over j in N(i)+i of β cos(H_i, H_j); Z = H W1.
β is one number per layer; the first layer's is fixed.
"""

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from dccgcn.baselines.layers import FeatureLinear
from dccgcn.baselines.neural import fit_network
from dccgcn.graph import NodeGraph
from dccgcn.kernels import Pattern, neighbour_softmax, spmm
from dccgcn.method import Method
from dccgcn.outcome import Outcome
from dccgcn.settings import Settings, count, rate, share, weight
from dccgcn.training import Progress, seeded
from dccgcn.views import Scaling, topology_view


class AgnnSettings(Settings):
    """The settings of the paper for Cora."""

    hidden: int = count(16, "Width of the hidden layer.")
    layers: int = count(2, "Propagation layers.")
    first_beta: float = weight(0.0, "β of the first propagation layer, which is not learned.")
    dropout: float = share(0.5, "Share of features and hidden units dropped in training.")
    lr: float = rate(0.01, "Learning rate of Adam.")
    weight_decay: float = weight(5e-4, "L2 penalty on all parameters.")
    epochs: int = count(1000, "Training epochs, at most.")
    patience: int = count(100, "With validation nodes, stop after so many epochs without a better one.")
    features: Scaling = Field("row", description="Feature rows as given, divided by their sum, or of unit length.")


def propagate(pattern: Pattern, beta: Tensor, h: Tensor) -> Tensor:
    """One propagation layer, (n, width) → (n, width). A row of zeros is at right angles to all."""
    unit = F.normalize(h, dim=1)
    cosine = (unit[pattern.rows] * unit[pattern.cols]).sum(1)  # (entries,)
    return spmm(pattern, neighbour_softmax(pattern, beta * cosine), h)


class Agnn(nn.Module):
    """The network on one graph; forward() gives the logits of all nodes, (n, c)."""

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


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: AgnnSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Outcome:
    """Train on the labels of the nodes in ``train`` and classify all nodes."""
    s = settings
    with seeded(seed):
        network = Agnn(graph, s)
    groups = [{"params": list(network.parameters()), "weight_decay": s.weight_decay}]
    logits = fit_network(network, graph, train, groups, s.lr, s.epochs, seed, progress, validation, s.patience)
    return Outcome(logits.softmax(1).numpy(), embeddings={"output": logits.numpy()})


METHOD = Method(
    name="agnn",
    summary="Attention by cosine, one weight per layer.",
    reference="Thekumparampil et al., arXiv 1803.03735, 2018",
    settings=AgnnSettings,
    fit=fit,
)
