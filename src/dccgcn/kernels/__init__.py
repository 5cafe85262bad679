"""Sparse products with gradients: numba on the CPU, torch elsewhere.

``pattern`` says where the entries of a sparse matrix are, ``ops`` are the differentiable operations,
``compiled`` and ``fallback`` compute the same raw kernels in numba and in torch, ``strips`` a product of much data.
``attention`` is one operation alone.
"""

from dccgcn.kernels.attention import attend
from dccgcn.kernels.features import FeatureMatrix
from dccgcn.kernels.ops import (
    dropout,
    edge_distance,
    edge_product,
    log_shares,
    neighbour_softmax,
    relu_dropout,
    smooth,
    softmax_rows,
    sparse_times,
    spmm,
)
from dccgcn.kernels.pattern import Pattern
from dccgcn.kernels.random import dropout_key

__all__ = [
    "FeatureMatrix",
    "Pattern",
    "attend",
    "dropout",
    "dropout_key",
    "edge_distance",
    "edge_product",
    "log_shares",
    "neighbour_softmax",
    "relu_dropout",
    "smooth",
    "softmax_rows",
    "sparse_times",
    "spmm",
]
