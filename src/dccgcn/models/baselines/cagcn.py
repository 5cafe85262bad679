"""CaGCN (Wang et al., NeurIPS 2021): a second GCN says how far to trust the first, node by node.

The logits V of a trained GCN are frozen. A GCN on the same graph maps them to one number per node, g = S relu(S V Θ1
+ b1) Θ2 + b2, and t = log(exp(g) + 1.1) > 0 scales them: softmax(t_v V_v) is calibrated, and its argmax is GCN's. Loss:
cross-entropy + λ · mean of (1 - p_max + p_2nd where the answer is right, p_max - p_2nd where it is wrong).

It calibrates on the validation nodes, as its code does, or on the training nodes where there are no others.
"""

import math
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.errors import Finding
from dccgcn.graph import NodeGraph
from dccgcn.kernels import dropout_key, relu_dropout, spmm
from dccgcn.models.base import Method
from dccgcn.models.baselines import gcn
from dccgcn.models.baselines.pseudo_label_utils import given, retrain
from dccgcn.models.prediction import Prediction
from dccgcn.models.training import Progress, seeded, train_full_batch, validation_score
from dccgcn.operators import Operator, topology_operator
from dccgcn.settings import count, rate, weight


class CagcnSettings(gcn.GcnSettings):
    """The released code's, but that there weight decay is on all parameters of the classifying GCN."""

    hidden: int = count(64, "Width of the hidden layer of the classifying GCN.")
    calibration_hidden: int = count(16, "Width of the hidden layer of the calibrating GCN.")
    calibration_lr: float = rate(0.01, "Learning rate of Adam for calibration.")
    calibration_weight_decay: float = weight(5e-3, "L2 penalty on the calibrating GCN.")
    calibration_epochs: int = count(200, "Epochs of calibration on training nodes.")
    most_epochs: int = count(2000, "Most epochs of either GCN where there are validation nodes to stop it.")
    patience: int = count(100, "Epochs without a smaller validation loss after which they stop.")
    margin: float = weight(0.5, "Weight of the term that parts right answers from wrong ones.")


class Calibrator(nn.Module):
    """t of each node from the logits of all, (n, c) → (n, 1)."""

    def __init__(self, view: Operator, logits: Tensor, hidden: int, dropout: float) -> None:
        super().__init__()
        self.view, self.dropout = view, dropout
        self.propagated = spmm(view.pattern, view.alpha, logits)  # S V: no parameter comes before it
        self.theta1 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(logits.shape[1], hidden)))
        self.b1 = nn.Parameter(torch.zeros(hidden))
        self.theta2 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden, 1)))
        self.b2 = nn.Parameter(torch.zeros(1))

    def forward(self, key: int = 0) -> Tensor:
        p = self.dropout if self.training else 0.0
        h = relu_dropout(self.propagated @ self.theta1 + self.b1, p, key)  # (n, hidden)
        g = spmm(self.view.pattern, self.view.alpha, h @ self.theta2) + self.b2
        return torch.logaddexp(g, torch.tensor(math.log(1.1)))


def margin_loss(probabilities: Tensor, right: Tensor) -> Tensor:
    """Mean of 1 - p_max + p_2nd over right answers and p_max - p_2nd over wrong ones. Shapes: (k, c), (k,) bool."""
    top = probabilities.topk(2, dim=1).values
    gap = top[:, 0] - top[:, 1]
    return torch.where(right, 1 - gap, gap).mean()


def calibrated(
    view: Operator,
    logits: Tensor,
    nodes: np.ndarray,
    labels: np.ndarray,
    settings: CagcnSettings,
    seed: int,
    stops: bool,
) -> Tensor:
    """Scaled logits of all nodes, (n, c), with t learned on some. stops: until their loss no longer falls."""
    s = settings
    with seeded(seed):
        model = Calibrator(view, logits, s.calibration_hidden, s.dropout)
    where, truth = torch.tensor(nodes), torch.tensor(labels)
    own = logits[where]
    right = own.argmax(1) == truth

    def loss(epoch: int) -> Tensor:
        scaled = own * model(dropout_key(seed, epoch, 0))[where]
        return F.cross_entropy(scaled, truth) + s.margin * margin_loss(scaled.softmax(1), right)

    groups = [{"params": list(model.parameters()), "weight_decay": s.calibration_weight_decay}]
    if stops:
        score = validation_score(model, lambda: own * model()[where], truth)  # accuracy is fixed: the loss decides
        train_full_batch(loss, groups, s.calibration_lr, s.most_epochs, score=score, patience=s.patience)
    else:
        train_full_batch(loss, groups, s.calibration_lr, s.calibration_epochs)
    model.eval()
    with torch.no_grad():
        return logits * model()


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: CagcnSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """CaGCN: train GCN, then calibrate it."""
    first = trained(graph, given(graph, train), settings, seed, progress, validation)
    return finished(graph, train, first, settings, seed, validation)


def trained(
    graph: NodeGraph,
    known: np.ndarray,
    settings: CagcnSettings,
    seed: int,
    progress: Progress | None,
    validation: np.ndarray | None,
) -> Prediction:
    """GCN on the labels of an (n, c) mask, stopped by the validation loss where there is one."""
    if validation is None:
        return retrain(graph, known, settings, seed, progress, None)
    s = settings.changed({"epochs": settings.most_epochs})
    return retrain(graph, known, s, seed, progress, validation, s.patience)


def finished(
    graph: NodeGraph,
    train: np.ndarray,
    prediction: Prediction,
    settings: CagcnSettings,
    seed: int,
    validation: np.ndarray | None,
) -> Prediction:
    """The prediction of a GCN, calibrated on given labels."""
    nodes = train if validation is None else validation
    view, logits = topology_operator(graph, settings.normalisation), torch.as_tensor(prediction.embeddings["output"])
    scaled = calibrated(view, logits, nodes, graph.labels[nodes], settings, seed, stops=validation is not None)
    text = "Calibrated on the training nodes, on which GCN is right more often than elsewhere: there are no others."
    odd = () if validation is not None else (Finding("note", "calibrated-on-training-nodes", text),)
    return replace(prediction, probabilities=scaled.softmax(1).cpu().numpy(), findings=(*prediction.findings, *odd))


METHOD = Method(
    name="cagcn",
    summary="GCN whose confidence a second GCN calibrates.",
    reference="Wang et al., NeurIPS 2021",
    settings=CagcnSettings,
    fit=fit,
)
