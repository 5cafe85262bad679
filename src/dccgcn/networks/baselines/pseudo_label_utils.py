"""Pseudo-labels: what methods share that also train GCN on labels that they predicted.

Labels are an (n, c) mask, so that union and intersection are | and &; a node may have labels of two classes.
"""

import numpy as np

from dccgcn.errors import Finding
from dccgcn.features import topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines import gcn
from dccgcn.progress import Progress


def training_mask(graph: NodeGraph, train: np.ndarray) -> np.ndarray:
    """The training labels as an (n, c) mask."""
    mask = np.zeros((graph.n, graph.c), dtype=bool)
    mask[train, graph.labels[train]] = True
    return mask


def candidate_mask(graph: NodeGraph, train: np.ndarray, validation: np.ndarray | None) -> np.ndarray:
    """(n,) mask of the nodes that may get a pseudo-label: neither training nor validation nodes."""
    mask = np.ones(graph.n, dtype=bool)
    mask[train] = False
    if validation is not None:
        mask[validation] = False
    return mask


def pseudo_labels_per_class(graph: NodeGraph, train: np.ndarray, eta_factor: float) -> np.ndarray:
    """t_k = ⌊factor · η · share of class k among the labels⌋, η = n / (mean degree)², (c,) (Li et al., AAAI 2018)."""
    eta = graph.n / max(graph.degree.mean(), 1) ** 2  # a label covers at least one node
    share = np.bincount(graph.labels[train], minlength=graph.c) / len(train)
    return np.floor(eta_factor * eta * share + 1e-9).astype(np.int64)


def predicted_confidence(probabilities: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Probability of the predicted class of each candidate node, 0 elsewhere, (n, c)."""
    predicted = np.eye(probabilities.shape[1], dtype=bool)[probabilities.argmax(axis=1)]
    return np.where(predicted & candidates[:, None], probabilities, 0)


def top_k_mask(scores: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(n, c) mask of the t_k largest positive scores of each class k; ties go to the first node."""
    chosen = np.zeros(scores.shape, dtype=bool)
    for k, count in enumerate(t):
        best = np.argsort(-scores[:, k], kind="stable")[:count]
        chosen[best[scores[best, k] > 0], k] = True
    return chosen


def fit_gcn(
    graph: NodeGraph,
    label_mask: np.ndarray,
    settings: gcn.GcnSettings,
    seed: int,
    progress: Progress | None,
    validation: np.ndarray | None,
    patience: int | None = None,
) -> Prediction:
    """GCN trained on the labels of an (n, c) mask; patience as in ``gcn.fit_on_operator``."""
    nodes, labels = np.nonzero(label_mask)
    operator = topology_operator(graph, settings.normalisation)
    return gcn.fit_on_operator(
        operator, graph, nodes, settings, seed, progress, validation, labels=labels, patience=patience
    )


def pseudo_label_finding(pseudo_labels: np.ndarray) -> Finding:
    """How many nodes of an (n, c) mask have pseudo-labels."""
    nodes = int(pseudo_labels.any(axis=1).sum())
    if nodes == 0:
        return Finding("warning", "no-pseudo-labels", "No node got a pseudo-label; only the given labels were used.")
    return Finding("note", "pseudo-labels", f"Training also used the pseudo-labels of {nodes} nodes.")
