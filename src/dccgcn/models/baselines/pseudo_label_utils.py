"""What systems share that guess labels and train GCN on them too.

Labels are an (n, c) mask, so that union and intersection are | and &; a node that two classes want counts as a label of
each.
"""

import numpy as np

from dccgcn.errors import Finding
from dccgcn.graph import NodeGraph
from dccgcn.models.baselines import gcn
from dccgcn.models.prediction import Prediction
from dccgcn.models.training import Progress
from dccgcn.operators import topology_operator


def given(graph: NodeGraph, train: np.ndarray) -> np.ndarray:
    """The training labels as an (n, c) mask."""
    mask = np.zeros((graph.n, graph.c), dtype=bool)
    mask[train, graph.labels[train]] = True
    return mask


def unknown(graph: NodeGraph, train: np.ndarray, validation: np.ndarray | None) -> np.ndarray:
    """(n,) mask of the nodes whose label may be guessed: a guess on a validation node would spoil what it measures."""
    mask = np.ones(graph.n, dtype=bool)
    mask[train] = False
    if validation is not None:
        mask[validation] = False
    return mask


def quota(graph: NodeGraph, train: np.ndarray, eta_factor: float) -> np.ndarray:
    """t_k for each class, (c,)."""
    eta = graph.n / max(graph.degree.mean(), 1) ** 2  # a label reaches at least its own node
    share = np.bincount(graph.labels[train], minlength=graph.c) / len(train)
    return np.floor(eta_factor * eta * share + 1e-9).astype(np.int64)


def confidence(probabilities: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Probability of each free node's predicted class, 0 elsewhere, (n, c)."""
    predicted = np.eye(probabilities.shape[1], dtype=bool)[probabilities.argmax(axis=1)]
    return np.where(predicted & free[:, None], probabilities, 0)


def largest(scores: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(n, c) mask of the t_k largest positive scores of each class, of equals the first."""
    chosen = np.zeros(scores.shape, dtype=bool)
    for k, most in enumerate(t):
        best = np.argsort(-scores[:, k], kind="stable")[:most]
        chosen[best[scores[best, k] > 0], k] = True
    return chosen


def retrain(
    graph: NodeGraph,
    known: np.ndarray,
    settings: gcn.GcnSettings,
    seed: int,
    progress: Progress | None,
    validation: np.ndarray | None,
    patience: int | None = None,
) -> Prediction:
    """GCN on the labels of an (n, c) mask; patience as in ``gcn.fit_on``."""
    nodes, labels = np.nonzero(known)
    view = topology_operator(graph, settings.normalisation)
    return gcn.fit_on(view, graph, nodes, settings, seed, progress, validation, labels=labels, patience=patience)


def told(guessed: np.ndarray) -> Finding:
    """How many labels were guessed."""
    nodes = int(guessed.any(axis=1).sum())
    if nodes == 0:
        return Finding("warning", "nothing-guessed", "No label was guessed: only the given ones were trained on.")
    return Finding("note", "guessed-labels", f"{nodes} nodes were trained on with guessed labels.")
