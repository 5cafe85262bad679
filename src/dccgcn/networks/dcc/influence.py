"""Section 3.2: the influence of one node on another, from their label distributions."""

from typing import Literal

import torch
from torch import Tensor

from dccgcn.networks.autograd import Pattern, edge_distance, neighbour_softmax


def distance(pattern: Pattern, mu: Tensor, s: Tensor) -> Tensor:
    """Eq. 5: d_M(u,v) = (μ_u - μ_v)ᵀ (Σ_u⁻¹ + Σ_v⁻¹) (μ_u - μ_v) for each entry (v, u) of a square pattern.

    Σ is diagonal and learned as its inverse s. Shapes: mu, s (n, c) → (entries,).
    """
    return edge_distance(pattern, mu, s, mu, s)


def influence(pattern: Pattern, d: Tensor, kind: Literal["softmax", "inverse"], bias: float) -> Tensor:
    """r_uv = 1/d_M(u,v) of Eq. 6, or its softmax over the neighbours, (entries,) → (entries,).

    The bias keeps it finite where μ_u = μ_v, as on every self-loop.
    """
    r = 1 / (d + bias)
    return neighbour_softmax(pattern, r) if kind == "softmax" else r


def propagation_weights(
    pattern: Pattern, r: Tensor, alpha: Tensor, how: Literal["product", "normalised", "influence"]
) -> Tensor:
    """The weight r_uv α_uv of Eq. 6 on each entry, as printed or normalised to rows that sum to one, (entries,)."""
    if how == "influence":
        return r
    product = r * alpha
    return product / row_sums(pattern, product)[pattern.rows] if how == "normalised" else product


def row_sums(pattern: Pattern, values: Tensor) -> Tensor:
    """Sum of the values of each row, (entries,) → (rows,); 1 where it is 0, so that it can be divided by."""
    sums = torch.zeros(pattern.shape[0], dtype=values.dtype, device=values.device).index_add(0, pattern.rows, values)
    return torch.where(sums == 0, 1, sums)
