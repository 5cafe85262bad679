"""Trust: how likely an answer is right, from margin, agreement and neighbourhood together.

    trust = sigmoid(β · evidence)                                                                      (C9)

The coefficients are the same for every graph. They were fitted on development splits of six graphs; how many of the
given labels are found unseen tells how far a graph's answers can be believed as a whole.
"""

import numpy as np
from scipy.special import expit

from dccgcn.concord.consensus import Concord, margin
from dccgcn.concord.learned import Learned
from dccgcn.views import View

COEFFICIENTS = {
    "constant": -1.822,
    "margin": 0.981,
    "root of margin": 1.866,
    "entropy": -0.858,
    "voices that agree": 1.169,
    "topology: neighbours that agree": -0.178,
    "features: neighbours that agree": 0.543,
    "graph: labels found unseen": 1.658,
}


def evidence(concord: Concord, views: dict[str, View], learned: Learned) -> np.ndarray:
    """The evidence for each node, (n, columns) in the order of COEFFICIENTS."""
    f, share = concord.f, learned.weights / learned.weights.sum()
    answer, (n, c) = f.argmax(axis=1), f.shape
    gap = margin(f)
    entropy = -(f * np.log(np.maximum(f, 1e-12))).sum(axis=1) / np.log(c)
    agreeing = sum(s * (log_p.argmax(axis=1) == answer) for s, log_p in zip(share, concord.said, strict=True))
    around = [same_around(view, answer) for view in views.values()]
    found = np.full(n, (learned.found + 1) / (learned.n_given + 2))
    return np.column_stack([np.ones(n), gap, np.sqrt(gap), entropy, agreeing, *around, found])


def same_around(view: View, answer: np.ndarray) -> np.ndarray:
    """Share of a node's neighbours with its own answer, shrunk towards one half where there are few."""
    a = view.adjacency
    rows = np.repeat(np.arange(len(answer)), np.diff(a.indptr))
    same = np.bincount(rows, weights=answer[rows] == answer[a.indices], minlength=len(answer))
    return (same + 0.5) / (np.diff(a.indptr) + 1)


def trust(columns: np.ndarray) -> np.ndarray:
    """(C9), (n,)."""
    return np.asarray(expit(columns @ np.array(list(COEFFICIENTS.values()))), dtype=np.float32)


def with_confidence(f: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """F^β, normalised, with a β for each node such that its largest probability is its trust.

    Classes keep their order. An answer cannot be less probable than chance.
    """
    c = f.shape[1]
    goal = np.clip(confidence, 1 / c + 1e-4, 1 - 1e-4)
    log_f = np.log(np.maximum(f, 1e-12)).astype(np.float64)
    log_f -= log_f.max(axis=1, keepdims=True)
    low, high = np.full(len(f), -12.0), np.full(len(f), 12.0)  # log β
    for _ in range(40):
        middle = (low + high) / 2
        largest = 1 / np.exp(np.exp(middle)[:, None] * log_f).sum(axis=1)
        low, high = np.where(largest < goal, middle, low), np.where(largest < goal, high, middle)
    p = np.exp(np.exp(high)[:, None] * log_f)
    return np.asarray(p / p.sum(axis=1, keepdims=True), dtype=np.float32)
