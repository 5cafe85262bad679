"""Differentiable operations on sparse matrices. The pattern decides whether numba or torch computes them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dccgcn.kernels import csr_kernels, multiply, over_rows
from dccgcn.networks.autograd import torch_fallback
from dccgcn.networks.autograd.pattern import Pattern

_NO_ORDER = np.empty(0, np.int32)


def spmm(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    """S @ dense with gradients for the values of S and for dense.

    Shapes: values (entries,), dense (columns, width) → (rows, width).
    """
    return _Spmm.apply(pattern, values, dense)


def edge_product(pattern: Pattern, left: Tensor, right: Tensor) -> Tensor:
    """<left_i, right_j> on each entry (i, j).

    Shapes: left (rows, width), right (columns, width) → (entries,).
    """
    return _EdgeProduct.apply(pattern, left, right)


def edge_distance(pattern: Pattern, mu_r: Tensor, s_r: Tensor, mu_c: Tensor, s_c: Tensor) -> Tensor:
    """The distance of Eq. 5 on each entry (i, j): Σ_k (mu_r_ik - mu_c_jk)² (s_r_ik + s_c_jk).

    Shapes: mu_r, s_r (rows, classes), mu_c, s_c (columns, classes) → (entries,).
    """
    if pattern.backend == "torch":
        return torch_fallback.edge_distance(pattern, mu_r, s_r, mu_c, s_c)
    return _EdgeDistance.apply(pattern, mu_r, s_r, mu_c, s_c)


def neighbour_softmax(pattern: Pattern, scores: Tensor) -> Tensor:
    """Softmax over the entries of each row; -inf gives an entry weight 0, a row of -inf alone gets zeros.

    Shapes: scores (entries,) → (entries,).
    """
    if pattern.backend == "torch":
        return torch_fallback.neighbour_softmax(pattern, scores)
    return _NeighbourSoftmax.apply(pattern, scores)


class _Spmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, p: Pattern, values: Tensor, dense: Tensor) -> Tensor:
        ctx.pattern = p
        ctx.save_for_backward(values, dense if values.requires_grad else None)
        return _product(p, values, dense)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        values, dense = ctx.saved_tensors
        grad_values = _sddmm(ctx.pattern, grad, dense) if ctx.needs_input_grad[1] else None
        grad_dense = _transposed_product(ctx.pattern, values, grad) if ctx.needs_input_grad[2] else None
        return None, grad_values, grad_dense


class _EdgeProduct(torch.autograd.Function):
    """The gradient of spmm by its values; its own gradients are products with the pattern again."""

    @staticmethod
    def forward(ctx: Any, p: Pattern, left: Tensor, right: Tensor) -> Tensor:
        ctx.pattern = p
        ctx.save_for_backward(left, right)
        return _sddmm(p, left, right)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor]:
        left, right = ctx.saved_tensors
        return None, _product(ctx.pattern, grad, right), _transposed_product(ctx.pattern, grad, left)


class _EdgeDistance(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, p: Pattern, mu_r: Tensor, s_r: Tensor, mu_c: Tensor, s_c: Tensor) -> Tensor:
        ctx.pattern = p
        ctx.save_for_backward(mu_r, s_r, mu_c, s_c)
        out = mu_r.new_empty(p.entries)
        arrays = map(as_numpy, (p.indptr, p.indices, mu_r, s_r, mu_c, s_c, out))
        over_rows(csr_kernels.edge_distance, p.shape[0], *arrays)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        p: Pattern = ctx.pattern
        inputs = [as_numpy(t) for t in ctx.saved_tensors]
        rows, cols = inputs[:2], inputs[2:]
        grads = [torch.empty_like(t, memory_format=torch.contiguous_format) for t in ctx.saved_tensors]
        grad_rows, grad_cols = [as_numpy(t) for t in grads[:2]], [as_numpy(t) for t in grads[2:]]
        g = as_numpy(grad)
        pattern, transposed = map(as_numpy, (p.indptr, p.indices)), map(as_numpy, (p.t_indptr, p.t_indices))
        over_rows(csr_kernels.edge_distance_grad, p.shape[0], *pattern, g, *rows, *cols, *grad_rows)
        # the distance is symmetric: on the transposed pattern, columns are rows
        g_t = g[as_numpy(p.t_order)]
        over_rows(csr_kernels.edge_distance_grad, p.shape[1], *transposed, g_t, *cols, *rows, *grad_cols)
        return None, *grads


class _NeighbourSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, p: Pattern, scores: Tensor) -> Tensor:
        weights = torch.empty_like(scores)
        over_rows(csr_kernels.neighbour_softmax, p.shape[0], *map(as_numpy, (p.indptr, scores, weights)))
        ctx.pattern = p
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        p: Pattern = ctx.pattern
        (weights,) = ctx.saved_tensors
        out = torch.empty_like(weights)
        over_rows(csr_kernels.neighbour_softmax_grad, p.shape[0], *map(as_numpy, (p.indptr, grad, weights, out)))
        return None, out


def _product(p: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    if p.backend == "torch":
        return torch_fallback.spmm(p, values, dense)
    out = dense.new_empty(p.shape[0], dense.shape[1])
    multiply(as_numpy(p.indptr), as_numpy(p.indices), _NO_ORDER, *map(as_numpy, (values, dense, out)))
    return out


def _transposed_product(p: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    if p.backend == "torch":
        return torch_fallback.spmm_transposed(p, values, dense)
    out = dense.new_empty(p.shape[1], dense.shape[1])
    multiply(*map(as_numpy, (p.t_indptr, p.t_indices, p.t_order, values, dense, out)))
    return out


def _sddmm(p: Pattern, left: Tensor, right: Tensor) -> Tensor:
    if p.backend == "torch":
        return torch_fallback.sddmm(p, left, right)
    out = left.new_empty(p.entries)
    over_rows(csr_kernels.sddmm, p.shape[0], *map(as_numpy, (p.indptr, p.indices, left, right, out)))
    return out


def as_numpy(tensor: Tensor) -> np.ndarray:
    """The tensor's memory as an array, or that of a contiguous copy."""
    return tensor.detach().contiguous().numpy()
