"""Receptive fields: the part of the graph that a network of a few layers needs for given output nodes.

The loss reads labelled nodes only, so training needs their neighbourhood within as many hops as the network has
layers. With few labels that is a fraction of the graph, and the result is exactly the same.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from dccgcn.features import Scaling, normalise_rows
from dccgcn.graph import NodeGraph
from dccgcn.networks.autograd import FeatureMatrix, Pattern
from dccgcn.networks.torch_operator import TorchOperator


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
