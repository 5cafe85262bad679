"""GLP, generalised label propagation (Li et al., CVPR 2019): a two-layer perceptron on filtered features.

Z = relu(p(S) X W0) W1, with S = D̃^-1/2 (A+I) D̃^-1/2 and one of two low-pass filters, L = I - S:
renormalisation (RNM)  p(S) = S^k
auto-regressive (AR)   p(S) = (I + αL)^-1, as in its code by the first ⌈4α⌉ terms of its series.
The fewer the labels, the stronger the filter must be. (IGCN of the same paper filters inside a GCN instead.)
"""

from math import ceil
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from dccgcn.features import Scaling, scaling
from dccgcn.methods.base import Method, Task
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.autograd import dropout, dropout_key, relu_dropout
from dccgcn.networks.baselines.neural import prediction_from_logits
from dccgcn.networks.baselines.polynomial_filter import (
    FilteredFeatures,
    Propagation,
    apply_power,
    neumann_series,
    train_on_labelled_rows,
)
from dccgcn.networks.training import seeded
from dccgcn.settings import Settings, count, rate, share, weight

FEW = 12  # labels per class: the middle between 4 and 20, for which the paper has settings


class GlpSettings(Settings):
    """The settings of the paper and its code for citation networks."""

    filter: Literal["rnm", "ar"] = Field("ar", description="Renormalisation filter S^k, or auto-regressive one.")
    k: int | None = Field(
        None, ge=1, description=f"Exponent of the RNM filter; none: 10 below {FEW} labels per class, else 5."
    )
    alpha: float | None = Field(
        None, gt=0, description=f"Strength of the AR filter; none: 20 below {FEW} labels per class, else 10."
    )
    hidden: int = count(16, "Width of the hidden layer.")
    dropout: float = share(0.5, "Share of features and hidden units dropped in training.")
    lr: float = rate(0.01, "Learning rate of Adam.")
    weight_decay: float = weight(5e-4, "L2 penalty on both layers.")
    epochs: int = count(200, "Training epochs.")
    features: Scaling = scaling("row")


class Perceptron(nn.Module):
    """dropout(relu(dropout(x) W0)) W1, without biases, (rows, features) → (rows, classes)."""

    def __init__(self, features: int, hidden: int, classes: int, dropout: float, seed: int) -> None:
        super().__init__()
        self.w0 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(features, hidden)))
        self.w1 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden, classes)))
        self.dropout, self.seed = dropout, seed

    def forward(self, x: Tensor, epoch: int = 0) -> Tensor:
        p = self.dropout if self.training else 0.0
        h = dropout(x, p, dropout_key(self.seed, epoch, 0)) @ self.w0  # (rows, hidden)
        return relu_dropout(h, p, dropout_key(self.seed, epoch, 1)) @ self.w1


def fit(task: Task, s: GlpSettings) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes."""
    graph, train = task.graph, task.train
    k, alpha = filter_strength(s, len(train) / graph.c)

    def p(propagate: Propagation, h: Tensor) -> Tensor:
        if s.filter == "rnm":
            return apply_power(propagate, h, k)
        return neumann_series(propagate, h, 1 / alpha, ceil(4 * alpha))

    features = FilteredFeatures.of(graph, s.features, p)
    with seeded(task.seed):
        network = Perceptron(graph.d, s.hidden, graph.c, s.dropout, task.seed)
    train_on_labelled_rows(task, network, features, s)
    with torch.no_grad():
        logits = features.times(network.w0).relu() @ network.w1
    return prediction_from_logits(logits)


def filter_strength(settings: GlpSettings, labels_per_class: float) -> tuple[int, float]:
    """k and α as set, else by the number of labels."""
    k, alpha = (10, 20.0) if labels_per_class < FEW else (5, 10.0)
    return settings.k or k, settings.alpha or alpha


METHOD = Method(name="glp", settings=GlpSettings, fit=fit)
