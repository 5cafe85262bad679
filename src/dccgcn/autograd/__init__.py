"""The kernels with gradients, on torch tensors: numba on the CPU, torch's own operations on other devices.

``Pattern`` are the positions of a sparse matrix's entries; their values are tensors of their own, since they may be
learned.
"""

from dccgcn.autograd.attention import attend
from dccgcn.autograd.dropout_ops import dropout, relu_dropout
from dccgcn.autograd.feature_matrix import FeatureMatrix
from dccgcn.autograd.pattern import Pattern
from dccgcn.autograd.sparse_ops import edge_distance, edge_product, neighbour_softmax, spmm
from dccgcn.kernels import dropout_key

__all__ = [
    "FeatureMatrix",
    "Pattern",
    "attend",
    "dropout",
    "dropout_key",
    "edge_distance",
    "edge_product",
    "neighbour_softmax",
    "relu_dropout",
    "spmm",
]
