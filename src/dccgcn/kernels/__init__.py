"""Numba kernels on NumPy arrays, and the plain functions that call them. Nothing here imports torch.

``sparse`` has the functions; ``csr_kernels``, ``column_blocks``, ``elementwise_kernels`` and ``attention_kernels`` the
kernels that ``autograd`` also wraps; ``random_bits`` the bits of dropout; ``knn_kernels`` and ``candidate_kernels`` the
neighbour searches of ``operators``; ``chebyshev`` polynomials of a graph. ``row_threads`` runs a kernel on all threads,
``row_block`` has matrices whose rows are spread over processes.
"""

from dccgcn.kernels.chebyshev import ChebyshevFilter
from dccgcn.kernels.random_bits import dropout_key
from dccgcn.kernels.row_block import row_block
from dccgcn.kernels.row_threads import over_rows
from dccgcn.kernels.sparse import DENSE_ABOVE, ppr_smooth, softmax_rows, sparse_times, spmm

__all__ = [
    "DENSE_ABOVE",
    "ChebyshevFilter",
    "dropout_key",
    "over_rows",
    "ppr_smooth",
    "row_block",
    "softmax_rows",
    "sparse_times",
    "spmm",
]
