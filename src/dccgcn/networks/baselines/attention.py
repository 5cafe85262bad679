"""Networks that weight edges by attention: AGNN and GAT."""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.features import topology_operator
from dccgcn.methods import Method, Task
from dccgcn.networks.autograd import attend, edge_product, neighbour_softmax, spmm
from dccgcn.networks.layers import Dropout, FeatureLinear, Layer, ReceptiveField, TorchOperator, random_key
from dccgcn.networks.training import Network, NetworkSettings, fit_network
from dccgcn.settings import count, rate, share, weight


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
    """AGNN (Thekumparampil et al., 2018): propagation layers with one parameter each, attention by cosine similarity.

    H = relu(X W0); in each propagation layer H ← P H with P_ij = softmax over j in N(i)+i of β cos(H_i, H_j); Z = H W1.
    β is a scalar per layer; that of the first layer is fixed.

    Shapes: X (inputs, d) → (outputs, c), hidden layers (·, hidden).
    """

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


AGNN = Method(name="agnn", settings=AgnnSettings, fit=partial(fit_network, Agnn))


class GatSettings(NetworkSettings):
    """The settings of the paper for Cora and Citeseer."""

    hidden: int = count(8, "Units of each head of the first layer.")
    heads: int = count(8, "Heads of the first layer.")
    output_heads: int = count(1, "Heads of the second layer.")
    dropout: float = share(0.6, "Share of each layer's inputs, and of the attention weights, dropped in training.")
    slope: float = weight(0.2, "Slope of the leaky ReLU below zero.")
    lr: float = rate(0.005, "Learning rate of Adam.")
    epochs: int = count(500, "Maximum number of training epochs.")


class AttentionLayer(nn.Module):
    """PyG's GATConv after the product with W, in one kernel: h'_i = Σ_j a_ij h_j per head.

    Shapes: (inputs, heads · width) → (outputs, heads, width).
    """

    def __init__(self, heads: int, width: int, s: GatSettings) -> None:
        super().__init__()
        self.slope, self.dropout = s.slope, s.dropout
        self.target = nn.Parameter(nn.init.xavier_uniform_(torch.empty(heads, width)))
        self.source = nn.Parameter(nn.init.xavier_uniform_(torch.empty(heads, width)))

    def forward(self, layer: Layer, h: Tensor) -> Tensor:
        h = h.view(-1, *self.target.shape)
        target, source = (h * self.target).sum(2)[layer.output_positions], (h * self.source).sum(2)
        drop = self.dropout if self.training else 0.0
        return attend(layer.pattern, target, source, h, self.slope, drop, random_key(self.training))


class Gat(Network):
    """GAT (Veličković et al., ICLR 2018): two layers whose edges are weighted by attention.

    h'_i = Σ_j a_ij W h_j with a_ij = softmax over j in N(i)+i of leakyrelu(a_target·W h_i + a_source·W h_j). The heads
    of the first layer are concatenated and pass an ELU, those of the second are averaged.

    Shapes: X (inputs, d) → (outputs, c), hidden layer (·, heads · hidden).
    """

    def __init__(self, task: Task, s: GatSettings) -> None:
        super().__init__()
        graph = task.graph
        self.graph, self.scaling = graph, s.features
        width = s.heads * s.hidden
        self.product = FeatureLinear(graph.d, width, s.dropout, bias=False)
        self.first = AttentionLayer(s.heads, s.hidden, s)
        self.first_bias = nn.Parameter(torch.zeros(width))
        self.dropout = Dropout(s.dropout)
        self.output = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, s.output_heads * graph.c)))
        self.second = AttentionLayer(s.output_heads, graph.c, s)
        self.second_bias = nn.Parameter(torch.zeros(graph.c))

    def inputs_of(self, nodes: np.ndarray) -> ReceptiveField:
        operator = TorchOperator.of(topology_operator(self.graph, "none"))  # A + I
        return ReceptiveField.of(self.graph, self.scaling, operator, nodes)

    def forward(self, field: ReceptiveField) -> Tensor:
        first, second = field.layers
        h = F.elu(self.first(first, self.product(field.x)).flatten(1) + self.first_bias)
        return self.second(second, self.dropout(h) @ self.output).mean(1) + self.second_bias


GAT = Method(name="gat", settings=GatSettings, fit=partial(fit_network, Gat))
