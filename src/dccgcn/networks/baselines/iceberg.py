"""IceBerg (Li et al., WWW 2025): a perceptron on propagated features, trained on labels and balanced pseudo-labels.

P = T steps of P ← (1-α) S P + α X, from X; S = D̃^-1/2 (A+I) D̃^-1/2               (n, d)
Z = dropout(relu(P W1 + b1)) W2 + b2                                               (n, c)
Each epoch, from Z without dropout: m_i = max softmax(z_i), ŷ_i = argmax z_i; U = the nodes without a training label
with m_i at least the mean of such nodes; π_j = number of i in U with ŷ_i = j, n_j = number of training labels.
L = mean_train CE(z_i + log n, y_i) + λ mean_U CE(z_i + log π, ŷ_i)     (balanced softmax; "double balancing")

P W1 is computed as the propagation of X W1. The released code trains up to 5000 epochs and takes the one that 30
validation labels per class choose; without validation nodes the last epoch counts, so that the default is fewer.
"""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from sklearn.metrics import f1_score
from torch import Tensor, nn

from dccgcn.features import Scaling, normalise_rows, scaling, topology_operator
from dccgcn.methods import Method, Task
from dccgcn.networks.autograd import FeatureMatrix
from dccgcn.networks.baselines.d2pt import PropagatedFeatures
from dccgcn.networks.layers import Dropout
from dccgcn.networks.training import Network, Score, fit_network
from dccgcn.settings import Settings, count, rate, share, weight


class IcebergSettings(Settings):
    """The settings of the released code for Cora, but for the number of epochs (5000 there, patience 2000)."""

    steps: int = count(20, "Steps of propagation, T.")
    alpha: float = Field(0.1, gt=0, le=1, description="Share of the unpropagated features in each step.")
    hidden: int = count(128, "Width of the hidden layer.")
    dropout: float = share(0.5, "Share of hidden units dropped in training.")
    pseudo_weight: float = weight(1.0, "Weight λ of the pseudo-labels in the loss.")
    lr: float = rate(0.1, "Learning rate of Adam.")
    weight_decay: float = weight(5e-3, "L2 penalty on the first layer.")
    epochs: int = count(200, "Maximum number of training epochs.")
    patience: int = count(2000, "Epochs without improvement on the validation nodes before training stops.")
    features: Scaling = scaling("raw")


class Iceberg(Network):
    """The perceptron. Shapes: (n, d) → pre-activation (n, hidden) → (nodes, c)."""

    def __init__(self, task: Task, s: IcebergSettings) -> None:
        super().__init__()
        graph, self.s = task.graph, s
        x = FeatureMatrix.of(normalise_rows(graph.features, s.features))
        self.channel = PropagatedFeatures(topology_operator(graph, "symmetric"), x, s.alpha, s.steps)
        self.unlabelled = torch.tensor(np.setdiff1d(np.arange(graph.n), task.train))
        self.first, self.second = nn.Linear(graph.d, s.hidden), nn.Linear(s.hidden, graph.c)
        self.dropout = Dropout(s.dropout)

    def decayed_parameters(self) -> list[nn.Parameter]:
        return list(self.first.parameters())

    def hidden(self) -> Tensor:
        """P W1 + b1, (n, hidden)."""
        return self.channel.times(self.first.weight.T.contiguous()) + self.first.bias

    def head(self, pre_activation: Tensor) -> Tensor:
        """(nodes, hidden) → (nodes, c)."""
        return self.second(self.dropout(pre_activation.relu()))

    def forward(self, nodes: Tensor) -> Tensor:
        return self.head(self.hidden())[nodes]

    def loss(self, nodes: Tensor, labels: Tensor, epoch: int) -> Tensor:
        h = self.hidden()
        self.eval()
        with torch.no_grad():
            chosen, classes = pseudo_labels(self.head(h), self.unlabelled)
        self.train()
        z = self.head(h[torch.cat([nodes, chosen])])
        supervised = balanced_cross_entropy(z[: len(nodes)], labels)
        if len(chosen) == 0:  # every node has a label
            return supervised
        return supervised + self.s.pseudo_weight * balanced_cross_entropy(z[len(nodes) :], classes)

    def score(self, task: Task) -> Score | None:
        """The mean of accuracy and macro-F1 of the validation nodes."""
        if task.validation is None:
            return None
        nodes, truth = torch.tensor(task.validation), task.graph.labels[task.validation]

        def score() -> tuple[float, ...]:
            self.eval()
            with torch.no_grad():
                classes = self(nodes).argmax(1).cpu().numpy()
            self.train()
            f1 = f1_score(truth, classes, average="macro", zero_division=0)
            return (float((classes == truth).mean() + f1) / 2,)

        return score


@torch.no_grad()
def pseudo_labels(z: Tensor, unlabelled: Tensor) -> tuple[Tensor, Tensor]:
    """U and the classes of its nodes. Shapes: z (n, c), unlabelled (u,) → both (U,)."""
    confidence, classes = z[unlabelled].softmax(1).max(1)
    chosen = confidence >= confidence.mean()
    return unlabelled[chosen], classes[chosen]


def balanced_cross_entropy(z: Tensor, classes: Tensor) -> Tensor:
    """Mean of CE(z_i + log counts, class_i), counts being those of ``classes``; a class without any drops out."""
    return F.cross_entropy(z + torch.bincount(classes, minlength=z.shape[1]).log(), classes)


METHOD = Method(name="iceberg", settings=IcebergSettings, fit=partial(fit_network, Iceberg))
