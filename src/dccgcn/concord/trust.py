"""Trust: how likely an answer is right, from confidence, agreement and neighbourhood together.

    trust = sigmoid(β · evidence)                                                                      (C9)

A node's evidence counts by its rank among the nodes of its graph: how confident voices sound differs from graph to
graph far more than who sounds most confident. How far a graph's answers can be believed as a whole is told by how many
of the given labels are found unseen. The coefficients are the same for every graph; they were fitted on development
splits of six.
"""

import numpy as np
from scipy.special import expit, ndtri
from scipy.stats import rankdata
from sklearn.preprocessing import normalize

from dccgcn.concord.consensus import Concord
from dccgcn.concord.learned import Learned
from dccgcn.views import View

COEFFICIENTS = {
    "constant": 0.833,
    "confidence": 0.730,
    "nearness to its class": 0.335,
    "voices that agree": 0.074,
    "topology: neighbours that agree": 0.103,
    "features: neighbours that agree": 0.135,
    "graph: labels found unseen": 0.651,
}


def evidence(concord: Concord, z: np.ndarray, views: dict[str, View], learned: Learned) -> np.ndarray:
    """The evidence for each node, (n, columns) in the order of COEFFICIENTS. z: what is known of the nodes, joined."""
    f, share = concord.f, learned.weights / learned.weights.sum()
    answer, n = f.argmax(axis=1), len(f)
    agreeing = sum(s * (log_p.argmax(axis=1) == answer) for s, log_p in zip(share, concord.said, strict=True))
    around = [same_around(view, answer) for view in views.values()]
    of_nodes = [f.max(axis=1), nearness(z, f), agreeing, *around]
    found = np.log((learned.found + 1) / (learned.n_given - learned.found + 1))
    return np.column_stack([np.ones(n), *(normal_scores(column) for column in of_nodes), np.full(n, found)])


def normal_scores(values: np.ndarray) -> np.ndarray:
    """What a standard normal variable has at each value's rank; 0 where all are alike."""
    return np.asarray(ndtri((rankdata(values) - 0.5) / len(values)))


def nearness(z: np.ndarray, f: np.ndarray) -> np.ndarray:
    """How much nearer a node is to the mean of its own class than to any other, by cosine, (n,)."""
    near = z @ normalize(f.T @ z).T
    rows, answer = np.arange(len(f)), f.argmax(axis=1)
    own = near[rows, answer]
    near[rows, answer] = -np.inf
    return np.asarray(own - near.max(axis=1))


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
