"""GCN (Kipf & Welling, ICLR 2017): Z = S relu(S X W0) W1 with S = D̃^-1/2 (A+I) D̃^-1/2.

MLP: Z = relu(X W0) W1, which is GCN with S = I. It uses features only.

kNN-GCN: GCN on the cosine kNN graph of the features, a baseline of Wang et al. (KDD 2020).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from dccgcn.features import Normalisation, Operator, Scaling, knn_operator, scaling, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods import Method, Prediction, Task
from dccgcn.networks.layers import ReceptiveField, TorchOperator, TwoLayerGcn
from dccgcn.networks.training import prediction_from_logits, seeded, train_full_batch, validation_score
from dccgcn.settings import Settings, count, rate, share, weight


class TwoLayerSettings(Settings):
    """The settings of the paper and its code, without those of the graph."""

    hidden: int = count(16, "Width of the hidden layer.")
    dropout: float = share(0.5, "Share of features and hidden units dropped in training.")
    lr: float = rate(0.01, "Learning rate of Adam.")
    weight_decay: float = weight(5e-4, "L2 penalty on the first layer.")
    epochs: int = count(200, "Training epochs.")
    features: Scaling = scaling("row")


class GcnSettings(TwoLayerSettings):
    """The settings of the paper and its code."""

    normalisation: Normalisation = Field("symmetric", description="How A + I is normalised.")


def fit_on(operator_of: Callable[[NodeGraph, Any], Operator], task: Task, settings: TwoLayerSettings) -> Prediction:
    """Train GCN on operator_of(graph, settings), with the labels of the nodes in ``train``, and classify all nodes."""
    return fit_on_operator(operator_of(task.graph, settings), task, settings)


def fit_on_operator(
    operator: Operator,
    task: Task,
    s: TwoLayerSettings,
    *,
    labels: np.ndarray | None = None,
    weights: Callable[[int], Tensor] | None = None,
    patience: int | None = None,
) -> Prediction:
    """GCN on any graph over the same nodes.

    labels: a class for each node in ``train``, which may list a node twice; omitted: those of the graph.
    weights(epoch): the factor of each node's cross-entropy in the loss, (train,); omitted: the mean.
    patience: epochs without a smaller validation loss before training stops; omitted: no early stopping, and the epoch
    with the best validation accuracy is used.
    """
    graph = task.graph
    a = TorchOperator.of(operator)
    with seeded(task.seed):
        model = TwoLayerGcn(graph.d, s.hidden, graph.c, s.dropout, output_activation=False)
    field_of = partial(ReceptiveField.of, graph, s.features, a)
    field = field_of(task.train)
    targets = torch.as_tensor(task.labels if labels is None else labels)

    def loss(epoch: int) -> Tensor:
        logits = model(field, a.alpha, (task.seed, epoch, 0))
        if weights is None:
            return F.cross_entropy(logits, targets)
        return F.cross_entropy(logits, targets, reduction="none") @ weights(epoch)

    score = accuracy_and_loss = validation_score(task, model, field_of, lambda field: model(field, a.alpha))
    if accuracy_and_loss and patience is not None:
        score = lambda: accuracy_and_loss()[1:]  # noqa: E731
    groups: list[dict[str, Any]] = [
        {"params": [model.theta1], "weight_decay": s.weight_decay},
        {"params": [model.theta2]},
    ]
    train_full_batch(loss, groups, s.lr, s.epochs, task.progress, score, patience)
    model.eval()
    with torch.no_grad():
        logits = model(field_of(np.arange(graph.n)), a.alpha)
    return prediction_from_logits(logits, operator.findings)


def topology(graph: NodeGraph, settings: GcnSettings) -> Operator:
    """S of the given edges."""
    return topology_operator(graph, settings.normalisation)


fit = partial(fit_on, topology)

METHOD = Method(name="gcn", settings=GcnSettings, fit=fit)


class MlpSettings(TwoLayerSettings):
    """GCN's settings, without those of the graph."""


def identity(graph: NodeGraph, settings: MlpSettings) -> Operator:
    """S = I: that of a graph without edges."""
    edgeless = sp.csr_array((graph.n, graph.n), dtype=np.float32)
    return Operator.of(edgeless, "none")


MLP = Method(name="mlp", settings=MlpSettings, fit=partial(fit_on, identity))


class KnnGcnSettings(GcnSettings):
    """GCN's settings and the number of neighbours."""

    k: int = count(6, "Neighbours of each node in the feature graph.")

    @property
    def neighbours(self) -> int:
        return self.k


def feature_graph(graph: NodeGraph, settings: KnnGcnSettings) -> Operator:
    """S of the kNN graph."""
    return knn_operator(graph, settings.k, settings.normalisation)


KNN_GCN = Method(name="knn-gcn", settings=KnnGcnSettings, fit=partial(fit_on, feature_graph))
