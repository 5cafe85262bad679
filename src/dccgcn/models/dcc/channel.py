"""Eq. 6: one channel, a two-layer GCN whose edges are weighted by influence."""

import torch
from torch import Tensor, nn

from dccgcn.kernels import dropout_key, relu_dropout, spmm
from dccgcn.operators import ReceptiveField


class Channel(nn.Module):
    """h^l = σ(Σ_u r_uv α_uv h_u^{l-1} Θ^l) for l = 1, 2."""

    def __init__(self, features: int, hidden1: int, hidden2: int, dropout: float, output_activation: bool) -> None:
        super().__init__()
        self.theta1 = nn.Parameter(torch.empty(features, hidden1))
        self.theta2 = nn.Parameter(torch.empty(hidden1, hidden2))
        self.dropout = dropout
        self.output_activation = output_activation
        nn.init.xavier_uniform_(self.theta1)
        nn.init.xavier_uniform_(self.theta2)

    def forward(self, inputs: ReceptiveField, weights: Tensor, draw: tuple[int, int, int] = (0, 0, 0)) -> Tensor:
        """Embeddings of the field's outputs, (outputs, hidden2).

        weights holds a number for each entry of the view; draw is the (seed, epoch, channel) of the dropout.
        """
        p = self.dropout if self.training else 0.0
        seed, epoch, channel = draw
        first, second = inputs.layers
        h = inputs.x.times(self.theta1, p, dropout_key(seed, epoch, 2 * channel))  # (inputs, hidden1)
        h = spmm(first.pattern, first.weights(weights), h)  # (hidden, hidden1)
        h = relu_dropout(h, p, dropout_key(seed, epoch, 2 * channel + 1))
        h = spmm(second.pattern, second.weights(weights), h @ self.theta2)  # (outputs, hidden2)
        return h.relu() if self.output_activation else h
