"""GRAND (Feng et al., NeurIPS 2020): an MLP on propagated features, consistent over random drops of whole nodes.

In each of several samples every feature row is dropped with probability δ (the others divided by 1-δ), then
X̄ = (1/(K+1)) Σ_{k≤K} S^k X̃ goes through an MLP. The loss is the samples' mean cross-entropy plus
λ · mean ||p_s - sharpen(p̄)||² over samples s and all nodes, where p̄ is the samples' mean and sharpen raises it to the
power 1/T. Propagation is linear, so it runs after the product with W0, at the width of the hidden layer; the dropout of
single features, which the released code applies to X̄, therefore comes before it. Where the columns of X̄ are normalised
first (Pubmed), X̄ has to be formed, which is ten times slower; predictions use the moments of training, to whose
variance dropped nodes add.
"""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from dccgcn.features import normalise_rows, topology_operator
from dccgcn.methods import Method, Task
from dccgcn.networks.autograd import FeatureMatrix
from dccgcn.networks.layers import FeatureLinear, TorchOperator
from dccgcn.networks.training import Network, NetworkSettings, fit_network
from dccgcn.settings import count, share, weight

_COLUMNS = 64  # propagated at a time: those of all nodes fit into the cache


class GrandSettings(NetworkSettings):
    """The settings of the paper for Cora."""

    hidden: int = count(32, "Width of the hidden layer.")
    order: int = count(8, "Steps of propagation, K.")
    samples: int = count(4, "Random drops per epoch.")
    drop_node: float = share(0.5, "Probability δ that a node's features are dropped.")
    consistency: float = weight(1.0, "Weight λ of the consistency loss.")
    temperature: float = Field(0.5, gt=0, le=1, description="Temperature T of the sharpening.")
    input_dropout: float = share(0.5, "Share of features dropped in training.")
    hidden_dropout: float = share(0.5, "Share of hidden units dropped in training.")
    batch_norm: bool = Field(False, description="Normalise propagated features and hidden units over all nodes.")
    patience: int = count(200, "Epochs without improvement on the validation nodes before training stops.")


class Grand(Network):
    """The network on one graph. Shapes: X (n, d) → (nodes, c), hidden layer (n, hidden)."""

    def __init__(self, task: Task, s: GrandSettings) -> None:
        super().__init__()
        graph = task.graph
        self.s, self.operator = s, TorchOperator.of(topology_operator(graph, "symmetric"))
        self.features = FeatureMatrix.of(normalise_rows(graph.features, s.features))
        self.first = FeatureLinear(graph.d, s.hidden, s.input_dropout, bias=False)
        self.bias = nn.Parameter(torch.zeros(s.hidden))
        self.norm = nn.BatchNorm1d(s.hidden) if s.batch_norm else nn.Identity()
        if s.batch_norm:
            self.x = self.features.times(torch.eye(graph.d))  # dense
            self.x_bar, self.x_norm = self.mean_propagation_wide(self.x), nn.BatchNorm1d(graph.d)
        self.second = nn.Linear(s.hidden, graph.c)

    def forward(self, nodes: Tensor) -> Tensor:
        hidden = self.project(self.x_bar) if self.s.batch_norm else self.mean_propagation(self.first(self.features))
        return self.classify(hidden)[nodes]

    def loss(self, nodes: Tensor, labels: Tensor, epoch: int) -> Tensor:
        logits = self.sample_logits()
        supervised = F.cross_entropy(logits[:, nodes].flatten(0, 1), labels.repeat(self.s.samples))
        return supervised + self.s.consistency * consistency_loss(logits.softmax(2), self.s.temperature)

    def sample_logits(self) -> Tensor:
        """Logits with nodes dropped at random, (samples, n, c)."""
        s, n = self.s, self.operator.pattern.shape[0]

        def drop_nodes(rows: Callable[[], Tensor]) -> list[Tensor]:
            return [rows() * ((torch.rand(n, 1) >= s.drop_node) / (1 - s.drop_node)) for _ in range(s.samples)]

        if s.batch_norm:
            hidden = [self.project(self.mean_propagation_wide(x)) for x in drop_nodes(lambda: self.x)]
        else:
            projected = torch.cat(drop_nodes(lambda: self.first(self.features)), 1)
            hidden = list(self.mean_propagation(projected).split(s.hidden, 1))
        return self.classify(torch.cat(hidden)).view(s.samples, n, -1)

    def project(self, x_bar: Tensor) -> Tensor:
        """dropout(X̄ with normalised columns) W0, (n, d) → (n, hidden)."""
        return F.dropout(self.x_norm(x_bar), self.s.input_dropout, self.training) @ self.first.weight

    def mean_propagation_wide(self, x: Tensor) -> Tensor:
        """``mean_propagation`` of many columns, a few at a time."""
        return torch.cat([self.mean_propagation(part.contiguous()) for part in x.split(_COLUMNS, 1)], 1)

    def mean_propagation(self, h: Tensor) -> Tensor:
        """1/(K+1) Σ_{k≤K} S^k h, (n, width) → (n, width)."""
        total = h
        for _ in range(self.s.order):
            h = self.operator.propagate(h)
            total = total + h
        return total / (self.s.order + 1)

    def classify(self, h: Tensor) -> Tensor:
        """(rows, hidden) → (rows, c)."""
        h = self.norm((h + self.bias).relu())
        return self.second(F.dropout(h, self.s.hidden_dropout, self.training))


def consistency_loss(p: Tensor, temperature: float) -> Tensor:
    """mean ||p_s - sharpen(p̄)||² of probabilities (samples, n, c); no gradient passes through the target."""
    target = p.detach().mean(0) ** (1 / temperature)
    target = target / target.sum(1, keepdim=True)
    return (p - target).square().sum(2).mean()


METHOD = Method(name="grand", settings=GrandSettings, fit=partial(fit_network, Grand))
