"""ConfGCN (Vashishth et al., AISTATS 2019): neighbours weighted by the similarity and certainty of label estimates.

Every node has a label distribution μ_v and a diagonal inverse covariance s_v, both learned.
d(u,v) = Σ_c (μ_u - μ_v)² (s_u + s_v), r_uv = softmax over u in N(v)+v of 1/(d + bias), layer h_v = Σ_u r_uv h_u W.
Loss: CE + l_smooth/4 Σ_(u,v) d(u,v) over both directions of every edge + l_label/2 Σ_L (Y - μ)² (s + γ)
+ l_const Σ_L ‖softmax(z) - μ‖² + l_reg Σ relu(-s) + Σ_w l2/2 (l2/2 ‖w‖²)² over all parameters w, μ and s included.
The last is how the released code applies its L2 penalty, twice. The published settings are tuned to it: once, with the
same weight, costs 12 points on Cora.
"""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from dccgcn.features import Scaling, scaling, topology_operator
from dccgcn.methods import Method, Task
from dccgcn.networks.autograd import dropout, dropout_key, relu_dropout, spmm
from dccgcn.networks.dcc import equations
from dccgcn.networks.dcc.equations import distance, influence
from dccgcn.networks.layers import ReceptiveField, TorchOperator
from dccgcn.networks.training import Network, fit_network
from dccgcn.settings import Settings, count, rate, share, weight


class ConfGcnSettings(Settings):
    """The settings of the released code for Cora."""

    hidden: int = count(16, "Width of the hidden layer.")
    dropout: float = share(0.8, "Share of features and hidden units dropped in training.")
    lr: float = rate(0.01, "Learning rate of Adam.")
    l2: float = weight(0.01, "Weight of the penalty on all parameters, l2/2 (l2/2 |w|²)² for each.")
    epochs: int = count(250, "Training epochs.")
    features: Scaling = scaling("row")
    activation: bool = Field(False, description="ReLU between the layers, as in the paper; the released code has none.")
    bias: float = rate(1.0, "Added to the distance d in 1/d, which is infinite on every self-loop.")
    gamma: float = rate(0.1, "Certainty of the given labels, added to s.")
    l_smooth: float = weight(0.0, "Weight of the smoothness of mu over the edges.")
    l_label: float = weight(1.0, "Weight of the label loss on mu.")
    l_const: float = weight(0.0, "Weight of the squared difference of predictions and mu, on labelled nodes.")
    l_reg: float = weight(1.0, "Weight of the penalty that keeps s positive.")


class ConfGcn(Network):
    """Two layers h_v = Σ_u r_uv h_u W whose edge weights r come from μ and s.

    Shapes: X (inputs, features) → (outputs, classes); μ, s (nodes, classes).
    """

    def __init__(self, task: Task, s: ConfGcnSettings) -> None:
        super().__init__()
        self.graph, self.seed, self.settings = task.graph, task.seed, s
        self.nodes = torch.tensor(task.train)
        n, d, c = self.graph.n, self.graph.d, self.graph.c
        self.operator = TorchOperator.of(topology_operator(self.graph, "none"))
        shapes = (d, s.hidden), (s.hidden, c), (n, c)
        weights = (nn.Parameter(nn.init.xavier_uniform_(torch.empty(shape))) for shape in shapes)
        self.theta1, self.theta2, self.mu_scores = weights
        self.s_scores = nn.Parameter(torch.ones(n, c))

    def inputs_of(self, nodes: np.ndarray) -> ReceptiveField:
        return ReceptiveField.of(self.graph, self.settings.features, self.operator, nodes)

    def loss(self, field: ReceptiveField, labels: Tensor, epoch: int) -> Tensor:
        d, logits = self.distances_and_logits(field, epoch)
        return (
            F.cross_entropy(logits, labels)
            + confidence_loss(self.mu, self.s, d, logits, self.nodes, labels, self.settings)
            + penalty(list(self.parameters()), self.settings.l2)
        )

    def decayed_parameters(self) -> list[nn.Parameter]:
        return []  # the penalty is in the loss

    @property
    def mu(self) -> Tensor:
        """Label distributions, (n, c)."""
        return self.mu_scores.softmax(1)

    @property
    def s(self) -> Tensor:
        """Diagonals of the inverse covariances, (n, c)."""
        return F.elu(self.s_scores)

    def forward(self, field: ReceptiveField) -> Tensor:
        return self.distances_and_logits(field)[1]

    def distances_and_logits(self, field: ReceptiveField, epoch: int = 0) -> tuple[Tensor, Tensor]:
        """Distances on all entries of the operator, logits of the field's outputs, with the dropout of an epoch."""
        p = self.settings.dropout if self.training else 0.0
        d = distance(self.operator.pattern, self.mu, self.s)
        # s may be negative until l_reg raises it; d + bias must stay positive
        r = influence(self.operator.pattern, d.clamp(min=0), "softmax", self.settings.bias)
        first, second = field.layers
        h = field.x.times(self.theta1, p, dropout_key(self.seed, epoch, 0))  # (inputs, width)
        h = spmm(first.pattern, first.weights(r), h)  # (hidden, width)
        key = dropout_key(self.seed, epoch, 1)
        h = relu_dropout(h, p, key) if self.settings.activation else h * dropout(torch.ones_like(h), p, key)
        return d, spmm(second.pattern, second.weights(r), h @ self.theta2)  # (outputs, c)


def confidence_loss(
    mu: Tensor, s: Tensor, d: Tensor, logits: Tensor, nodes: Tensor, labels: Tensor, settings: ConfGcnSettings
) -> Tensor:
    """Every term but the cross-entropy and L2. Shapes: mu, s (n, c), d (entries,), logits (labelled, c)."""
    smooth = d.sum() / 4
    label = equations.l_label(mu[nodes], s[nodes], labels, 1 / settings.gamma, "sum") / 2
    const = (logits.softmax(1) - mu[nodes]).square().sum()
    return (
        settings.l_smooth * smooth
        + settings.l_label * label
        + settings.l_const * const
        + settings.l_reg * (-s).relu().sum()
    )


def penalty(parameters: list[nn.Parameter], l2: float) -> Tensor:
    """The L2 loss l2/2 ‖·‖² of the L2 loss of each parameter."""
    return torch.stack([l2 / 2 * (l2 / 2 * w.square().sum()).square() for w in parameters]).sum()


METHOD = Method(name="confgcn", settings=ConfGcnSettings, fit=partial(fit_network, ConfGcn))
