"""The kernels in torch operations: for devices other than the CPU, and as a reference in tests."""

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


def edge_distance_grad(
    p: Pattern, grad: Tensor, mu_r: Tensor, s_r: Tensor, mu_c: Tensor, s_c: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    difference = mu_r[p.rows] - mu_c[p.cols]
    grad_mu = 2 * grad[:, None] * difference * (s_r[p.rows] + s_c[p.cols])
    grad_s = grad[:, None] * difference.square()
    return (
        torch.zeros_like(mu_r).index_add_(0, p.rows, grad_mu),
        torch.zeros_like(s_r).index_add_(0, p.rows, grad_s),
        torch.zeros_like(mu_c).index_add_(0, p.cols, -grad_mu),
        torch.zeros_like(s_c).index_add_(0, p.cols, grad_s),
    )


def neighbour_softmax(p: Pattern, scores: Tensor) -> Tensor:
    top = torch.full((p.shape[0],), -torch.inf, dtype=scores.dtype, device=scores.device)
    top = top.scatter_reduce(0, p.rows, scores, "amax")
    top = torch.where(top.isinf(), 0, top)
    weights = (scores - top[p.rows]).exp()
    total = torch.zeros_like(top).index_add_(0, p.rows, weights)
    return weights / torch.where(total > 0, total, 1)[p.rows]


def neighbour_softmax_grad(p: Pattern, grad: Tensor, weights: Tensor) -> Tensor:
    mean = torch.zeros(p.shape[0], dtype=grad.dtype, device=grad.device).index_add_(0, p.rows, grad * weights)
    return weights * (grad - mean[p.rows])
