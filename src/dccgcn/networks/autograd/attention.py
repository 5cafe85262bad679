"""Multi-head attention over the neighbours: scores, softmax, dropout and the weighted sum in one pass."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from dccgcn.kernels import attention_kernels, over_rows, threshold
from dccgcn.networks.autograd.dropout_ops import dropout
from dccgcn.networks.autograd.pattern import Pattern
from dccgcn.networks.autograd.sparse_ops import as_numpy, neighbour_softmax, spmm


def attend(p: Pattern, target: Tensor, source: Tensor, h: Tensor, slope: float, drop: float, key: int) -> Tensor:
    """Σ_j dropout(a_ij) h_j per head, a_ij = softmax over the entries of row i of leakyrelu(target_i + source_j).

    Shapes: target (rows, heads), source (columns, heads), h (columns, heads, width) → (rows, heads, width). Weights are
    dropped with probability ``drop``, by the random bits of ``key``.
    """
    if p.backend == "torch":
        return _attend_per_head(p, target, source, h, slope, drop, key)
    return _Attend.apply(p, target, source, h, slope, drop, key)


def _attend_per_head(
    p: Pattern, target: Tensor, source: Tensor, h: Tensor, slope: float, drop: float, key: int
) -> Tensor:
    """Attention from the other operations, for devices without numba."""
    scores = F.leaky_relu(target[p.rows] + source[p.cols], slope)  # (entries, heads)
    mask = dropout(torch.ones_like(scores).detach(), drop, key)
    heads = [
        spmm(p, neighbour_softmax(p, scores[:, k].contiguous()) * mask[:, k], h[:, k].contiguous())
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
        ctx.random = np.uint32(key), np.uint32(threshold(drop)), real(1 / (1 - drop))  # key, drop, scale
        ctx.save_for_backward(target, source, h, weights)
        inputs, outputs = map(as_numpy, (p.indptr, p.indices, target, source, h)), map(as_numpy, (weights, out))
        arguments = *inputs, ctx.slope, *ctx.random, *outputs
        over_rows(attention_kernels.attention, p.shape[0], *arguments, buffers=lambda: _per_head(h, 2))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        p: Pattern = ctx.pattern
        target, source, h, weights = ctx.saved_tensors
        grad_target, grad_source, grad_h = (
            torch.empty_like(t, memory_format=torch.contiguous_format) for t in (target, source, h)
        )
        grad_scores = torch.empty_like(weights)
        inputs = map(as_numpy, (p.indptr, p.indices, grad, target, source, h, weights))
        arguments = *inputs, ctx.slope, *ctx.random, *map(as_numpy, (grad_scores, grad_target))
        over_rows(attention_kernels.attention_grad_target, p.shape[0], *arguments, buffers=lambda: _per_head(h, 1))
        inputs = map(as_numpy, (p.t_indptr, p.t_indices, p.t_order, grad, weights, grad_scores))
        outputs = map(as_numpy, (grad_source, grad_h))
        over_rows(attention_kernels.attention_grad_source, p.shape[1], *inputs, *ctx.random, *outputs)
        return None, grad_target, grad_source, grad_h, None, None, None


def _per_head(h: Tensor, count: int) -> tuple[np.ndarray, ...]:
    """Buffers of a value per head."""
    return tuple(np.empty((count, h.shape[1]), as_numpy(h).dtype))
