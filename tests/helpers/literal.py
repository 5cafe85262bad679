"""The formulas as they are printed, in loops over nodes and in dense matrices: slow, short and easy to verify.

Nothing here is shared with the package but its settings and its seeds, so an error there is not repeated here.
"""

import math

import numpy as np
import torch
from torch import Tensor

from dccgcn.networks.training import seeded


def dense_features(graph):
    x = graph.features.toarray() if hasattr(graph.features, "toarray") else graph.features
    return np.asarray(x, dtype=np.float64)


def dense_adjacency(graph):
    a = np.zeros((graph.n, graph.n))
    for (u, v), weight in zip(graph.edges, graph.weights, strict=True):
        a[u, v] = a[v, u] = weight
    return a


def glorot(seed, *shapes):
    """Weights as a model makes them that draws them in this order."""
    with seeded(seed):
        return [torch.nn.init.xavier_uniform_(torch.empty(shape)).double().requires_grad_() for shape in shapes]


def train(loss, optimiser, epochs):
    for epoch in range(epochs):
        optimiser.zero_grad()
        loss(epoch).backward()
        optimiser.step()


# Section 3.1: the feature graph


def exact_knn(x, k):
    """Neighbours by cosine to nine decimals, then by position; and who ties at the k-th. Lists of positions."""
    x = np.asarray(x, dtype=np.float64)
    norm = [math.sqrt(sum(v * v for v in row)) for row in x]
    found, tied = [], []
    for i in range(len(x)):
        ranked = []
        for j in range(len(x)):
            if i != j and norm[i] > 0 and norm[j] > 0:
                cosine = sum(a * b for a, b in zip(x[i], x[j], strict=True)) / (norm[i] * norm[j])
                ranked.append((-round(cosine * 1e9), j))
        ranked.sort()
        found.append([j for _, j in ranked[:k]])
        tied.append(len(ranked) > k and ranked[k - 1][0] == ranked[k][0])
    return found, tied


def within_hops(adjacency, u, m):
    """N^m(u): all nodes with a path of at most m steps from u, without u."""
    reached = {u}
    for _ in range(m):
        reached |= {v for w in reached for v in range(len(adjacency)) if adjacency[w][v]}
    return reached - {u}


# Section 3.2 to 3.5 on NumPy arrays


def distance(mu_u, s_u, mu_v, s_v):
    """Eq. 5 with whole matrices."""
    gap = np.asarray(mu_u) - np.asarray(mu_v)
    return float(gap @ (np.diag(s_u) + np.diag(s_v)) @ gap)


def softmax(scores):
    exponentials = [math.exp(score - max(scores)) for score in scores]
    return [e / sum(exponentials) for e in exponentials]


def influence(distances, kind, bias):
    """r for the distances between one node and its neighbours."""
    r = [1 / (d + bias) for d in distances]
    return softmax(r) if kind == "softmax" else r


def calibrated(adjacency, m, h, mu, s, high, kind, bias, total):
    """Eq. 7 node by node: the new embeddings, and which nodes were calibrated."""
    z, corrected = h.copy(), np.zeros(len(h), dtype=bool)
    for u in range(len(h)):
        if high[u]:
            continue
        trusted = sorted(v for v in within_hops(adjacency, u, m) if high[v])
        if not trusted:
            continue
        r = influence([distance(mu[v], s[v], mu[u], s[u]) for v in trusted], kind, bias)
        if kind == "inverse" and total == "normalised":
            r = [weight / sum(r) for weight in r]
        z[u] = sum(weight * h[v] for weight, v in zip(r, trusted, strict=True))
        corrected[u] = True
    return z, corrected


# The whole of a training step on the whole graph, in torch and in dense matrices


def feature_adjacency(x, k):
    """A': u and v are adjacent if either is among the other's k nearest."""
    a = np.zeros((len(x), len(x)))
    for u, neighbours in enumerate(exact_knn(x, k)[0]):
        for v in neighbours:
            a[u, v] = a[v, u] = 1
    return a


def normalised_adjacency(a, how):
    """Â of A + I."""
    a = a + np.eye(len(a))
    degree = a.sum(axis=1)
    return {"none": a, "row": a / degree[:, None], "symmetric": a / np.sqrt(np.outer(degree, degree))}[how]


def normalise_rows(x, how):
    divisor = {"raw": np.ones(len(x)), "row": np.abs(x).sum(axis=1), "unit": np.sqrt((x**2).sum(axis=1))}[how]
    return x / np.where(divisor > 0, divisor, 1)[:, None]


def pairwise_distance(mu: Tensor, s: Tensor) -> Tensor:
    """Eq. 5 for all pairs, (n, n)."""
    gap = mu[:, None] - mu[None]
    return torch.einsum("uvk,uvk,uvk->uv", gap, s[:, None] + s[None], gap)


def masked_influence(d: Tensor, mask: Tensor, kind: str, bias: float) -> Tensor:
    """r where the mask is set, 0 elsewhere; a softmax runs over the mask's columns of a row."""
    r = 1 / (torch.where(mask, d, 1) + bias)
    if kind == "softmax":
        weight = torch.exp(r - (r * mask).max(1, keepdim=True).values) * mask
        total = weight.sum(1, keepdim=True)
        return weight / torch.where(total == 0, 1, total)
    return r * mask


def channel_logits_of(h: list[Tensor], p: dict[str, Tensor], s) -> list[Tensor]:
    """Section 3.3: Eq. 8's layer on embeddings padded with zeros, or an MLP of twice the width for each channel."""
    if s.channel_classifier == "padded":
        zeros = torch.zeros_like(h[0])
        big_w = torch.cat([p["output_weights.0.weight"], p["output_weights.1.weight"]], dim=1)
        padded = [torch.cat([h[0], zeros], dim=1), torch.cat([zeros, h[1]], dim=1)]
        return [wide @ big_w.T + p["b"] for wide in padded]
    channel_logits = []
    for i in range(2):
        wide = torch.clamp(h[i] @ p[f"classifiers.{i}.0.weight"].T + p[f"classifiers.{i}.0.bias"], min=0)
        channel_logits.append(wide @ p[f"classifiers.{i}.2.weight"].T + p[f"classifiers.{i}.2.bias"])
    return channel_logits


def step_loss(
    graph, train, settings, p: dict[str, Tensor], calibrating: bool, rounds: int = 1
) -> tuple[Tensor, dict[str, Tensor]]:
    """Eq. 12 with the cross-entropy of the channels' classifiers, dropout left out; and what happened on the way to it.

    p holds a model's parameters by name, in double precision. rounds: passes of Eq. 7.
    """
    s, n, c = settings, graph.n, graph.c
    x = dense_features(graph)
    adjacency = [dense_adjacency(graph), feature_adjacency(x, s.k)]
    inputs = torch.from_numpy(normalise_rows(x, s.features))
    truth = torch.from_numpy(np.eye(c)[graph.labels[train]])

    mu, precision, h, smooth = [], [], [], []
    for i, a in enumerate(adjacency):
        own = 0 if s.share_mu else i
        scores = p[f"mu_scores.{own}"]
        mu.append(torch.exp(scores) / torch.exp(scores).sum(1, keepdim=True) if s.mu == "softmax" else scores)
        precision.append(torch.exp(p[f"log_s.{own}"]))
        d = pairwise_distance(mu[i], precision[i])
        alpha = torch.from_numpy(normalised_adjacency(a, s.normalisation))
        adjacent = torch.from_numpy((a > 0) | np.eye(n, dtype=bool))
        r = masked_influence(d, adjacent, s.influence, s.influence_bias)
        w = r if s.propagation == "influence" else r * alpha
        if s.propagation == "normalised":
            w = w / w.sum(1, keepdim=True)
        hidden = torch.clamp(w @ inputs @ p[f"channels.{i}.theta1"], min=0)
        out = w @ hidden @ p[f"channels.{i}.theta2"]
        h.append(torch.clamp(out, min=0) if s.output_activation else out)
        edges = (a > 0).sum() / 2
        smooth.append((d * adjacent).sum() / 2 / (1 if s.penalty_reduction == "sum" else edges))

    channel_logits = channel_logits_of(h, p, s)
    high = channel_logits[0].argmax(1) == channel_logits[1].argmax(1)

    used = 2 if s.aggregation else 1
    z, corrected, trusted = list(h), torch.zeros(n, dtype=torch.bool), high
    for _ in range(rounds if calibrating else 0):
        before, changed = list(z), torch.zeros(n, dtype=torch.bool)
        for i in range(2):
            near = np.zeros((n, n), dtype=bool)
            for u in range(n):
                near[u, list(within_hops(adjacency[i], u, s.m))] = True
            usable = torch.from_numpy(near) & trusted[None]
            r = masked_influence(pairwise_distance(mu[i], precision[i]), usable, s.influence, s.calibration_bias)
            fixed = ~trusted & usable.any(1)
            if s.influence == "inverse" and s.calibration_sum == "normalised":
                r = r / torch.where(fixed, r.sum(1), 1)[:, None]
            z[i] = torch.where(fixed[:, None], r @ before[i], before[i])
            changed |= fixed
            if i < used:
                corrected |= fixed
        now = channel_logits_of(z, p, s)
        trusted = trusted | (changed & (now[0].argmax(1) == now[1].argmax(1)))

    concatenated = torch.cat(z[:used], dim=1)
    big_w = torch.cat([p[f"output_weights.{i}.weight"] for i in range(used)], dim=1)
    logits = concatenated @ big_w.T + p["b"]
    cross = l_cross(logits[train], truth, s.cross_entropy_reduction)
    heads = sum(l_cross(answer[train], truth, s.cross_entropy_reduction) for answer in channel_logits)
    pull = sum(
        l_label(mu[i][train], precision[i][train], truth, s.phi, s.penalty_reduction)
        for i in range(1 if s.share_mu else 2)
    )
    rough = sum(smooth) if s.smooth_over == "both" else smooth[0]
    loss = cross + s.head_weight * heads + s.lambda1 * rough + s.lambda2 * pull
    return loss, {"logits": logits, "high": high, "corrected": corrected, "trusted": trusted}


def l_cross(logits: Tensor, truth: Tensor, reduction: str) -> Tensor:
    """Eq. 11 with a one-hot truth."""
    log_probabilities = logits - torch.logsumexp(logits, 1, keepdim=True)  # a plain sum of 1/d may be huge
    per_node = -(truth * log_probabilities).sum(1)
    return per_node.sum() if reduction == "sum" else per_node.mean()


def l_label(mu: Tensor, s: Tensor, truth: Tensor, phi: float, reduction: str) -> Tensor:
    """Eq. 10 with whole matrices."""
    terms = []
    for node in range(len(mu)):
        gap = mu[node] - truth[node]
        terms.append(gap @ (torch.diag(s[node]) + torch.eye(len(gap)) / phi) @ gap)
    return torch.stack(terms).sum() if reduction == "sum" else torch.stack(terms).mean()
