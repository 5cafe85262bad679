"""Receptive fields: the part of the graph that a two-layer network needs for given outputs.

The loss looks at the labelled nodes only, so during training only their two-hop surroundings matter. With a
handful of labels that is a fraction of the graph, and the result is exactly the same.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from dccgcn.graph import NodeGraph
from dccgcn.kernels import FeatureMatrix, Pattern
from dccgcn.views.scaling import Scaling, scaled
from dccgcn.views.view import View


@dataclass(frozen=True, eq=False)
class Field:
    """outputs ← second layer ← hidden ← first layer ← inputs, each a sorted array of node positions."""

    outputs: np.ndarray
    hidden: np.ndarray
    inputs: np.ndarray
    first: Pattern  # (hidden, inputs)
    second: Pattern  # (outputs, hidden)
    first_entries: Tensor | None  # which entries of the view's pattern these are; None: all of them
    second_entries: Tensor | None

    def weights(self, on_view: Tensor) -> tuple[Tensor, Tensor]:
        """Weights of both layers' entries, taken from weights on all entries of the view."""
        return (
            on_view if self.first_entries is None else on_view[self.first_entries],
            on_view if self.second_entries is None else on_view[self.second_entries],
        )


@dataclass(frozen=True, eq=False)
class FieldInput:
    """A field with the feature rows that it reads: all that a two-layer network needs for its outputs."""

    field: Field
    x: FeatureMatrix  # (inputs, d)

    @classmethod
    def of(cls, graph: NodeGraph, scaling: Scaling, view: View, outputs: np.ndarray) -> "FieldInput":
        field = receptive_field(view, outputs)
        return cls(field, FeatureMatrix.of(scaled(graph.features, scaling)[field.inputs]))


def receptive_field(view: View, outputs: np.ndarray) -> Field:
    """The field of these nodes; the whole graph where it would be most of it anyway."""
    hidden, second, second_entries = _step(view, outputs)
    inputs, first, first_entries = _step(view, hidden)
    return Field(outputs, hidden, inputs, first, second, first_entries, second_entries)


def _step(view: View, outputs: np.ndarray) -> tuple[np.ndarray, Pattern, Tensor | None]:
    n = view.matrix.shape[0]
    if np.array_equal(outputs, np.arange(n)):
        return outputs, view.pattern, None
    numbered = sp.csr_array((np.arange(view.matrix.nnz), view.matrix.indices, view.matrix.indptr), shape=(n, n))
    rows = numbered[outputs]
    inputs = np.unique(rows.indices).astype(np.int64)
    local = np.searchsorted(inputs, rows.indices).astype(np.int32)
    relabelled = sp.csr_array((rows.data, local, rows.indptr), shape=(len(outputs), len(inputs)))
    relabelled.sort_indices()
    return inputs, Pattern.of(relabelled), torch.as_tensor(relabelled.data.copy())
