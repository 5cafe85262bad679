"""Perceptrons on propagated features, made for few labels: D²PT and IceBerg."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from sklearn.metrics import f1_score
from torch import Tensor, nn

from dccgcn.features import Operator, Scaling, knn_operator, normalise_rows, scaling, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods import Cost, Method, Task, network_cost
from dccgcn.networks.autograd import FeatureMatrix
from dccgcn.networks.baselines.filtered import ppr_filter
from dccgcn.networks.layers import Dropout, TorchOperator
from dccgcn.networks.training import Network, Score, fit_network
from dccgcn.progress import Progress
from dccgcn.settings import Settings, count, rate, share, weight

_TEMPERATURE = 0.3


class D2ptSettings(Settings):
    """The settings of the released code for Cora with few labels, but for the number of epochs (2000 there)."""

    steps: int = count(20, "Steps of propagation, T.")
    alpha: float = rate(0.1, "Share of the unpropagated features in each step.", most=1)
    k: int = count(15, "Neighbours in the graph of the propagated features.")
    hidden: int = count(64, "Width of the hidden layer.")
    lambda_ce: float = weight(0.5, "Weight of the cross-entropy on the second graph.")
    lambda_pa: float = weight(5.0, "Weight of the prototype alignment.")
    lr: float = rate(0.1, "Learning rate of Adam.")
    weight_decay: float = weight(5e-3, "L2 penalty on all parameters.")
    epochs: int = count(200, "Training epochs.")
    features: Scaling = scaling("raw")

    @property
    def neighbours(self) -> int:
        return self.k


class PropagatedFeatures:
    """h → p(S) X h, the propagation of X over one graph: (d, width) → (n, width)."""

    def __init__(self, operator: Operator, x: FeatureMatrix, alpha: float, steps: int) -> None:
        self.operator, self.x, self.alpha, self.steps = TorchOperator.of(operator), x, alpha, steps

    def times(self, theta: Tensor) -> Tensor:
        return ppr_filter(self.operator.propagate, self.x.times(theta), self.alpha, self.steps)


class D2pt(Network):
    """D²PT (Liu et al., KDD 2023): one perceptron on features propagated over two graphs, aligned prototypes.

    P  = T steps of P ← (1-α) S P + α X, from X; S = D̃^-1/2 (A+I) D̃^-1/2                  (n, d)
    P' = the same with S' of the graph of the k nearest rows of P by cosine                (n, d)
    h = relu(P W1 + b1), o = log softmax(h W2 + b2), f = h W3 + b3; h', o', f' of P' with the same weights
    L = NLL(o) + λ_ce NLL(o') over the training nodes + λ_pa PA

    PA, prototype alignment: ŷ_i = argmax o_i with weight w_i = max exp(o_i) (a training node: its label, weight 1);
    p_j = the mean of f_i over ŷ_i = j, weighted by w_i and of unit length; p'_j of f' with the same ŷ and w;
    PA = mean_j -log( exp(p'_j·p_j / t) / (Σ_l exp(p'_j·p_l / t) + Σ_{l≠j} exp(p'_j·p'_l / t)) ), t = 0.3.

    P W1 is computed as the propagation of X W1, so P is formed once only, to find its nearest rows. The released code
    applies dropout in the first of its 2000 epochs only; here there is none. Its best epoch is that of 30 validation
    labels per class; without validation nodes the last one counts, so that the default is fewer epochs.

    Shapes: (n, d) → o (n, c) and f (n, hidden).
    """

    def __init__(self, task: Task, s: D2ptSettings) -> None:
        super().__init__()
        graph, self.s = task.graph, s
        features = normalise_rows(graph.features, s.features)
        nearest = propagated_knn(graph, features, s, task.progress)
        x, self.findings = FeatureMatrix.of(features), nearest.findings
        self.channels = [
            PropagatedFeatures(operator, x, s.alpha, s.steps)
            for operator in (topology_operator(graph, "symmetric"), nearest)
        ]
        self.w1, self.b1 = _layer(graph.d, s.hidden)
        self.w2, self.b2 = _layer(s.hidden, graph.c)
        self.w3, self.b3 = _layer(s.hidden, s.hidden)

    def outputs(self, channel: PropagatedFeatures) -> tuple[Tensor, Tensor]:
        """o and f of one channel."""
        h = (channel.times(self.w1) + self.b1).relu()  # (n, hidden)
        return (h @ self.w2 + self.b2).log_softmax(1), h @ self.w3 + self.b3

    def forward(self, nodes: Tensor) -> Tensor:
        return self.outputs(self.channels[0])[0][nodes]

    def loss(self, nodes: Tensor, labels: Tensor, epoch: int) -> Tensor:
        s, ((o, f), (o2, f2)) = self.s, map(self.outputs, self.channels)
        alignment = prototype_alignment(o, f, f2, nodes, labels)
        return F.nll_loss(o[nodes], labels) + s.lambda_ce * F.nll_loss(o2[nodes], labels) + s.lambda_pa * alignment


def _layer(inputs: int, outputs: int) -> tuple[nn.Parameter, nn.Parameter]:
    """W and b as the released code draws them: the range of b goes by the outputs."""
    w = nn.init.uniform_(torch.empty(inputs, outputs), -(inputs**-0.5), inputs**-0.5)
    return nn.Parameter(w), nn.Parameter(nn.init.uniform_(torch.empty(outputs), -(outputs**-0.5), outputs**-0.5))


def prototype_alignment(o: Tensor, f: Tensor, f2: Tensor, train: Tensor, labels: Tensor) -> Tensor:
    """PA. Shapes: o (n, c), f and f' (n, hidden), train and labels (train,) → ()."""
    n, c = o.shape
    confidence, classes = o.exp().max(1)
    known = torch.zeros(n, dtype=torch.bool)
    known[train] = True
    w = torch.where(known, 1.0, confidence)
    classes = classes.scatter(0, train, labels)
    assignment = F.one_hot(classes, c) * w[:, None]  # (n, c); dividing by its sums is left to the normalisation
    p, p2 = (F.normalize(assignment.T @ each) for each in (f, f2))  # (c, hidden)
    own = torch.eye(c, dtype=torch.bool)
    others = (p2 @ p2.T).masked_fill(own, -torch.inf)
    return F.cross_entropy(torch.cat([p2 @ p.T, others], 1) / _TEMPERATURE, torch.arange(c))


def propagated_knn(graph: NodeGraph, x: Any, s: D2ptSettings, progress: Progress | None) -> Operator:
    """S' of the k nearest rows of P."""

    def build() -> Operator:
        matrix = topology_operator(graph, "symmetric").matrix
        dense = (x.toarray() if sp.issparse(x) else np.asarray(x)).astype(np.float32)
        p = dense
        for _ in range(s.steps):
            p = (1 - s.alpha) * (matrix @ p) + s.alpha * dense
        return knn_operator(graph.with_features(p.astype(np.float32)), s.k, "symmetric", progress)

    return graph.cached(("propagated knn", s.features, s.steps, s.alpha, s.k), build)


def cost(graph: NodeGraph, settings: D2ptSettings) -> Cost:
    """The cost of a network whose operators are applied T times in each epoch, and of P in double precision."""
    base = network_cost(graph, settings)
    return replace(base, bytes=base.bytes + 16.0 * graph.n * graph.d, seconds=base.seconds * settings.steps)


D2PT = Method(name="d2pt", settings=D2ptSettings, fit=partial(fit_network, D2pt), cost=cost)


class IcebergSettings(Settings):
    """The settings of the released code for Cora, but for the number of epochs (5000 there, patience 2000)."""

    steps: int = count(20, "Steps of propagation, T.")
    alpha: float = rate(0.1, "Share of the unpropagated features in each step.", most=1)
    hidden: int = count(128, "Width of the hidden layer.")
    dropout: float = share(0.5, "Share of hidden units dropped in training.")
    pseudo_weight: float = weight(1.0, "Weight λ of the pseudo-labels in the loss.")
    lr: float = rate(0.1, "Learning rate of Adam.")
    weight_decay: float = weight(5e-3, "L2 penalty on the first layer.")
    epochs: int = count(200, "Maximum number of training epochs.")
    patience: int = count(2000, "Epochs without improvement on the validation nodes before training stops.")
    features: Scaling = scaling("raw")


class Iceberg(Network):
    """IceBerg (Li et al., WWW 2025): a perceptron on propagated features, trained on labels and balanced pseudo-labels.

    P = T steps of P ← (1-α) S P + α X, from X; S = D̃^-1/2 (A+I) D̃^-1/2               (n, d)
    Z = dropout(relu(P W1 + b1)) W2 + b2                                               (n, c)
    Each epoch, from Z without dropout: m_i = max softmax(z_i), ŷ_i = argmax z_i; U = the nodes without a training label
    with m_i at least the mean of such nodes; π_j = number of i in U with ŷ_i = j, n_j = number of training labels.
    L = mean_train CE(z_i + log n, y_i) + λ mean_U CE(z_i + log π, ŷ_i)     (balanced softmax; "double balancing")

    P W1 is computed as the propagation of X W1. The released code trains up to 5000 epochs and takes the one that 30
    validation labels per class choose; without validation nodes the last epoch counts, so that the default is fewer.

    Shapes: (n, d) → pre-activation (n, hidden) → (nodes, c).
    """

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


ICEBERG = Method(name="iceberg", settings=IcebergSettings, fit=partial(fit_network, Iceberg))
