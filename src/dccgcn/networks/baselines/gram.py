"""AM-GCN's losses on the Gram matrices K = Z Zᵀ of embeddings, without forming n × n matrices.

Their rank is at most the width h of an embedding, so h × h products suffice:
    tr(R K1 R K2) with the centring R = RR is ‖(R Z1)ᵀ (R Z2)‖²,
    ‖A Aᵀ - B Bᵀ‖² is ‖Aᵀ A‖² + ‖Bᵀ B‖² - 2 ‖Aᵀ B‖²      (all norms Frobenius).
"""

import torch.nn.functional as F
from torch import Tensor


def hsic(z1: Tensor, z2: Tensor) -> Tensor:
    """(n-1)^-2 tr(R K1 R K2) with inner products as kernels: the squared norm of the cross-covariance.

    Shapes: (n, h), (n, h) → ().
    """
    covariance = (z1 - z1.mean(0)).T @ (z2 - z2.mean(0)) / max(len(z1) - 1, 1)
    return covariance.square().sum()


def gram_difference(z1: Tensor, z2: Tensor) -> Tensor:
    """Mean over all pairs of nodes of the squared difference of their cosines, after centring.

    Shapes: (n, h), (n, h) → ().
    """
    a, b = (F.normalize(z - z.mean(0), dim=1) for z in (z1, z2))
    total = (a.T @ a).square().sum() + (b.T @ b).square().sum() - 2 * (a.T @ b).square().sum()
    return total / len(a) ** 2
