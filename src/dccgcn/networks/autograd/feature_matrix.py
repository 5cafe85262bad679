"""X Θ with bag-of-words X: the largest product of a network's first layer, sparse where that is faster."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from dccgcn.kernels import DENSE_ABOVE
from dccgcn.networks.autograd.dropout_ops import dropout
from dccgcn.networks.autograd.pattern import Pattern
from dccgcn.networks.autograd.sparse_ops import spmm


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """The features X for products with weights: a pattern with values, or a dense tensor."""

    pattern: Pattern | None
    values: Tensor  # (entries,) with a pattern, else (n, d)
    shape: tuple[int, int]

    @classmethod
    def of(cls, x: Any) -> "FeatureMatrix":
        """From an array or a SciPy matrix, (n, d), on torch's default device."""
        shape = (int(x.shape[0]), int(x.shape[1]))
        filled = (x.nnz if sp.issparse(x) else np.count_nonzero(x)) / max(1, shape[0] * shape[1])
        if filled > DENSE_ABOVE:
            dense = x.toarray() if sp.issparse(x) else x.copy()  # writable, for torch
            return cls(None, torch.as_tensor(np.ascontiguousarray(dense, dtype=np.float32)), shape)
        sparse = sp.csr_array(x, dtype=np.float32, copy=True)  # writable, for torch
        sparse.sort_indices()
        return cls(Pattern.of(sparse), torch.as_tensor(sparse.data), shape)

    def times(self, theta: Tensor, p: float = 0.0, key: int = 0) -> Tensor:
        """dropout(X, p) @ theta: (n, d) times (d, width) → (n, width)."""
        values = dropout(self.values, p, key)
        if self.pattern is None:
            return values @ theta
        return spmm(self.pattern, values, theta)
