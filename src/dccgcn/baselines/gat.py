"""GAT (Veličković et al., ICLR 2018): two layers whose edges are weighted by attention.

h'_i = Σ_j a_ij W h_j with a_ij = softmax over j in N(i)+i of leakyrelu(a_target·W h_i + a_source·W h_j). The heads of
the first layer are joined and pass an elu, those of the second are averaged.
"""

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from dccgcn.baselines.layers import FeatureLinear
from dccgcn.baselines.neural import fit_network
from dccgcn.graph import NodeGraph
from dccgcn.method import Method
from dccgcn.outcome import Outcome
from dccgcn.settings import Settings, count, rate, share, weight
from dccgcn.training import Progress, seeded
from dccgcn.views import Scaling, topology_view


class GatSettings(Settings):
    """The settings of the paper for Cora and Citeseer."""

    hidden: int = count(8, "Units of each head of the first layer.")
    heads: int = count(8, "Heads of the first layer.")
    output_heads: int = count(1, "Heads of the second layer.")
    dropout: float = share(0.6, "Share of each layer's inputs, and of the attention weights, dropped in training.")
    slope: float = weight(0.2, "Slope of the leaky ReLU below zero.")
    lr: float = rate(0.005, "Learning rate of Adam.")
    weight_decay: float = weight(5e-4, "L2 penalty on all parameters.")
    epochs: int = count(500, "Training epochs, at most.")
    patience: int = count(100, "With validation nodes, stop after so many epochs without a better one.")
    features: Scaling = Field("row", description="Feature rows as given, divided by their sum, or of unit length.")


class Gat(nn.Module):
    """The network on one graph; forward() gives the logits of all nodes, (n, c)."""

    def __init__(self, graph: NodeGraph, s: GatSettings) -> None:
        from torch_geometric.nn import GATConv  # here, since its import takes a second that no other method needs

        super().__init__()
        pattern = topology_view(graph, "none").pattern  # of A + I
        self.edge_index = torch.stack([pattern.cols, pattern.rows])  # PyG wants (source, target)
        width = s.heads * s.hidden
        shared = {"dropout": s.dropout, "negative_slope": s.slope, "add_self_loops": False}
        self.product = FeatureLinear(graph, s.features, width, s.dropout, bias=False)
        self.first = GATConv(width, s.hidden, s.heads, **shared)
        self.first.lin = nn.Identity()  # the layer's own product would need dense features
        self.second = GATConv(width, graph.c, s.output_heads, concat=False, **shared)
        self.dropout = nn.Dropout(s.dropout)

    def forward(self) -> Tensor:
        h = F.elu(self.first(self.product(), self.edge_index))
        return self.second(self.dropout(h), self.edge_index)


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: GatSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Outcome:
    """Train on the labels of the nodes in ``train`` and classify all nodes."""
    s = settings
    with seeded(seed):
        network = Gat(graph, s)
    groups = [{"params": list(network.parameters()), "weight_decay": s.weight_decay}]
    logits = fit_network(network, graph, train, groups, s.lr, s.epochs, seed, progress, validation, s.patience)
    return Outcome(logits.softmax(1).numpy(), embeddings={"output": logits.numpy()})


METHOD = Method(
    name="gat",
    summary="Attention over the neighbours.",
    reference="Veličković et al., ICLR 2018",
    settings=GatSettings,
    fit=fit,
)
