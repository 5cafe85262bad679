"""Least-squares channels of GraphAny (Zhao et al., ICLR 2025): closed-form classifiers on X, MX and M²X, averaged.

M = D^-1 A, without self-loops; rows of isolated nodes are 0.
F_h = M^h X for h = 0, 1, 2          (n, d)
W_h = pinv(F_h[train]) Y             (d, c), least squares of minimum norm without bias; Y (train, c) is one-hot
Z = 1/3 Σ_h F_h W_h                  (n, c); probabilities are softmax(Z)

GraphAny weights the three channels for each node by an attention that its authors trained on another graph. Its
weights are not part of this package; equal weights take their place. The channels (I-M)X and (I-M)²X are inputs of
the attention only, so they are left out.
"""

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lstsq
from scipy.special import softmax

from dccgcn.features import Scaling, mean_operator, normalise_rows, scaling
from dccgcn.graph import NodeGraph
from dccgcn.methods import Method, Prediction, Task
from dccgcn.settings import Settings

N_HOPS = 3  # M^0, M^1, M^2


class GraphAnySettings(Settings):
    """GraphAny has none: its channels are solved for, and it reads features as given."""

    features: Scaling = scaling("raw")


def fit(task: Task, settings: GraphAnySettings) -> Prediction:
    """Solve for the W_h and classify all nodes. Deterministic; validation nodes are not used."""
    graph, train = task.graph, task.train
    x, walk = normalise_rows(graph.features, settings.features), mean_operator(graph)
    y = np.eye(graph.c)[graph.labels[train]]
    steps = sp.eye_array(graph.n, dtype=np.float32, format="csr")[train]  # rows of M^h
    weights = np.empty((N_HOPS, graph.d, graph.c))
    for hop in range(N_HOPS):
        rows = steps @ x  # (train, d)
        rows = rows.toarray() if sp.issparse(rows) else rows
        cutoff = np.finfo(np.float32).eps * max(rows.shape)  # singular values below: rounding errors of the rows
        weights[hop] = lstsq(rows.astype(np.float64), y, cond=cutoff, lapack_driver="gelss")[0]
        steps = steps @ walk
    return predict_new({"weights": weights.astype(np.float32)}, graph, settings)


def predict_new(model: Mapping[str, np.ndarray], graph: NodeGraph, settings: GraphAnySettings) -> Prediction:
    """Classify a graph with appended nodes, with the weights of training."""
    x, walk = normalise_rows(graph.features, settings.features), mean_operator(graph)
    w0, w1, w2 = model["weights"]
    total = x @ w0 + walk @ (x @ w1 + walk @ (x @ w2))  # F_0 W_0 + F_1 W_1 + F_2 W_2
    z = np.asarray(total, dtype=np.float32) / N_HOPS
    return Prediction(softmax(z, axis=1).astype(np.float32), embeddings={"output": z}, model=dict(model))


GRAPHANY = Method(name="graphany", settings=GraphAnySettings, fit=fit, predict_new=predict_new)
