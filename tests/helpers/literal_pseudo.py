"""The systems with pseudo-labels, in dense matrices and loops: slow, short and easy to verify."""

import math

import numpy as np
import torch

from dccgcn.networks.training import seeded
from helpers import literal


def adjacency(graph):
    a = np.zeros((graph.n, graph.n))
    for (u, v), w in zip(graph.edges, graph.weights, strict=True):
        a[u, v] = a[v, u] = w
    return a


def gcn(graph, targets, s, seed, a=None):
    """GCN on Σ weight(epoch) · cross-entropy over targets (node, class, weight), dropout left out: logits, (n, c)."""
    prop = torch.from_numpy(literal.normalised_adjacency(adjacency(graph) if a is None else a, s.normalisation))
    x = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    x = torch.from_numpy(literal.normalise_rows(x.astype(float), s.features))
    with seeded(seed):
        weights = [torch.empty(graph.d, s.hidden), torch.empty(s.hidden, graph.c)]
        weights = [torch.nn.init.xavier_uniform_(w).double().requires_grad_() for w in weights]
    groups = [{"params": weights[:1], "weight_decay": s.weight_decay}, {"params": weights[1:]}]
    optimiser = torch.optim.Adam(groups, lr=s.lr)
    for epoch in range(s.epochs):
        optimiser.zero_grad()
        logits = prop @ torch.clamp(prop @ x @ weights[0], min=0) @ weights[1]
        log_p = logits - logits.exp().sum(1, keepdim=True).log()
        sum(-w(epoch) * log_p[node, k] for node, k, w in targets).backward()
        optimiser.step()
    return (prop @ torch.clamp(prop @ x @ weights[0], min=0) @ weights[1]).detach().numpy()


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
    a = adjacency(graph)
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
    prop = torch.from_numpy(literal.normalised_adjacency(adjacency(graph), s.normalisation))
    hidden = torch.clamp(prop @ logits @ p["theta1"] + p["b1"], min=0)
    return torch.log(torch.exp(prop @ hidden @ p["theta2"] + p["b2"]) + 1.1)


def margin_loss(probabilities, right):
    terms = []
    for row, is_right in zip(probabilities, right, strict=True):
        second, first = sorted(row)[-2:]
        terms.append(1 - first + second if is_right else first - second)
    return sum(terms) / len(terms)
