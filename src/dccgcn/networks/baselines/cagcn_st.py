"""CaGCN-st (Wang et al., NeurIPS 2021): self-training by calibrated confidence.

CaGCN calibrates GCN on all labels so far; every node whose calibrated confidence is above a threshold gets its
predicted class as pseudo-label, and GCN is trained again, in stages.
"""

from dataclasses import replace

import numpy as np
import torch
from pydantic import Field

from dccgcn.features import topology_operator
from dccgcn.methods.base import Method, Task
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines import cagcn
from dccgcn.networks.baselines.pseudo_label_utils import candidate_mask, pseudo_label_finding, training_mask
from dccgcn.networks.torch_operator import TorchOperator
from dccgcn.settings import count, rate


class CagcnStSettings(cagcn.CagcnSettings):
    """Those of the released code for 20 labels per class on Cora, which gives test nodes no pseudo-labels."""

    calibration_lr: float = rate(0.001, "Learning rate of Adam for calibration.")
    stages: int = count(4, "How often GCN is trained.")
    threshold: float = Field(0.8, ge=0, lt=1, description="Calibrated confidence that a pseudo-label must exceed.")


def fit(task: Task, s: CagcnStSettings) -> Prediction:
    """Calibrate on all labels so far, add pseudo-labels where confidence is high, train again."""
    graph = task.graph
    operator = TorchOperator.of(topology_operator(graph, s.normalisation))
    candidates = candidate_mask(task)
    label_mask = given = training_mask(task)
    for _ in range(s.stages - 1):
        stage = cagcn.fit_classifier(task, label_mask, s)
        nodes, labels = np.nonzero(label_mask)
        logits = torch.as_tensor(stage.embeddings["output"])
        scaled = cagcn.calibrate_logits(operator, logits, nodes, labels, s, task.seed, early_stopping=False)
        confidence = scaled.softmax(1).cpu().numpy().max(axis=1)
        new = candidates & ~label_mask.any(axis=1) & (confidence > s.threshold)
        label_mask = label_mask | (new[:, None] & np.eye(graph.c, dtype=bool)[stage.y_pred])
    last = cagcn.fit_classifier(task, label_mask, s)
    prediction = cagcn.calibrate_prediction(task, last, s)
    return replace(prediction, findings=(*prediction.findings, pseudo_label_finding(label_mask & ~given)))


METHOD = Method(name="cagcn-st", settings=CagcnStSettings, fit=fit)
