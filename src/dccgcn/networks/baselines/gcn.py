"""GCN (Kipf & Welling, ICLR 2017): Z = S relu(S X W0) W1 with S = D̃^-1/2 (A+I) D̃^-1/2."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from dccgcn.features import Normalisation, Operator, Scaling, scaling, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Method
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines.neural import prediction_from_logits
from dccgcn.networks.layers import TwoLayerGcn
from dccgcn.networks.receptive_field import ReceptiveField
from dccgcn.networks.torch_operator import TorchOperator
from dccgcn.networks.training import seeded, train_full_batch, validation_score
from dccgcn.progress import Progress
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


def fit_on(
    operator_of: Callable[[NodeGraph, Any], Operator],
    graph: NodeGraph,
    train: np.ndarray,
    settings: TwoLayerSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Train GCN on operator_of(graph, settings), with the labels of the nodes in ``train``, and classify all nodes."""
    return fit_on_operator(operator_of(graph, settings), graph, train, settings, seed, progress, validation)


def fit_on_operator(
    operator: Operator,
    graph: NodeGraph,
    train: np.ndarray,
    settings: TwoLayerSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
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
    s, a = settings, TorchOperator.of(operator)
    with seeded(seed):
        model = TwoLayerGcn(graph.d, s.hidden, graph.c, s.dropout, output_activation=False)
    field = ReceptiveField.of(graph, s.features, a, train)
    targets = torch.as_tensor(graph.labels[train] if labels is None else labels)

    def loss(epoch: int) -> Tensor:
        logits = model(field, a.alpha, (seed, epoch, 0))
        if weights is None:
            return F.cross_entropy(logits, targets)
        return F.cross_entropy(logits, targets, reduction="none") @ weights(epoch)

    score = None
    if validation is not None:
        checked = ReceptiveField.of(graph, s.features, a, validation)
        validation_labels = torch.as_tensor(graph.labels[validation])
        accuracy_and_loss = validation_score(model, lambda: model(checked, a.alpha), validation_labels)
        score = accuracy_and_loss if patience is None else lambda: accuracy_and_loss()[1:]
    groups: list[dict[str, Any]] = [
        {"params": [model.theta1], "weight_decay": s.weight_decay},
        {"params": [model.theta2]},
    ]
    train_full_batch(loss, groups, s.lr, s.epochs, progress, score, patience)
    model.eval()
    with torch.no_grad():
        logits = model(ReceptiveField.of(graph, s.features, a, np.arange(graph.n)), a.alpha)
    return prediction_from_logits(logits, operator.findings)


def topology(graph: NodeGraph, settings: GcnSettings) -> Operator:
    """S of the given edges."""
    return topology_operator(graph, settings.normalisation)


fit = partial(fit_on, topology)

METHOD = Method(name="gcn", settings=GcnSettings, fit=fit)
