"""Attention of several heads over the neighbours: scores, softmax, dropout and the weighted sum in one pass.

Messages are never formed: of each edge and head only its weight is kept, and its gradient on the way back.
"""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from dccgcn.kernels import compiled
from dccgcn.kernels.ops import as_numpy, dropout, neighbour_softmax, spmm
from dccgcn.kernels.pattern import Pattern
from dccgcn.kernels.random import threshold


def attend(p: Pattern, target: Tensor, source: Tensor, h: Tensor, slope: float, drop: float, key: int) -> Tensor:
    """Σ_j dropout(a_ij) h_j of each head, a_ij = softmax over the entries of row i of leakyrelu(target_i + source_j).

    Shapes: target (rows, heads), source (cols, heads), h (cols, heads, width) → (rows, heads, width). Weights are
    dropped with probability ``drop``, by the random bits of ``key``.
    """
    if p.backend == "torch":
        return _head_by_head(p, target, source, h, slope, drop, key)
    return _Attend.apply(p, target, source, h, slope, drop, key)


def _head_by_head(p: Pattern, target: Tensor, source: Tensor, h: Tensor, slope: float, drop: float, key: int) -> Tensor:
    """The same from the other operations, for devices without numba."""
    scores = F.leaky_relu(target[p.rows] + source[p.cols], slope)  # (entries, heads)
    kept = dropout(torch.ones_like(scores).detach(), drop, key)
    heads = [
        spmm(p, neighbour_softmax(p, scores[:, k].contiguous()) * kept[:, k], h[:, k].contiguous())
        for k in range(h.shape[1])
    ]
    return torch.stack(heads, 1)


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, p: Pattern, target: Tensor, source: Tensor, h: Tensor, slope: float, drop: float, key: int
    ) -> Tensor:
        weights, out = h.new_empty(p.entries, h.shape[1]), h.new_empty(p.shape[0], *h.shape[1:])
        real = as_numpy(h).dtype.type  # in kernels a Python number would widen every product
        ctx.pattern, ctx.slope = p, real(slope)
        ctx.dropped = [np.uint32(key), np.uint32(threshold(drop)), real(1 / (1 - drop))]
        ctx.save_for_backward(target, source, h, weights)
        given = [as_numpy(t) for t in (p.indptr, p.indices, target, source, h)]
        compiled.attention(*given, *(ctx.slope, *ctx.dropped), *map(as_numpy, (weights, out)))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        p: Pattern = ctx.pattern
        target, source, h, weights = ctx.saved_tensors
        by_target, by_source, by_h = (
            torch.empty_like(t, memory_format=torch.contiguous_format) for t in (target, source, h)
        )
        by_scores = torch.empty_like(weights)
        given = [as_numpy(t) for t in (p.indptr, p.indices, grad, target, source, h, weights)]
        compiled.attention_rows(*given, *(ctx.slope, *ctx.dropped), *map(as_numpy, (by_scores, by_target)))
        given = [as_numpy(t) for t in (p.t_indptr, p.t_indices, p.t_order, grad, weights, by_scores)]
        compiled.attention_columns(*given, *ctx.dropped, *map(as_numpy, (by_source, by_h)))
        return None, by_target, by_source, by_h, None, None, None
