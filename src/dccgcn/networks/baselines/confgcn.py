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
from dccgcn.methods import Method, Prediction, Task
from dccgcn.networks.autograd import dropout, dropout_key, relu_dropout, spmm
from dccgcn.networks.dcc import equations
from dccgcn.networks.dcc.equations import distance, influence
from dccgcn.networks.layers import ReceptiveField, TorchOperator
from dccgcn.networks.training import prediction_from_logits, seeded, train_full_batch, validation_score
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


def fit(task: Task, s: ConfGcnSettings) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes."""
    graph = task.graph
    operator = TorchOperator.of(topology_operator(graph, "none"))
    with seeded(task.seed):
        model = ConfGcn(graph.n, graph.d, graph.c, operator, s)
    field_of = partial(ReceptiveField.of, graph, s.features, operator)
    field, nodes, labels = field_of(task.train), torch.tensor(task.train), torch.as_tensor(task.labels)

    def loss(epoch: int) -> Tensor:
        d, logits = model(field, (task.seed, epoch))
        return (
            F.cross_entropy(logits, labels)
            + confidence_loss(model.mu, model.s, d, logits, nodes, labels, s)
            + penalty(list(model.parameters()), s.l2)
        )

    score = validation_score(task, model, field_of, lambda field: model(field)[1])
    train_full_batch(loss, [{"params": list(model.parameters())}], s.lr, s.epochs, task.progress, score)
    model.eval()
    with torch.no_grad():
        logits = model(field_of(np.arange(graph.n)))[1]
    return prediction_from_logits(logits)


class ConfGcn(nn.Module):
    """Two layers h_v = Σ_u r_uv h_u W whose edge weights r come from μ and s.

    Shapes: X (inputs, features) → (outputs, classes); μ, s (nodes, classes).
    """

    def __init__(
        self, nodes: int, features: int, classes: int, operator: TorchOperator, settings: ConfGcnSettings
    ) -> None:
        super().__init__()
        self.operator, self.settings = operator, settings
        self.theta1 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(features, settings.hidden)))
        self.theta2 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(settings.hidden, classes)))
        self.mu_scores = nn.Parameter(nn.init.xavier_uniform_(torch.empty(nodes, classes)))
        self.s_scores = nn.Parameter(torch.ones(nodes, classes))

    @property
    def mu(self) -> Tensor:
        """Label distributions, (n, c)."""
        return self.mu_scores.softmax(1)

    @property
    def s(self) -> Tensor:
        """Diagonals of the inverse covariances, (n, c)."""
        return F.elu(self.s_scores)

    def forward(self, field: ReceptiveField, dropout_at: tuple[int, int] = (0, 0)) -> tuple[Tensor, Tensor]:
        """Distances on all entries of the operator, logits of the field's outputs. dropout_at: (seed, epoch)."""
        p = self.settings.dropout if self.training else 0.0
        d = distance(self.operator.pattern, self.mu, self.s)
        # s may be negative until l_reg raises it; d + bias must stay positive
        r = influence(self.operator.pattern, d.clamp(min=0), "softmax", self.settings.bias)
        first, second = field.layers
        h = field.x.times(self.theta1, p, dropout_key(*dropout_at, 0))  # (inputs, width)
        h = spmm(first.pattern, first.weights(r), h)  # (hidden, width)
        key = dropout_key(*dropout_at, 1)
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


METHOD = Method(name="confgcn", settings=ConfGcnSettings, fit=fit)
