"""The kernels with gradients, on torch tensors: numba on the CPU, torch's own operations on other devices.

``Pattern`` are the positions of a sparse matrix's entries; their values are tensors of their own, since they may be
learned.
"""

from dccgcn.kernels import dropout_key
from dccgcn.networks.autograd.attention import attend
from dccgcn.networks.autograd.dropout_ops import dropout, relu_dropout
from dccgcn.networks.autograd.feature_matrix import FeatureMatrix
from dccgcn.networks.autograd.pattern import Pattern
from dccgcn.networks.autograd.sparse_ops import edge_distance, edge_product, neighbour_softmax, spmm

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
