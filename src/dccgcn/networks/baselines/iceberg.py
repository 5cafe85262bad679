"""IceBerg (Li et al., WWW 2025): a perceptron on propagated features, trained on labels and balanced pseudo-labels.

P = T steps of P ← (1-α) S P + α X, from X; S = D̃^-1/2 (A+I) D̃^-1/2               (n, d)
Z = dropout(relu(P W1 + b1)) W2 + b2                                               (n, c)
Each epoch, from Z without dropout: m_i = max softmax(z_i), ŷ_i = argmax z_i; U = the nodes without a training label
with m_i at least the mean of such nodes; π_j = number of i in U with ŷ_i = j, n_j = number of training labels.
L = mean_train CE(z_i + log n, y_i) + λ mean_U CE(z_i + log π, ŷ_i)     (balanced softmax; "double balancing")

P W1 is computed as the propagation of X W1. The released code trains up to 5000 epochs and takes the one that 30
validation labels per class choose; without validation nodes the last epoch counts, so that the default is fewer.
"""

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from sklearn.metrics import f1_score
from torch import Tensor, nn

from dccgcn.features import Scaling, normalise_rows, scaling, topology_operator
from dccgcn.methods import Method, Prediction, Task
from dccgcn.networks.autograd import FeatureMatrix
from dccgcn.networks.baselines.d2pt import PropagatedFeatures
from dccgcn.networks.layers import Dropout
from dccgcn.networks.training import prediction_from_logits, seeded, train_full_batch
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


class Iceberg(nn.Module):
    """The perceptron. Shapes: (n, d) → pre-activation (n, hidden) → (nodes, c)."""

    def __init__(self, d: int, hidden: int, c: int, dropout: float) -> None:
        super().__init__()
        self.first, self.second, self.dropout = nn.Linear(d, hidden), nn.Linear(hidden, c), Dropout(dropout)

    def hidden(self, channel: PropagatedFeatures) -> Tensor:
        """P W1 + b1, (n, hidden)."""
        return channel.times(self.first.weight.T.contiguous()) + self.first.bias

    def head(self, pre_activation: Tensor) -> Tensor:
        """(nodes, hidden) → (nodes, c)."""
        return self.second(self.dropout(pre_activation.relu()))


@torch.no_grad()
def pseudo_labels(z: Tensor, unlabelled: Tensor) -> tuple[Tensor, Tensor]:
    """U and the classes of its nodes. Shapes: z (n, c), unlabelled (u,) → both (U,)."""
    confidence, classes = z[unlabelled].softmax(1).max(1)
    chosen = confidence >= confidence.mean()
    return unlabelled[chosen], classes[chosen]


def balanced_cross_entropy(z: Tensor, classes: Tensor) -> Tensor:
    """Mean of CE(z_i + log counts, class_i), counts being those of ``classes``; a class without any drops out."""
    return F.cross_entropy(z + torch.bincount(classes, minlength=z.shape[1]).log(), classes)


def fit(task: Task, s: IcebergSettings) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes."""
    graph, train = task.graph, task.train
    x = FeatureMatrix.of(normalise_rows(graph.features, s.features))
    channel = PropagatedFeatures(topology_operator(graph, "symmetric"), x, s.alpha, s.steps)
    with seeded(task.seed):
        model = Iceberg(graph.d, s.hidden, graph.c, s.dropout)
    nodes, labels = torch.tensor(train), torch.as_tensor(task.labels)
    unlabelled = torch.tensor(np.setdiff1d(np.arange(graph.n), train))

    def evaluate(pre_activation: Tensor) -> Tensor:
        model.eval()
        with torch.no_grad():
            z = model.head(pre_activation)
        model.train()
        return z

    def loss(epoch: int) -> Tensor:
        h = model.hidden(channel)
        chosen, classes = pseudo_labels(evaluate(h), unlabelled)
        z = model.head(h[torch.cat([nodes, chosen])])
        supervised = balanced_cross_entropy(z[: len(nodes)], labels)
        if len(chosen) == 0:  # every node has a label
            return supervised
        return supervised + s.pseudo_weight * balanced_cross_entropy(z[len(nodes) :], classes)

    def score() -> tuple[float, ...]:
        with torch.no_grad():
            answers = evaluate(model.hidden(channel)).argmax(1).cpu().numpy()[task.validation]
        truth = graph.labels[task.validation]
        return (float((answers == truth).mean() + f1_score(truth, answers, average="macro", zero_division=0)) / 2,)

    groups = [{"params": list(model.first.parameters()), "weight_decay": s.weight_decay}]
    groups.append({"params": list(model.second.parameters()), "weight_decay": 0.0})
    with seeded(task.seed):
        train_full_batch(
            loss, groups, s.lr, s.epochs, task.progress, None if task.validation is None else score, s.patience
        )
    with torch.no_grad():
        return prediction_from_logits(evaluate(model.hidden(channel)))


METHOD = Method(name="iceberg", settings=IcebergSettings, fit=fit)
