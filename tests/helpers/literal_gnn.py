"""The networks of the graph baselines in dense matrices, by their formulas; dropout left out.

p holds a network's parameters by name, x the scaled features, a the adjacency matrix; all in double precision.
"""

import numpy as np
import torch

from helpers import literal


def masked_softmax(scores, mask):
    weights = torch.exp(scores) * mask
    return weights / weights.sum(1, keepdim=True)


def with_loops(a):
    return torch.from_numpy((a > 0) | np.eye(len(a), dtype=bool))


def symmetric(a):
    return torch.from_numpy(literal.normalised_adjacency(a, "symmetric"))


def attention(h, source, target, a, slope):
    """One head of GAT."""
    scores = (h @ target)[:, None] + (h @ source)[None]
    return masked_softmax(torch.where(scores > 0, scores, slope * scores), with_loops(a)) @ h


def gat(p, x, a, s):
    def heads(h, layer):
        each = zip(h.chunk(len(p[f"{layer}.source"]), dim=1), p[f"{layer}.source"], p[f"{layer}.target"], strict=True)
        return [attention(part, source, target, a, s.slope) for part, source, target in each]

    h = torch.cat(heads(x @ p["product.weight"], "first"), dim=1) + p["first_bias"]
    last = heads(torch.where(h > 0, h, torch.exp(h) - 1) @ p["output"], "second")
    return sum(last) / len(last) + p["second_bias"]


def agnn(p, x, a, s):
    h = torch.clamp(x @ p["first.weight"] + p["first.bias"], min=0)
    for layer in range(s.layers):
        beta = s.first_beta if layer == 0 else p[f"betas.{layer - 1}"]
        norm = torch.sqrt((h * h).sum(1, keepdim=True))
        unit = h / torch.where(norm > 0, norm, 1)
        h = masked_softmax(beta * unit @ unit.T, with_loops(a)) @ h
    return h @ p["output.weight"].T + p["output.bias"]


def appnp(p, x, a, s):
    """The powers written out: (a Σ_k<K (1-a)^k S^k + (1-a)^K S^K) Z0."""
    z0 = torch.clamp(x @ p["first.weight"], min=0) @ p["second"]
    prop = symmetric(a)
    power, total = torch.eye(len(a), dtype=torch.float64), 0
    for k in range(s.steps):
        total = total + s.alpha * (1 - s.alpha) ** k * power @ z0
        power = power @ prop
    return total + (1 - s.alpha) ** s.steps * power @ z0


def dagnn(p, x, a, s):
    z = torch.clamp(x @ p["first.weight"] + p["first.bias"], min=0) @ p["second.weight"].T + p["second.bias"]
    total = 0
    for k in range(s.steps + 1):
        far = torch.linalg.matrix_power(symmetric(a), k) @ z
        total = total + far / (1 + torch.exp(-(far @ p["gate.weight"].T + p["gate.bias"])))
    return total


def grand(p, x, a, s):
    h = torch.clamp(mixed(x, a, s.order) @ p["first.weight"] + p["bias"], min=0)
    return h @ p["second.weight"].T + p["second.bias"]


def normalised_grand(p, x, a, s):
    """With batch norm, whose gains and shifts are still 1 and 0."""
    h = torch.clamp(standardised(mixed(x, a, s.order)) @ p["first.weight"] + p["bias"], min=0)
    return standardised(h) @ p["second.weight"].T + p["second.bias"]


def mixed(x, a, order):
    return sum(torch.linalg.matrix_power(symmetric(a), k) @ x for k in range(order + 1)) / (order + 1)


def standardised(x):
    return (x - x.mean(0)) / torch.sqrt(x.var(0, correction=0) + 1e-5)


def consistency_loss(p, temperature):
    """GRAND's consistency term of (samples, n, c) NumPy probabilities, in loops."""
    samples, n, _ = p.shape
    total = 0.0
    for i in range(n):
        target = (sum(p[s, i] for s in range(samples)) / samples) ** (1 / temperature)
        target = target / target.sum()
        total += sum(((p[s, i] - target) ** 2).sum() for s in range(samples)) / samples
    return total / n


def krylov(p, x, a, s):
    prop = torch.from_numpy(literal.normalised_adjacency(a, s.normalisation))
    stacked = torch.cat([torch.linalg.matrix_power(prop, k) @ x for k in range(s.blocks)], dim=1)
    hidden = torch.tanh(stacked @ p["hidden.weight"].T + p["hidden.bias"])
    return hidden @ p["output.weight"].T + p["output.bias"]
