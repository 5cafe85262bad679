"""The systems with pseudo-labels, in dense matrices and loops: slow, short and easy to verify."""

import math

import numpy as np
import torch

from helpers import literal


def gcn(graph, targets, s, seed, a=None):
    """GCN on Σ weight(epoch) · cross-entropy over targets (node, class, weight), dropout left out: logits, (n, c)."""
    a = literal.dense_adjacency(graph) if a is None else a
    prop = torch.from_numpy(literal.normalised_adjacency(a, s.normalisation))
    x = torch.from_numpy(literal.normalise_rows(literal.dense_features(graph), s.features))
    w = literal.glorot(seed, (graph.d, s.hidden), (s.hidden, graph.c))

    def logits():
        return prop @ torch.clamp(prop @ x @ w[0], min=0) @ w[1]

    def loss(epoch):
        z = logits()
        log_p = z - z.exp().sum(1, keepdim=True).log()
        return sum(-weight(epoch) * log_p[node, k] for node, k, weight in targets)

    groups = [{"params": w[:1], "weight_decay": s.weight_decay}, {"params": w[1:]}]
    literal.train(loss, torch.optim.Adam(groups, lr=s.lr), s.epochs)
    return logits().detach().numpy()


def mean_targets(pairs):
    return [(node, k, lambda _: 1 / len(pairs)) for node, k in pairs]


def softmax(logits):
    return np.array([literal.softmax(row) for row in logits])


def quota(graph, train, factor):
    mean_degree = 2 * len(graph.edges) / graph.n
    eta = graph.n / mean_degree**2
    return [math.floor(factor * eta * sum(graph.labels[v] == k for v in train) / len(train)) for k in range(graph.c)]


def confident(probabilities, t, free):
    """Pairs (node, class): for each class the t most probable of the free nodes that are put into it."""
    found = set()
    for k, most in enumerate(t):
        mine = [v for v in free if probabilities[v].argmax() == k]
        mine.sort(key=lambda v: (-probabilities[v, k], v))
        found |= {(v, k) for v in mine[:most]}
    return found


def absorption(graph, train, alpha):
    """Σ_{v ∈ L_k} P_uv with the whole inverse."""
    a = literal.dense_adjacency(graph)
    p = np.linalg.inv(np.diag(a.sum(axis=1)) - a + alpha * np.eye(graph.n))
    return np.stack([sum(p[:, v] for v in train if graph.labels[v] == k) for k in range(graph.c)], axis=1)


def absorbed(scores, t, free, reached):
    """Pairs (node, class): for each class the t free nodes with the largest scores that it can reach."""
    found = set()
    for k, most in enumerate(t):
        mine = sorted((v for v in free if reached[v, k]), key=lambda v: -scores[v, k])
        found |= {(v, k) for v in mine[:most]}
    return found


def calibrator(graph, logits, p, s):
    """t of CaGCN for each node, from parameters in p."""
    prop = torch.from_numpy(literal.normalised_adjacency(literal.dense_adjacency(graph), s.normalisation))
    hidden = torch.clamp(prop @ logits @ p["theta1"] + p["b1"], min=0)
    return torch.log(torch.exp(prop @ hidden @ p["theta2"] + p["b2"]) + 1.1)


def margin_loss(probabilities, right):
    terms = []
    for row, is_right in zip(probabilities, right, strict=True):
        second, first = sorted(row)[-2:]
        terms.append(1 - first + second if is_right else first - second)
    return sum(terms) / len(terms)
