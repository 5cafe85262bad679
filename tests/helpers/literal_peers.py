"""Logistic regression and recent few-label systems as their formulas are printed: dense matrices and plain loops."""

import numpy as np
from scipy.optimize import minimize

from helpers import literal
from helpers.literal_linear import dense_adjacency


def neighbour_mean(graph):
    """D^-1 A; rows of nodes without an edge are 0."""
    a = dense_adjacency(graph)
    return np.array([row / row.sum() if row.sum() > 0 else row for row in a])


def dense_features(graph):
    x = graph.features
    return (x.toarray() if hasattr(x, "toarray") else x).astype(float)


def unit(rows):
    return literal.normalise_rows(rows, "unit")


def hops(graph, x, r, unit_rows):
    """[X V_0, M X V_1, M² X V_2], V_h by a full SVD."""
    m, blocks = neighbour_mean(graph), []
    for h in range(3):
        block = np.linalg.matrix_power(m, h) @ x
        if x.shape[1] > r:
            block = block @ np.linalg.svd(block)[2][:r].T
        blocks.append(unit(block) if unit_rows else block / np.sqrt((block**2).mean()))
    return np.hstack(blocks)


def logistic_regression(rows, labels, train, c, weight):
    """C Σ cross-entropy + ½ ‖W‖² minimised over all of W and b at once; of two classes the first has the logit 0."""
    free = 1 if c == 2 else c

    def logits(parameters, x):
        w, b = parameters[:-free].reshape(-1, free), parameters[-free:]
        z = x @ w + b
        return np.hstack([np.zeros_like(z), z]) if c == 2 else z

    def objective(parameters):
        p = np.array([literal.softmax(z) for z in logits(parameters, rows[train])])
        loss = -sum(np.log(p[i, label]) for i, label in enumerate(labels[train]))
        return weight * loss + (parameters[:-free] ** 2).sum() / 2

    found = minimize(objective, np.zeros((rows.shape[1] + 1) * free), options={"gtol": 1e-6}).x
    return np.array([literal.softmax(z) for z in logits(found, rows)])


def graphany(graph, train):
    """softmax of the mean prediction of three least-squares classifiers."""
    m, x, total = neighbour_mean(graph), dense_features(graph), 0
    for h in range(3):
        f = np.linalg.matrix_power(m, h) @ x
        total = total + f @ np.linalg.pinv(f[train]) @ np.eye(graph.c)[graph.labels[train]]
    return np.array([literal.softmax(z / 3) for z in total])
