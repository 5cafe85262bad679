"""DGCN, ConfGCN and AM-GCN as their papers print them: loops over nodes, dense matrices, double precision."""

import math
from itertools import combinations, pairwise, product

import numpy as np
import torch
from torch import Tensor

from helpers import literal


def expected_counts(adjacency, walks, length):
    """The mean of F: every walk over A + I with its probability."""
    n = len(adjacency)
    near = [[v for v in range(n) if v == u or adjacency[u][v]] for u in range(n)]
    counts = np.zeros((n, n))
    for walk in product(range(n), repeat=length):
        steps = list(pairwise(walk))
        if any(v not in near[u] for u, v in steps):
            continue
        probability = math.prod(1 / len(near[u]) for u, _ in steps)
        for one, other in combinations(walk, 2):
            counts[one, other] += walks * probability
            if one != other:
                counts[other, one] += walks * probability
    return counts


def ppmi(counts):
    """Positive pointwise mutual information, entry by entry."""
    n, result = len(counts), np.zeros(np.shape(counts))
    total = sum(counts[i][j] for i in range(n) for j in range(n))
    for i in range(n):
        for j in range(n):
            if counts[i][j] > 0:
                alone = sum(counts[i]) * sum(counts[k][j] for k in range(n))
                result[i, j] = max(0.0, math.log(counts[i][j] * total / alone))
    return result


def dgcn(graph, labelled, s, seed, counts):
    """Probabilities of both branches after training without dropout."""
    x, a = literal.dense_features(graph), literal.dense_adjacency(graph)
    x = torch.from_numpy(literal.normalise_rows(x, s.features))
    p = ppmi(counts)
    degree = np.where(p.sum(1) > 0, p.sum(1), 1)
    props = [
        torch.from_numpy(m)
        for m in (literal.normalised_adjacency(a, "symmetric"), p / np.sqrt(np.outer(degree, degree)))
    ]
    w = literal.glorot(seed, (graph.d, s.hidden), (s.hidden, graph.c))
    y = torch.from_numpy(np.eye(graph.c)[graph.labels[labelled]])

    def branch(prop):
        z = prop @ torch.clamp(prop @ x @ w[0], min=0) @ w[1]
        return (torch.clamp(z, min=0) if s.output_activation else z).softmax(1)

    def loss(epoch):
        z_a, z_p = branch(props[0]), branch(props[1])
        known = ((z_a[labelled] - y) ** 2).sum() if s.supervised == "squared" else -(y * z_a[labelled].log()).sum()
        t = min(epoch / s.ramp_up, 1)
        strength = s.consistency * len(labelled) / graph.n * math.exp(-5 * (1 - t) ** 2)
        return known + strength * ((z_a - z_p) ** 2).sum()

    optimiser = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[s.optimiser]
    literal.train(loss, optimiser(w, lr=s.lr, weight_decay=s.weight_decay), s.epochs)
    return [branch(prop).detach().numpy() for prop in props]


def confgcn(graph, labelled, s, seed):
    """Probabilities after training without dropout."""
    x, a = literal.dense_features(graph), literal.dense_adjacency(graph)
    x = torch.from_numpy(literal.normalise_rows(x, s.features))
    joined = torch.from_numpy(a + np.eye(graph.n))
    theta1, theta2, mu_scores = literal.glorot(seed, (graph.d, s.hidden), (s.hidden, graph.c), (graph.n, graph.c))
    s_scores = torch.ones(graph.n, graph.c, dtype=torch.float64, requires_grad=True)
    y = torch.from_numpy(np.eye(graph.c)[graph.labels[labelled]])
    parameters = [theta1, theta2, mu_scores, s_scores]

    def forward():
        mu = mu_scores.softmax(1)
        precision = torch.where(s_scores > 0, s_scores, torch.exp(s_scores) - 1)
        d = literal.pairwise_distance(mu, precision)
        r = torch.exp(1 / (torch.clamp(d, min=0) + s.bias)) * joined
        r = r / r.sum(1, keepdim=True)
        h = r @ x @ theta1
        return mu, precision, d, r @ (torch.clamp(h, min=0) if s.activation else h) @ theta2

    def loss(_):
        mu, precision, d, z = forward()
        gap, p_labelled = y - mu[labelled], z[labelled].softmax(1)
        return (
            literal.l_cross(z[labelled], y, "mean")
            + s.l_smooth * (d * joined).sum() / 4
            + s.l_label * (gap**2 * (precision[labelled] + s.gamma)).sum() / 2
            + s.l_const * ((p_labelled - mu[labelled]) ** 2).sum()
            + s.l_reg * torch.where(precision < 0, -precision, 0).sum()
            + sum(s.l2 * (s.l2 * (w**2).sum() / 2) ** 2 / 2 for w in parameters)
        )

    literal.train(loss, torch.optim.Adam(parameters, lr=s.lr), s.epochs)
    return forward()[3].softmax(1).detach().numpy()


def hsic(z1: Tensor, z2: Tensor) -> Tensor:
    """(n-1)^-2 tr(R K1 R K2) with n × n matrices."""
    n = len(z1)
    r = torch.eye(n, dtype=z1.dtype) - 1 / n
    return torch.trace(r @ (z1 @ z1.T) @ r @ (z2 @ z2.T)) / (n - 1) ** 2


def gram_difference(z1: Tensor, z2: Tensor) -> Tensor:
    """Mean squared difference of two n × n matrices of cosines."""
    grams = []
    for z in (z1, z2):
        centred = z - z.mean(0)
        unit = centred / centred.norm(dim=1, keepdim=True)
        grams.append(unit @ unit.T)
    return ((grams[0] - grams[1]) ** 2).mean()


def later_neighbours(x, k):
    """u and v > u are joined if v is among the k nearest of u."""
    a = np.zeros((len(x), len(x)))
    for u, neighbours in enumerate(literal.exact_knn(x, k)[0]):
        for v in neighbours:
            if v > u:
                a[u, v] = a[v, u] = 1
    return a


def am_gcn_logits(x: Tensor, t: Tensor, f: Tensor, p: dict[str, Tensor]):
    """(Z_T, Z_F, Z_CT, Z_CF), logits. p holds a model's parameters by name."""

    def gcn(name, prop):
        h = torch.clamp(prop @ x @ p[f"{name}.w1"] + p[f"{name}.b1"], min=0)
        return prop @ h @ p[f"{name}.w2"] + p[f"{name}.b2"]

    parts = gcn("specific_t", t), gcn("specific_f", f), gcn("common", t), gcn("common", f)
    stacked = [parts[0], parts[1], (parts[2] + parts[3]) / 2]
    scores = [
        torch.tanh(z @ p["attention.0.weight"].T + p["attention.0.bias"]) @ p["attention.2.weight"].T for z in stacked
    ]
    exponentials = [torch.exp(score) for score in scores]
    z = sum(e / sum(exponentials) * z for e, z in zip(exponentials, stacked, strict=True))
    return parts, z @ p["output.weight"].T + p["output.bias"]


def am_gcn(graph, labelled, s, parameters):
    """Probabilities after training from these parameters without dropout."""
    x, a = literal.dense_features(graph), literal.dense_adjacency(graph)
    knn = later_neighbours(x, s.k) if s.feature_edges == "later" else literal.feature_adjacency(x, s.k)
    t, f = (torch.from_numpy(literal.normalised_adjacency(m, "row")) for m in (a, knn))
    x = torch.from_numpy(literal.normalise_rows(x, s.features))
    y = torch.from_numpy(np.eye(graph.c)[graph.labels[labelled]])
    p = {name: value.detach().double().requires_grad_() for name, value in parameters.items()}

    def loss(_):
        (z_t, z_f, c_t, c_f), logits = am_gcn_logits(x, t, f, p)
        apart = (hsic(z_t, c_t) + hsic(z_f, c_f)) / 2
        return literal.l_cross(logits[labelled], y, "mean") + s.beta * apart + s.theta * gram_difference(c_t, c_f)

    optimiser = torch.optim.Adam(p.values(), lr=s.lr, weight_decay=s.weight_decay)
    literal.train(loss, optimiser, s.epochs)
    return am_gcn_logits(x, t, f, p)[1].softmax(1).detach().numpy()
