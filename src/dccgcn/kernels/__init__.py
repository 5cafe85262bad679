"""Numba kernels on NumPy arrays, and the plain functions that call them. Nothing here imports torch.

``sparse`` has the functions; ``csr_kernels``, ``column_blocks``, ``elementwise_kernels`` and ``attention_kernels`` the
kernels that ``networks.autograd`` also wraps; ``knn_kernels`` and ``candidate_kernels`` the neighbour searches of
``features``; ``chebyshev`` polynomials of a graph; ``texts`` those of tables. ``row_threads`` runs a kernel on all
threads, ``spread_rows`` has matrices whose rows are spread over processes.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
