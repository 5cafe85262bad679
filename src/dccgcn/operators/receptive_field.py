"""Receptive fields: the part of the graph that a network of a few layers needs for given outputs.

The loss looks at the labelled nodes only, so during training only their surroundings matter, as many hops as there are
layers. With a handful of labels that is a fraction of the graph, and the result is exactly the same.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from dccgcn.graph import NodeGraph
from dccgcn.kernels import FeatureMatrix, Pattern
from dccgcn.operators.operator import Operator
from dccgcn.operators.scaling import Scaling, normalise_rows


@dataclass(frozen=True, eq=False)
class Layer:
    """outputs ← inputs, both arrays of node positions; inputs are sorted and hold the outputs too (self-loops)."""

    outputs: np.ndarray
    inputs: np.ndarray
    pattern: Pattern  # (outputs, inputs)
    entries: Tensor | None  # which entries of the view's pattern these are; None: all of them

    @cached_property
    def own(self) -> Tensor:
        """Where each output is among the inputs."""
        return torch.as_tensor(np.searchsorted(self.inputs, self.outputs))

    def weights(self, on_view: Tensor) -> Tensor:
        """Weights of these entries, taken from weights on all entries of the view."""
        return on_view if self.entries is None else on_view[self.entries]


@dataclass(frozen=True, eq=False)
class ReceptiveField:
    """All that a network needs for its outputs: its layers, the first one first, and the feature rows that it reads."""

    layers: tuple[Layer, ...]
    x: FeatureMatrix  # (inputs of the first layer, d)

    @classmethod
    def of(
        cls, graph: NodeGraph, scaling: Scaling, view: Operator, outputs: np.ndarray, depth: int = 2
    ) -> "ReceptiveField":
        layers = receptive_field(view, outputs, depth)
        return cls(layers, FeatureMatrix.of(normalise_rows(graph.features, scaling)[layers[0].inputs]))


def receptive_field(view: Operator, outputs: np.ndarray, depth: int = 2) -> tuple[Layer, ...]:
    """The layers through which these nodes are seen, from the features on."""
    layers: list[Layer] = []
    for _ in range(depth):
        layers.insert(0, _layer(view, layers[0].inputs if layers else outputs))
    return tuple(layers)


def _layer(view: Operator, outputs: np.ndarray) -> Layer:
    n = view.matrix.shape[0]
    if np.array_equal(outputs, np.arange(n)):
        return Layer(outputs, outputs, view.pattern, None)
    numbered = sp.csr_array((np.arange(view.matrix.nnz), view.matrix.indices, view.matrix.indptr), shape=(n, n))
    rows = numbered[outputs]
    inputs = np.unique(rows.indices).astype(np.int64)
    local = np.searchsorted(inputs, rows.indices).astype(np.int32)
    relabelled = sp.csr_array((rows.data, local, rows.indptr), shape=(len(outputs), len(inputs)))
    relabelled.sort_indices()
    return Layer(outputs, inputs, Pattern.of(relabelled), torch.as_tensor(relabelled.data.copy()))
