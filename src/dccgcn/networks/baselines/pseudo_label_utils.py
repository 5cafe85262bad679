"""Pseudo-labels: what methods share that also train GCN on labels that they predicted.

Labels are an (n, c) mask, so that union and intersection are | and &; a node may have labels of two classes.
"""

from dataclasses import replace

import numpy as np

from dccgcn.errors import Finding
from dccgcn.features import topology_operator
from dccgcn.methods.base import Task
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines import gcn


def training_mask(task: Task) -> np.ndarray:
    """The training labels as an (n, c) mask."""
    mask = np.zeros((task.graph.n, task.graph.c), dtype=bool)
    mask[task.train, task.labels] = True
    return mask


def candidate_mask(task: Task) -> np.ndarray:
    """(n,) mask of the nodes that may get a pseudo-label: neither training nor validation nodes."""
    mask = np.ones(task.graph.n, dtype=bool)
    mask[task.train] = False
    if task.validation is not None:
        mask[task.validation] = False
    return mask


def pseudo_labels_per_class(task: Task, eta_factor: float) -> np.ndarray:
    """t_k = ⌊factor · η · share of class k among the labels⌋, η = n / (mean degree)², (c,) (Li et al., AAAI 2018)."""
    graph = task.graph
    eta = graph.n / max(graph.degree.mean(), 1) ** 2  # a label covers at least one node
    share = np.bincount(task.labels, minlength=graph.c) / len(task.labels)
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


def fit_gcn(task: Task, label_mask: np.ndarray, s: gcn.GcnSettings, patience: int | None = None) -> Prediction:
    """GCN trained on the labels of an (n, c) mask; patience as in ``gcn.fit_on_operator``."""
    nodes, labels = np.nonzero(label_mask)
    operator = topology_operator(task.graph, s.normalisation)
    return gcn.fit_on_operator(operator, replace(task, train=nodes), s, labels=labels, patience=patience)


def pseudo_label_finding(pseudo_labels: np.ndarray) -> Finding:
    """How many nodes of an (n, c) mask have pseudo-labels."""
    nodes = int(pseudo_labels.any(axis=1).sum())
    if nodes == 0:
        return Finding("warning", "no-pseudo-labels", "No node got a pseudo-label; only the given labels were used.")
    return Finding("note", "pseudo-labels", f"Training also used the pseudo-labels of {nodes} nodes.")
