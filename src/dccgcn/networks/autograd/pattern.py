"""Pattern: the positions of a sparse matrix's entries, without their values."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Pattern:
    """A CSR pattern with its transpose.

    The transpose is a permutation of the entries, computed once: ``values[t_order]`` are the values of the transposed
    matrix, so gradients never sort or search.
    """

    indptr: Tensor  # (rows + 1,) int32
    indices: Tensor  # (entries,) int32, ascending within a row
    t_indptr: Tensor  # (cols + 1,) int32
    t_indices: Tensor  # (entries,) int32
    t_order: Tensor  # (entries,) int32
    shape: tuple[int, int]
    backend: Literal["numba", "torch"]

    @classmethod
    def of(cls, matrix: sp.csr_array, *, backend: Literal["numba", "torch"] | None = None) -> "Pattern":
        """The pattern of a SciPy matrix, on torch's default device; entry e of it is ``matrix.data[e]``."""
        if not matrix.has_sorted_indices:
            raise ValueError("sort the indices of the matrix first: values are matched to entries by position")
        entries = sp.csr_array(
            (np.arange(matrix.nnz, dtype=np.int32), matrix.indices, matrix.indptr), shape=matrix.shape
        )
        transposed = sp.csr_array(entries.T)
        transposed.sort_indices()
        arrays = (matrix.indptr, matrix.indices, transposed.indptr, transposed.indices, transposed.data)
        indptr, indices, t_indptr, t_indices, t_order = (torch.as_tensor(a.astype(np.int32)) for a in arrays)
        if backend is None:
            backend = "numba" if indptr.device.type == "cpu" else "torch"
        shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        return cls(indptr, indices, t_indptr, t_indices, t_order, shape, backend)

    @property
    def entries(self) -> int:
        return int(self.indices.numel())

    @cached_property
    def rows(self) -> Tensor:
        """Row of each entry, int64."""
        counts = self.indptr.diff()
        return torch.repeat_interleave(torch.arange(self.shape[0], device=counts.device), counts)

    @cached_property
    def cols(self) -> Tensor:
        """Column of each entry, int64."""
        return self.indices.long()
