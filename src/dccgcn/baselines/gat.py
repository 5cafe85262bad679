"""GAT (Veličković et al., ICLR 2018): two layers whose edges are weighted by attention.

h'_i = Σ_j a_ij W h_j with a_ij = softmax over j in N(i)+i of leakyrelu(a_target·W h_i + a_source·W h_j). The heads of
the first layer are joined and pass an elu, those of the second are averaged.
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.baselines.layers import FeatureLinear
from dccgcn.baselines.neural import Network, NetworkSettings, fit_network
from dccgcn.graph import NodeGraph
from dccgcn.method import Method
from dccgcn.settings import count, rate, share, weight
from dccgcn.views import topology_view


class GatSettings(NetworkSettings):
    """The settings of the paper for Cora and Citeseer."""

    hidden: int = count(8, "Units of each head of the first layer.")
    heads: int = count(8, "Heads of the first layer.")
    output_heads: int = count(1, "Heads of the second layer.")
    dropout: float = share(0.6, "Share of each layer's inputs, and of the attention weights, dropped in training.")
    slope: float = weight(0.2, "Slope of the leaky ReLU below zero.")
    lr: float = rate(0.005, "Learning rate of Adam.")
    epochs: int = count(500, "Training epochs, at most.")


class Gat(Network):
    """The network on one graph."""

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


METHOD = Method(
    name="gat",
    summary="Attention over the neighbours.",
    reference="Veličković et al., ICLR 2018",
    settings=GatSettings,
    fit=partial(fit_network, Gat),
)
