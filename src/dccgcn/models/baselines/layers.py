"""What the neural baselines share: the product with sparse features, and dropout."""

import torch
from torch import Tensor, nn

from dccgcn.kernels import FeatureMatrix, dropout


class FeatureLinear(nn.Module):
    """dropout(X) W + b for features of nodes: (rows, d) times (d, width) → (rows, width)."""

    def __init__(self, d: int, width: int, dropout: float, bias: bool = True) -> None:
        super().__init__()
        self.dropout = dropout
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(d, width)))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x: FeatureMatrix) -> Tensor:
        h = x.times(self.weight, self.dropout if self.training else 0.0, random_key(self.training))
        return h if self.bias is None else h + self.bias


class Dropout(nn.Module):
    """nn.Dropout by the kernels' random bits, which on a CPU take a fraction of the time of torch's."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, h: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return h
        return h * dropout(torch.ones_like(h, requires_grad=False), self.p, random_key(self.training))


def random_key(training: bool) -> int:
    """A key for the kernels' dropout from torch's random numbers; looking at validation nodes draws none."""
    return int(torch.randint(2**32, (), device="cpu")) if training else 0
