"""CaGCN (Wang et al., NeurIPS 2021): a second GCN calibrates the confidence of the first, node by node.

The logits V of a trained GCN are frozen. A GCN on the same graph maps them to one number per node, g = S relu(S V Θ1
+ b1) Θ2 + b2, and t = log(exp(g) + 1.1) > 0 scales them: softmax(t_v V_v) is calibrated, and its argmax is GCN's. Loss:
cross-entropy + λ · mean of (1 - p_max + p_2nd for correct predictions, p_max - p_2nd for wrong ones).

It calibrates on the validation nodes, as its code does, or on the training nodes if there are none.

CaGCN-st (Wang et al., NeurIPS 2021): self-training by calibrated confidence.

CaGCN calibrates GCN on all labels so far; every node whose calibrated confidence is above a threshold gets its
predicted class as pseudo-label, and GCN is trained again, in stages.
"""

import math
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from dccgcn.errors import Finding
from dccgcn.features import topology_operator
from dccgcn.methods import Method, Prediction, Task
from dccgcn.networks.autograd import dropout_key, relu_dropout
from dccgcn.networks.baselines import gcn
from dccgcn.networks.baselines.self_training import candidate_mask, fit_gcn, pseudo_label_finding, training_mask
from dccgcn.networks.layers import TorchOperator
from dccgcn.networks.training import accuracy_score, seeded, train_full_batch
from dccgcn.settings import count, rate, weight


class CagcnSettings(gcn.GcnSettings):
    """The settings of the released code, which however applies weight decay to all of the classifying GCN."""

    hidden: int = count(64, "Width of the hidden layer of the classifying GCN.")
    calibration_hidden: int = count(16, "Width of the hidden layer of the calibrating GCN.")
    calibration_lr: float = rate(0.01, "Learning rate of Adam for calibration.")
    calibration_weight_decay: float = weight(5e-3, "L2 penalty on the calibrating GCN.")
    calibration_epochs: int = count(200, "Epochs of calibration on training nodes.")
    most_epochs: int = count(2000, "Maximum epochs of either GCN with early stopping on validation nodes.")
    patience: int = count(100, "Epochs without a smaller validation loss before training stops.")
    margin: float = weight(0.5, "Weight λ of the term that separates correct from wrong predictions.")


class Calibrator(nn.Module):
    """The scale t of each node's logits from the logits of all, t = log(exp(g) + 1.1), g = S relu(S V Θ1 + b1) Θ2 + b2.

    Shapes: V (n, c) → (n, 1).
    """

    def __init__(self, operator: TorchOperator, logits: Tensor, hidden: int, dropout: float) -> None:
        super().__init__()
        self.operator, self.dropout = operator, dropout
        self.propagated = operator.propagate(logits)  # S V, the same in every epoch
        self.theta1 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(logits.shape[1], hidden)))
        self.b1 = nn.Parameter(torch.zeros(hidden))
        self.theta2 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(hidden, 1)))
        self.b2 = nn.Parameter(torch.zeros(1))

    def forward(self, key: int = 0) -> Tensor:
        p = self.dropout if self.training else 0.0
        h = relu_dropout(self.propagated @ self.theta1 + self.b1, p, key)  # (n, hidden)
        g = self.operator.propagate(h @ self.theta2) + self.b2
        return torch.logaddexp(g, torch.tensor(math.log(1.1)))


def margin_loss(probabilities: Tensor, correct: Tensor) -> Tensor:
    """Mean of 1 - p_max + p_2nd where predictions are correct, p_max - p_2nd elsewhere. Shapes: (k, c), (k,) bool."""
    top = probabilities.topk(2, dim=1).values
    margin = top[:, 0] - top[:, 1]
    return torch.where(correct, 1 - margin, margin).mean()


def calibrate_logits(
    operator: TorchOperator,
    logits: Tensor,
    nodes: np.ndarray,
    labels: np.ndarray,
    s: CagcnSettings,
    seed: int,
    early_stopping: bool,
) -> Tensor:
    """Scaled logits of all nodes, (n, c), with t learned on the given ones; early stopping is by their loss."""
    with seeded(seed):
        model = Calibrator(operator, logits, s.calibration_hidden, s.dropout)
    positions, targets = torch.tensor(nodes), torch.tensor(labels)
    unscaled = logits[positions]
    correct = unscaled.argmax(1) == targets

    def loss(epoch: int) -> Tensor:
        scaled = unscaled * model(dropout_key(seed, epoch, 0))[positions]
        return F.cross_entropy(scaled, targets) + s.margin * margin_loss(scaled.softmax(1), correct)

    groups = [{"params": list(model.parameters()), "weight_decay": s.calibration_weight_decay}]
    if early_stopping:
        score = accuracy_score(model, lambda: unscaled * model()[positions], targets)  # accuracy never changes
        train_full_batch(loss, groups, s.calibration_lr, s.most_epochs, None, score, s.patience)
    else:
        train_full_batch(loss, groups, s.calibration_lr, s.calibration_epochs)
    model.eval()
    with torch.no_grad():
        return logits * model()


def fit(task: Task, settings: CagcnSettings) -> Prediction:
    """CaGCN: train GCN, then calibrate it."""
    first = fit_classifier(task, training_mask(task), settings)
    return calibrate_prediction(task, first, settings)


def fit_classifier(task: Task, label_mask: np.ndarray, settings: CagcnSettings) -> Prediction:
    """GCN trained on the labels of an (n, c) mask, with early stopping if there are validation nodes."""
    if task.validation is None:
        return fit_gcn(task, label_mask, settings)
    return fit_gcn(task, label_mask, settings.changed({"epochs": settings.most_epochs}), settings.patience)


def calibrate_prediction(task: Task, prediction: Prediction, settings: CagcnSettings) -> Prediction:
    """The prediction of a GCN, calibrated on validation or training labels."""
    stopping = task.validation is not None
    nodes = task.train if task.validation is None else task.validation
    operator = TorchOperator.of(topology_operator(task.graph, settings.normalisation))
    logits, labels = torch.as_tensor(prediction.embeddings["output"]), task.graph.labels[nodes]
    scaled = calibrate_logits(operator, logits, nodes, labels, settings, task.seed, early_stopping=stopping)
    text = "Without validation nodes it is calibrated on the training nodes, where GCN is correct more often."
    findings = () if stopping else (Finding("note", "calibrated-on-training-nodes", text),)
    return replace(
        prediction, probabilities=scaled.softmax(1).cpu().numpy(), findings=(*prediction.findings, *findings)
    )


METHOD = Method(name="cagcn", settings=CagcnSettings, fit=fit)


class CagcnStSettings(CagcnSettings):
    """The settings of the released code for 20 labels per class on Cora, which gives test nodes no pseudo-labels."""

    calibration_lr: float = rate(0.001, "Learning rate of Adam for calibration.")
    stages: int = count(4, "How often GCN is trained.")
    threshold: float = Field(0.8, ge=0, lt=1, description="Calibrated confidence that a pseudo-label must exceed.")


def fit_in_stages(task: Task, s: CagcnStSettings) -> Prediction:
    """Calibrate on all labels so far, add pseudo-labels where confidence is high, train again."""
    graph = task.graph
    operator = TorchOperator.of(topology_operator(graph, s.normalisation))
    candidates = candidate_mask(task)
    label_mask = given = training_mask(task)
    for _ in range(s.stages - 1):
        stage = fit_classifier(task, label_mask, s)
        nodes, labels = np.nonzero(label_mask)
        logits = torch.as_tensor(stage.embeddings["output"])
        scaled = calibrate_logits(operator, logits, nodes, labels, s, task.seed, early_stopping=False)
        confidence = scaled.softmax(1).cpu().numpy().max(axis=1)
        new = candidates & ~label_mask.any(axis=1) & (confidence > s.threshold)
        label_mask = label_mask | (new[:, None] & np.eye(graph.c, dtype=bool)[stage.y_pred])
    last = fit_classifier(task, label_mask, s)
    prediction = calibrate_prediction(task, last, s)
    return replace(prediction, findings=(*prediction.findings, pseudo_label_finding(label_mask & ~given)))


SELF_TRAINED = Method(name="cagcn-st", settings=CagcnStSettings, fit=fit_in_stages)
