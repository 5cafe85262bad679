"""The differentiable operations. Which kernel serves them is written in the pattern."""

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dccgcn.kernels import compiled, fallback, strips
from dccgcn.kernels.pattern import Pattern
from dccgcn.kernels.random import bits_torch, threshold

_NO_ORDER = np.empty(0, np.int32)


def spmm(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    """S @ dense with gradients for the values of S and for dense.

    Shapes: values (entries,), dense (cols, width) → (rows, width).
    """
    return _Spmm.apply(pattern, values, dense)


def edge_product(pattern: Pattern, left: Tensor, right: Tensor) -> Tensor:
    """The scalar product of row node and column node on each entry.

    Shapes: left (rows, width), right (cols, width) → (entries,).
    """
    return _EdgeProduct.apply(pattern, left, right)


def edge_distance(pattern: Pattern, mu_r: Tensor, s_r: Tensor, mu_c: Tensor, s_c: Tensor) -> Tensor:
    """Eq. 5's distance of row node and column node on each entry.

    Shapes: mu_r, s_r (rows, classes), mu_c, s_c (cols, classes) → (entries,).
    """
    return _EdgeDistance.apply(pattern, mu_r, s_r, mu_c, s_c)


def neighbour_softmax(pattern: Pattern, scores: Tensor) -> Tensor:
    """Softmax over the entries of each row; -inf leaves an entry out, a row of -inf alone gets zeros.

    Shapes: scores (entries,) → (entries,).
    """
    return _NeighbourSoftmax.apply(pattern, scores)


def dropout(values: Tensor, p: float, key: int) -> Tensor:
    """Dropout of a tensor that needs no gradient (the stored values of the features)."""
    if p == 0:
        return values
    if values.device.type != "cpu":
        keep = bits_torch(key, values.numel(), values.device).view(values.shape) >= threshold(p)
        return values * keep / (1 - p)
    out = torch.empty_like(values)
    compiled.dropout(_flat(values), np.uint32(key), np.uint32(threshold(p)), _scale(p, values), _flat(out))
    return out


def relu_dropout(values: Tensor, p: float, key: int) -> Tensor:
    """dropout(relu(values)) in one pass, without a stored mask."""
    return _ReluDropout.apply(values, p, key)


def smooth(pattern: Pattern, values: Tensor, start: Tensor, teleport: float, steps: int) -> Tensor:
    """P ← (1-a) S P + a P0, so many times, without gradients: for answers, not on the way to them.

    Shapes: values (entries,), start (n, width) → (n, width).
    """
    if pattern.backend == "torch":
        current = start
        for _ in range(steps):
            current = fallback.spmm(pattern, values, current).mul_(1 - teleport).add_(start, alpha=teleport)
        return current
    # answers are narrow: what a step costs is mostly the way there, so it is taken without tensors
    p, back = as_numpy(start), as_numpy(start * teleport)
    sparse = as_numpy(pattern.indptr), as_numpy(pattern.indices), as_numpy(values * (1 - teleport))
    for _ in range(steps):
        smoothed = np.empty_like(p)
        compiled.add_product(*sparse, p, back, smoothed)
        p = smoothed
    return torch.from_numpy(p)


def sparse_times(matrix: sp.csr_array, dense: np.ndarray) -> np.ndarray:
    """matrix @ dense on all threads, without tensors; both float32, (rows, cols) times (cols, width)."""
    nothing = np.zeros((matrix.shape[0], dense.shape[1]), dense.dtype)
    out = np.empty_like(nothing)
    compiled.add_product(matrix.indptr, matrix.indices, matrix.data, dense, nothing, out)
    return out


def softmax_rows(scores: np.ndarray, offset: np.ndarray, size: int) -> np.ndarray:
    """softmax(scores + offset) of every ``size`` columns of each row.

    Shapes: scores (n, len(offset) or more) → (n, len(offset)). NumPy's reductions of rows as short as these take
    several times as long, and its exponentials a fraction of the time.
    """
    out = np.empty((len(scores), len(offset)), scores.dtype)
    compiled.less_top(scores, offset, size, out)
    np.exp(out, out=out)
    compiled.normalise(out, size)
    return out


def log_shares(values: np.ndarray, floor: float, size: int) -> np.ndarray:
    """log(floor + v / Σ v), where sums are of every ``size`` columns of each row, (n, columns); values are changed."""
    compiled.normalise(values, size)
    values += values.dtype.type(floor)
    return np.log(values, out=values)


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
        by_values = _sddmm(ctx.pattern, grad, dense) if ctx.needs_input_grad[1] else None
        by_dense = _transposed_product(ctx.pattern, values, grad) if ctx.needs_input_grad[2] else None
        return None, by_values, by_dense


class _EdgeProduct(torch.autograd.Function):
    """The derivative of spmm by its values, whose own derivatives are spmm again."""

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
        if p.backend == "torch":
            return fallback.edge_distance(p, mu_r, s_r, mu_c, s_c)
        out = mu_r.new_empty(p.entries)
        compiled.edge_distance(
            as_numpy(p.indptr),
            as_numpy(p.indices),
            as_numpy(mu_r),
            as_numpy(s_r),
            as_numpy(mu_c),
            as_numpy(s_c),
            as_numpy(out),
        )
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        p: Pattern = ctx.pattern
        mu_r, s_r, mu_c, s_c = ctx.saved_tensors
        if p.backend == "torch":
            return None, *fallback.edge_distance_grad(p, grad, mu_r, s_r, mu_c, s_c)
        rows = [as_numpy(t) for t in (mu_r, s_r)]
        cols = [as_numpy(t) for t in (mu_c, s_c)]
        by_rows = [torch.empty_like(t, memory_format=torch.contiguous_format) for t in (mu_r, s_r)]
        by_cols = [torch.empty_like(t, memory_format=torch.contiguous_format) for t in (mu_c, s_c)]
        g = as_numpy(grad)
        compiled.edge_distance_rows(as_numpy(p.indptr), as_numpy(p.indices), g, *rows, *cols, *map(as_numpy, by_rows))
        # the distance is symmetric: seen from the columns, the transposed pattern has the same form
        g_t = g[as_numpy(p.t_order)]
        compiled.edge_distance_rows(
            as_numpy(p.t_indptr), as_numpy(p.t_indices), g_t, *cols, *rows, *map(as_numpy, by_cols)
        )
        return None, *by_rows, *by_cols


class _NeighbourSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, p: Pattern, scores: Tensor) -> Tensor:
        if p.backend == "torch":
            weights = fallback.neighbour_softmax(p, scores)
        else:
            weights = torch.empty_like(scores)
            compiled.neighbour_softmax(as_numpy(p.indptr), as_numpy(scores), as_numpy(weights))
        ctx.pattern = p
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        p: Pattern = ctx.pattern
        (weights,) = ctx.saved_tensors
        if p.backend == "torch":
            return None, fallback.neighbour_softmax_grad(p, grad, weights)
        out = torch.empty_like(weights)
        compiled.neighbour_softmax_grad(as_numpy(p.indptr), as_numpy(grad), as_numpy(weights), as_numpy(out))
        return None, out


class _ReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, p: float, key: int) -> Tensor:
        ctx.p = p
        if values.device.type != "cpu":
            keep = bits_torch(key, values.numel(), values.device).view(values.shape) >= threshold(p)
            out = values.relu() * keep / (1 - p)
        else:
            out = torch.empty_like(values)
            compiled.relu_dropout(_flat(values), np.uint32(key), np.uint32(threshold(p)), _scale(p, values), _flat(out))
        ctx.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (kept,) = ctx.saved_tensors
        if grad.device.type != "cpu":
            return grad * (kept > 0) / (1 - ctx.p), None, None
        out = torch.empty_like(kept)
        compiled.relu_dropout_grad(_flat(grad.contiguous()), _flat(kept), _scale(ctx.p, kept), _flat(out))
        return out, None, None


def _product(p: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    if p.backend == "torch":
        return fallback.spmm(p, values, dense)
    return _multiplied((as_numpy(p.indptr), as_numpy(p.indices), _NO_ORDER), values, dense)


def _transposed_product(p: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    if p.backend == "torch":
        return fallback.spmm_transposed(p, values, dense)
    return _multiplied((as_numpy(p.t_indptr), as_numpy(p.t_indices), as_numpy(p.t_order)), values, dense)


def _multiplied(sparse: tuple[np.ndarray, np.ndarray, np.ndarray], values: Tensor, dense: Tensor) -> Tensor:
    """The product, with rows, columns and order of the entries as spmm takes them."""
    out, right = dense.new_empty(len(sparse[0]) - 1, dense.shape[1]), as_numpy(dense)
    spmm = strips.spmm if strips.worthwhile(len(sparse[1]), right) else compiled.spmm
    spmm(*sparse, as_numpy(values), right, as_numpy(out))
    return out


def _sddmm(p: Pattern, left: Tensor, right: Tensor) -> Tensor:
    if p.backend == "torch":
        return fallback.sddmm(p, left, right)
    out = left.new_empty(p.entries)
    compiled.sddmm(as_numpy(p.indptr), as_numpy(p.indices), as_numpy(left), as_numpy(right), as_numpy(out))
    return out


def as_numpy(tensor: Tensor) -> np.ndarray:
    return tensor.detach().contiguous().numpy()


def _flat(tensor: Tensor) -> np.ndarray:
    return tensor.detach().view(-1).numpy()


def _scale(p: float, like: Tensor) -> np.floating:
    return like.numpy(force=True).dtype.type(1 / (1 - p))
