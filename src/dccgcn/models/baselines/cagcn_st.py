"""CaGCN-st (Wang et al., NeurIPS 2021): self-training by calibrated confidence.

CaGCN calibrates GCN on all labels so far; every node whose calibrated confidence is above a threshold is given its
predicted label, and GCN is trained again, in stages.
"""

from dataclasses import replace

import numpy as np
import torch
from pydantic import Field

from dccgcn.graph import NodeGraph
from dccgcn.models.base import Method
from dccgcn.models.baselines import cagcn
from dccgcn.models.baselines.pseudo_label_utils import given, told, unknown
from dccgcn.models.prediction import Prediction
from dccgcn.models.training import Progress
from dccgcn.operators import topology_operator
from dccgcn.settings import count, rate


class CagcnStSettings(cagcn.CagcnSettings):
    """The released code's for 20 labels per class on Cora. Guesses there spare the test nodes; here any node may be."""

    calibration_lr: float = rate(0.001, "Learning rate of Adam for calibration.")
    stages: int = count(4, "How often GCN is trained.")
    threshold: float = Field(0.8, ge=0, lt=1, description="Calibrated confidence above which a label is guessed.")


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: CagcnStSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Calibrate on all labels so far, guess where confidence is high, train again."""
    s = settings
    view = topology_operator(graph, s.normalisation)
    free = unknown(graph, train, validation)
    known = start = given(graph, train)
    for _ in range(s.stages - 1):
        stage = cagcn.trained(graph, known, s, seed, progress, validation)
        nodes, labels = np.nonzero(known)
        logits = torch.as_tensor(stage.embeddings["output"])
        sure = cagcn.calibrated(view, logits, nodes, labels, s, seed, stops=False).softmax(1).cpu().numpy()
        new = free & ~known.any(axis=1) & (sure.max(axis=1) > s.threshold)
        known = known | (new[:, None] & np.eye(graph.c, dtype=bool)[stage.y_pred])
    last = cagcn.trained(graph, known, s, seed, progress, validation)
    prediction = cagcn.finished(graph, train, last, s, seed, validation)
    return replace(prediction, findings=(*prediction.findings, told(known & ~start)))


METHOD = Method(
    name="cagcn-st",
    summary="Self-training where calibrated confidence is high.",
    reference="Wang et al., NeurIPS 2021",
    settings=CagcnStSettings,
    fit=fit,
)
