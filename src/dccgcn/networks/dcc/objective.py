"""Section 3.5: the terms of the loss."""

from typing import Literal

import torch.nn.functional as F
from torch import Tensor

Reduction = Literal["mean", "sum"]


def l_smooth(d: Tensor, nodes: int, reduction: Reduction) -> Tensor:
    """Eq. 9: the distances of Eq. 5 over the edges.

    Shapes: d (entries,), an entry for each direction of each edge and for each of n self-loops, where it is 0.
    """
    edges = (len(d) - nodes) / 2
    return d.sum() / 2 if reduction == "sum" else d.sum() / 2 / max(edges, 1)


def l_label(mu: Tensor, s: Tensor, labels: Tensor, phi: float, reduction: Reduction) -> Tensor:
    """Eq. 10 over the labelled nodes: (μ - Y)ᵀ (Σ⁻¹ + I/φ) (μ - Y).

    Shapes: mu, s (labelled, c); labels (labelled,).
    """
    y = F.one_hot(labels, mu.shape[1]).to(mu.dtype)
    per_node = ((mu - y).square() * (s + 1 / phi)).sum(1)
    return per_node.sum() if reduction == "sum" else per_node.mean()


def l_cross(logits: Tensor, labels: Tensor, reduction: Reduction) -> Tensor:
    """Eq. 11: cross-entropy of the labelled nodes. Shapes: logits (labelled, c); labels (labelled,)."""
    return F.cross_entropy(logits, labels, reduction=reduction)


def total(cross: Tensor, smooth: Tensor, label: Tensor, lambda1: float, lambda2: float) -> Tensor:
    """Eq. 12: L_cross + λ1 L_smooth + λ2 L_label."""
    return cross + lambda1 * smooth + lambda2 * label
