"""Section 3.4: the embedding of a low-confidence node becomes a weighted sum of its high-confidence neighbours'."""

from typing import Literal

import scipy.sparse as sp
import torch
from torch import Tensor

from dccgcn.features import hop_blocks
from dccgcn.networks.autograd import Pattern, edge_distance, neighbour_softmax, spmm
from dccgcn.networks.dcc.influence import row_sums


def calibration_weights(
    pattern: Pattern,
    mu_rows: Tensor,
    s_rows: Tensor,
    mu: Tensor,
    s: Tensor,
    high: Tensor,
    kind: Literal["softmax", "inverse"],
    bias: float,
    total: Literal["normalised", "plain"],
) -> tuple[Tensor, Tensor]:
    """r_vu of Eq. 7 on each entry of the m-hop pattern, 0 for low-confidence neighbours; and which rows have any other.

    Shapes: pattern (rows, columns); mu_rows, s_rows (rows, c); mu, s (columns, c); high (columns,) → (entries,),
    (rows,) bool.
    """
    r = 1 / (edge_distance(pattern, mu_rows, s_rows, mu, s) + bias)
    usable = high[pattern.cols]
    has_neighbour = torch.zeros(pattern.shape[0], dtype=torch.bool, device=high.device)
    has_neighbour[pattern.rows[usable]] = True
    if kind == "softmax":
        return neighbour_softmax(pattern, r.masked_fill(~usable, -torch.inf)), has_neighbour
    r = r * usable
    return (r / row_sums(pattern, r)[pattern.rows] if total == "normalised" else r), has_neighbour


def calibrate(uncalibrated: Tensor, pattern: Pattern, weights: Tensor, chosen: Tensor, embeddings: Tensor) -> Tensor:
    """Eq. 7: z_u = Σ_{v ∈ N^m_high-conf(u)} r_vu h_v for the chosen rows; the others stay as they are.

    The map from embeddings to logits is linear, so it may come first: calibrating c logits instead of hidden2 units
    gives the same for a fraction of the work.

    Shapes: uncalibrated (rows, width), weights (entries,), chosen (rows,) bool, embeddings (columns, width) →
    (rows, width).
    """
    return torch.where(chosen[:, None], spmm(pattern, weights, embeddings), uncalibrated)


@torch.no_grad()
def calibrate_all(
    adjacency: sp.csr_array,
    m: int,
    embeddings: Tensor,
    mu: Tensor,
    s: Tensor,
    high: Tensor,
    kind: Literal["softmax", "inverse"],
    bias: float,
    total: Literal["normalised", "plain"],
) -> tuple[Tensor, Tensor]:
    """Eq. 7 for every low-confidence node, in blocks of rows: embeddings (n, width), and which changed, (n,) bool."""
    z = embeddings.clone()
    corrected = torch.zeros_like(high)
    low = torch.nonzero(~high).squeeze(1)
    for nodes, neighbours in hop_blocks(adjacency, low.cpu().numpy(), m):
        rows, pattern = torch.as_tensor(nodes), Pattern.of(neighbours)
        r, chosen = calibration_weights(pattern, mu[rows], s[rows], mu, s, high, kind, bias, total)
        z[rows] = calibrate(embeddings[rows], pattern, r, chosen, embeddings)
        corrected[rows] = chosen
    return z, corrected
