"""CaGCN-st (Wang et al., NeurIPS 2021): self-training by calibrated confidence.

CaGCN calibrates GCN on all labels so far; every node whose calibrated confidence is above a threshold is given its
predicted label, and GCN is trained again, in stages.
"""

from dataclasses import replace

import numpy as np
import torch
from pydantic import Field

from dccgcn.baselines import cagcn
from dccgcn.baselines.guessing import given, told, unknown
from dccgcn.graph import NodeGraph
from dccgcn.method import Method
from dccgcn.outcome import Outcome
from dccgcn.settings import count, rate
from dccgcn.training import Progress
from dccgcn.views import topology_view


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
) -> Outcome:
    """Calibrate on all labels so far, guess where confidence is high, train again."""
    s = settings
    view = topology_view(graph, s.normalisation)
    free = unknown(graph, train, validation)
    known = start = given(graph, train)
    for _ in range(s.stages - 1):
        stage = cagcn.trained(graph, known, s, seed, progress, validation)
        nodes, labels = np.nonzero(known)
        logits = torch.as_tensor(stage.embeddings["output"])
        sure = cagcn.calibrated(view, logits, nodes, labels, s, seed, stops=False).softmax(1).cpu().numpy()
        new = free & ~known.any(axis=1) & (sure.max(axis=1) > s.threshold)
        known = known | (new[:, None] & np.eye(graph.c, dtype=bool)[stage.prediction])
    last = cagcn.trained(graph, known, s, seed, progress, validation)
    outcome = cagcn.finished(graph, train, last, s, seed, validation)
    return replace(outcome, findings=(*outcome.findings, told(known & ~start)))


METHOD = Method(
    name="cagcn-st",
    summary="Self-training where calibrated confidence is high.",
    reference="Wang et al., NeurIPS 2021",
    settings=CagcnStSettings,
    fit=fit,
)
