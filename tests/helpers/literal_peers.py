"""Logistic regression and recent few-label systems as their formulas are printed: dense matrices and plain loops."""

import numpy as np
import torch
from scipy.optimize import minimize

from helpers import literal
from helpers.literal import dense_adjacency, dense_features


def neighbour_mean(graph):
    """D^-1 A; rows of nodes without an edge are 0."""
    a = dense_adjacency(graph)
    return np.array([row / row.sum() if row.sum() > 0 else row for row in a])


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


def ppr(s, x, alpha, steps):
    """P ← (1-α) S P + α X."""
    p = x
    for _ in range(steps):
        p = (1 - alpha) * s @ p + alpha * x
    return p


def alignment(o, f, f2, labels):
    """D²PT's prototype alignment in loops; labels: class by training node."""
    c, probabilities = o.shape[1], o.exp()
    prototypes, prototypes2 = [], []
    for j in range(c):
        total = total2 = weights = 0
        for i in range(len(o)):
            answer = labels[i] if i in labels else int(o[i].argmax())
            if answer == j:
                w = 1.0 if i in labels else probabilities[i].max()
                total, total2, weights = total + w * f[i], total2 + w * f2[i], weights + w
        prototypes.append(total / weights / (total / weights).norm())
        prototypes2.append(total2 / weights / (total2 / weights).norm())
    loss = 0
    for j in range(c):
        positive = torch.exp(prototypes2[j] @ prototypes[j] / 0.3)
        below = sum(torch.exp(prototypes2[j] @ prototypes[other] / 0.3) for other in range(c))
        below = below + sum(torch.exp(prototypes2[j] @ prototypes2[other] / 0.3) for other in range(c) if other != j)
        loss = loss - torch.log(positive / below)
    return loss / c


def d2pt(graph, train, s, weights):
    """weights: W1, b1, W2, b2, W3, b3 at the start, in double precision."""
    x = dense_features(graph)
    p = ppr(literal.normalised_adjacency(dense_adjacency(graph), "symmetric"), x, s.alpha, s.steps)
    nearest = literal.normalised_adjacency(literal.feature_adjacency(p, s.k), "symmetric")
    p, p2 = torch.from_numpy(p), torch.from_numpy(ppr(nearest, x, s.alpha, s.steps))
    w1, b1, w2, b2, w3, b3 = weights
    labels = {int(i): int(graph.labels[i]) for i in train}
    optimiser = torch.optim.Adam(weights, lr=s.lr, weight_decay=s.weight_decay)

    def loss(_):
        h, h2 = (torch.clamp(each @ w1 + b1, min=0) for each in (p, p2))
        o, o2 = (torch.log_softmax(each @ w2 + b2, 1) for each in (h, h2))
        nll, nll2 = (-sum(each[i, y] for i, y in labels.items()) / len(train) for each in (o, o2))
        return nll + s.lambda_ce * nll2 + s.lambda_pa * alignment(o, h @ w3 + b3, h2 @ w3 + b3, labels)

    literal.train(loss, optimiser, s.epochs)
    return torch.softmax(torch.clamp(p @ w1 + b1, min=0) @ w2 + b2, 1).detach().numpy()


def iceberg(graph, train, s, weights):
    """Without dropout. weights: W1, b1, W2, b2 at the start, in double precision."""
    x, a = dense_features(graph), dense_adjacency(graph)
    p = torch.from_numpy(ppr(literal.normalised_adjacency(a, "symmetric"), x, s.alpha, s.steps))
    w1, b1, w2, b2 = weights
    groups = [{"params": [w1, b1], "weight_decay": s.weight_decay}, {"params": [w2, b2]}]
    optimiser = torch.optim.Adam(groups, lr=s.lr)

    def balanced(z, answers):
        counts = [sum(answer == j for answer in answers.values()) for j in range(graph.c)]
        loss = 0
        for i, answer in answers.items():
            below = sum(counts[j] * torch.exp(z[i, j]) for j in range(graph.c))
            loss = loss - torch.log(counts[answer] * torch.exp(z[i, answer]) / below)
        return loss / len(answers)

    def loss(_):
        z = torch.clamp(p @ w1 + b1, min=0) @ w2 + b2
        q = torch.softmax(z.detach(), 1)
        rest = [i for i in range(graph.n) if i not in train]
        threshold = sum(q[i].max() for i in rest) / len(rest)
        chosen = {i: int(q[i].argmax()) for i in rest if q[i].max() >= threshold}
        return balanced(z, {int(i): int(graph.labels[i]) for i in train}) + s.pseudo_weight * balanced(z, chosen)

    literal.train(loss, optimiser, s.epochs)
    return torch.softmax(torch.clamp(p @ w1 + b1, min=0) @ w2 + b2, 1).detach().numpy()
