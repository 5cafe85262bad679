"""Layers that several networks share."""

import torch
from torch import Tensor, nn

from dccgcn.networks.autograd import FeatureMatrix, dropout, dropout_key, relu_dropout, spmm
from dccgcn.networks.receptive_field import ReceptiveField


class TwoLayerGcn(nn.Module):
    """The two-layer GCN of Kipf & Welling (ICLR 2017) with a weight on each edge, without biases.

    Z = Â relu(Â X Θ1) Θ2. With the weights r_uv α_uv it is a channel of DCC-GCN, Eq. 6:
    h_v^l = σ(Σ_u r_uv α_uv h_u^{l-1} Θ^l) for l = 1, 2, where σ may be left out after the second layer.

    Shapes: X (inputs, features), Θ1 (features, hidden1), Θ2 (hidden1, hidden2) → (outputs, hidden2).
    """

    def __init__(self, features: int, hidden1: int, hidden2: int, dropout: float, output_activation: bool) -> None:
        super().__init__()
        self.theta1 = nn.Parameter(torch.empty(features, hidden1))
        self.theta2 = nn.Parameter(torch.empty(hidden1, hidden2))
        self.dropout = dropout
        self.output_activation = output_activation
        nn.init.xavier_uniform_(self.theta1)
        nn.init.xavier_uniform_(self.theta2)

    def forward(self, field: ReceptiveField, weights: Tensor, dropout_at: tuple[int, int, int] = (0, 0, 0)) -> Tensor:
        """Embeddings of the field's outputs.

        weights: (entries,) one for each entry of the operator. dropout_at: (seed, epoch, channel) of the dropout.
        """
        p = self.dropout if self.training else 0.0
        seed, epoch, channel = dropout_at
        first, second = field.layers
        h = field.x.times(self.theta1, p, dropout_key(seed, epoch, 2 * channel))  # (inputs, hidden1)
        h = spmm(first.pattern, first.weights(weights), h)  # (hidden, hidden1)
        h = relu_dropout(h, p, dropout_key(seed, epoch, 2 * channel + 1))
        h = spmm(second.pattern, second.weights(weights), h @ self.theta2)  # (outputs, hidden2)
        return h.relu() if self.output_activation else h


class FeatureLinear(nn.Module):
    """dropout(X) W + b for sparse or dense features.

    Shapes: X (rows, d), W (d, width) → (rows, width).
    """

    def __init__(self, d: int, width: int, dropout: float, bias: bool = True) -> None:
        super().__init__()
        self.dropout = dropout
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(d, width)))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x: FeatureMatrix) -> Tensor:
        h = x.times(self.weight, self.dropout if self.training else 0.0, random_key(self.training))
        return h if self.bias is None else h + self.bias


class Dropout(nn.Module):
    """nn.Dropout by the kernels' random bits, which on a CPU take a fraction of the time of torch's. Any shape."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, h: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return h
        return h * dropout(torch.ones_like(h, requires_grad=False), self.p, random_key(self.training))


def random_key(training: bool) -> int:
    """A dropout key from torch's random numbers in training; evaluation drops nothing and draws none."""
    return int(torch.randint(2**32, (), device="cpu")) if training else 0
