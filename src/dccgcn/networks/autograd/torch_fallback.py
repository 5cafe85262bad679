"""The kernels in torch operations: for devices other than the CPU, and as a reference in tests.

Products have no gradients of their own; torch derives those of the others.
"""

import torch
from torch import Tensor

from dccgcn.networks.autograd.pattern import Pattern


def spmm(p: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    matrix = torch.sparse_csr_tensor(p.indptr, p.indices, values, p.shape, check_invariants=False)
    return matrix @ dense


def spmm_transposed(p: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    matrix = torch.sparse_csr_tensor(
        p.t_indptr, p.t_indices, values[p.t_order.long()], (p.shape[1], p.shape[0]), check_invariants=False
    )
    return matrix @ dense


def sddmm(p: Pattern, left: Tensor, right: Tensor) -> Tensor:
    zeros = torch.sparse_csr_tensor(p.indptr, p.indices, left.new_zeros(p.entries), p.shape, check_invariants=False)
    return torch.sparse.sampled_addmm(zeros, left, right.T, beta=0).values()


def edge_distance(p: Pattern, mu_r: Tensor, s_r: Tensor, mu_c: Tensor, s_c: Tensor) -> Tensor:
    difference = mu_r[p.rows] - mu_c[p.cols]  # (entries, classes)
    return (difference.square() * (s_r[p.rows] + s_c[p.cols])).sum(1)


def neighbour_softmax(p: Pattern, scores: Tensor) -> Tensor:
    top = torch.full((p.shape[0],), -torch.inf, dtype=scores.dtype, device=scores.device)
    top = top.scatter_reduce(0, p.rows, scores.detach(), "amax")
    top = torch.where(top.isinf(), 0, top)
    weights = (scores - top[p.rows]).exp()
    total = torch.zeros_like(top).index_add_(0, p.rows, weights)
    return weights / torch.where(total > 0, total, 1)[p.rows]
