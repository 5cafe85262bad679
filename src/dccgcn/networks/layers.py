"""TorchOperator: an operator as tensors, which networks propagate with.

Receptive fields: the part of the graph that a network of a few layers needs for given output nodes.

The loss reads labelled nodes only, so training needs their neighbourhood within as many hops as the network has
layers. With few labels that is a fraction of the graph, and the result is exactly the same.

Layers that several networks share.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from dccgcn.features import Operator, Scaling, normalise_rows
from dccgcn.graph import NodeGraph
from dccgcn.networks.autograd import FeatureMatrix, Pattern, dropout, dropout_key, relu_dropout, spmm


@dataclass(frozen=True, eq=False)
class TorchOperator:
    """The entries of Â and their values, on the device that was torch's default when it was made."""

    arrays: Operator  # the same as SciPy matrices
    pattern: Pattern  # (n, n)
    alpha: Tensor  # (entries,) the values of Â

    @classmethod
    def of(cls, operator: Operator) -> "TorchOperator":
        """The tensors of an operator, made once for each device."""
        matrix = operator.matrix
        return operator.cached(
            torch.get_default_device(), lambda: cls(operator, Pattern.of(matrix), torch.as_tensor(matrix.data))
        )

    def propagate(self, h: Tensor) -> Tensor:
        """Â h: (n, width) → (n, width)."""
        return spmm(self.pattern, self.alpha, h)


@dataclass(frozen=True, eq=False)
class Layer:
    """Rows of an operator for output nodes. Inputs are sorted and include the outputs, which have self-loops."""

    outputs: np.ndarray  # (outputs,) node positions
    inputs: np.ndarray  # (inputs,) node positions
    pattern: Pattern  # (outputs, inputs)
    entries: Tensor | None  # position of each entry among the operator's; None: all of them

    @cached_property
    def output_positions(self) -> Tensor:
        """Position of each output among the inputs, (outputs,)."""
        return torch.as_tensor(np.searchsorted(self.inputs, self.outputs))

    def weights(self, all_weights: Tensor) -> Tensor:
        """Weights of this layer's entries, from weights on all entries of the operator."""
        return all_weights if self.entries is None else all_weights[self.entries]


@dataclass(frozen=True, eq=False)
class ReceptiveField:
    """What a network needs for its outputs: its layers, first to last, and the features of the first one's inputs."""

    layers: tuple[Layer, ...]
    x: FeatureMatrix  # (inputs of the first layer, d)

    @classmethod
    def of(
        cls, graph: NodeGraph, scaling: Scaling, operator: TorchOperator, outputs: np.ndarray, depth: int = 2
    ) -> "ReceptiveField":
        layers = receptive_layers(operator, outputs, depth)
        return cls(layers, FeatureMatrix.of(normalise_rows(graph.features, scaling)[layers[0].inputs]))


def receptive_layers(operator: TorchOperator, outputs: np.ndarray, depth: int = 2) -> tuple[Layer, ...]:
    """The layers of a network of this depth, first to last; the last one's outputs are the given nodes."""
    layers: list[Layer] = []
    for _ in range(depth):
        layers.insert(0, _layer(operator, layers[0].inputs if layers else outputs))
    return tuple(layers)


def _layer(operator: TorchOperator, outputs: np.ndarray) -> Layer:
    matrix = operator.arrays.matrix
    if np.array_equal(outputs, np.arange(matrix.shape[0])):
        return Layer(outputs, outputs, operator.pattern, None)
    positions = sp.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    rows = positions[outputs]
    inputs = np.unique(rows.indices).astype(np.int64)
    local = np.searchsorted(inputs, rows.indices).astype(np.int32)
    relabelled = sp.csr_array((rows.data, local, rows.indptr), shape=(len(outputs), len(inputs)))
    relabelled.sort_indices()
    return Layer(outputs, inputs, Pattern.of(relabelled), torch.as_tensor(relabelled.data.copy()))


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
