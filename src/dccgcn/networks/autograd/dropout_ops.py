"""Dropout by the kernels' counter-based random bits, which need no stored mask."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dccgcn.kernels import GOLDEN, MASK, elementwise_kernels, finalise, over_rows, threshold


def dropout(values: Tensor, p: float, key: int) -> Tensor:
    """Dropout of a tensor that needs no gradient (such as the stored values of the features), any shape."""
    if p == 0:
        return values
    if values.device.type != "cpu":
        return values * keep_mask(values, p, key) / (1 - p)
    out = torch.empty_like(values)
    random = np.uint32(key), np.uint32(threshold(p))
    over_rows(elementwise_kernels.dropout, out.numel(), _flat(values), *random, _scale(p, values), _flat(out))
    return out


def relu_dropout(values: Tensor, p: float, key: int) -> Tensor:
    """dropout(relu(values)) in one pass, with a gradient, any shape."""
    if values.device.type != "cpu":
        return values.relu() * keep_mask(values, p, key) / (1 - p)
    return _ReluDropout.apply(values, p, key)


class _ReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, p: float, key: int) -> Tensor:
        ctx.p = p
        out = torch.empty_like(values)
        random = np.uint32(key), np.uint32(threshold(p))
        over_rows(elementwise_kernels.relu_dropout, out.numel(), _flat(values), *random, _scale(p, values), _flat(out))
        ctx.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (output,) = ctx.saved_tensors
        out = torch.empty_like(output)
        scale = _scale(ctx.p, output)
        arrays = _flat(grad.contiguous()), _flat(output), scale, _flat(out)
        over_rows(elementwise_kernels.relu_dropout_grad, out.numel(), *arrays)
        return out, None, None


def random_bits(key: int, count: int, device: torch.device) -> Tensor:
    """``kernels.random_bits.bits`` for the positions 0 to count-1, (count,) int64."""
    return finalise((torch.arange(count, device=device) * GOLDEN + key) & MASK)


def keep_mask(values: Tensor, p: float, key: int) -> Tensor:
    """Which elements dropout keeps, a bool tensor of the same shape."""
    return random_bits(key, values.numel(), values.device).view(values.shape) >= threshold(p)


def _flat(tensor: Tensor) -> np.ndarray:
    return tensor.detach().view(-1).numpy()


def _scale(p: float, like: Tensor) -> np.floating:
    return like.numpy(force=True).dtype.type(1 / (1 - p))
