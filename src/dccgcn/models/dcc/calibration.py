"""Section 3.4: the embedding of a low-confidence node is rebuilt from its high-confidence neighbours."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from dccgcn.kernels import Pattern, edge_distance, neighbour_softmax, spmm
from dccgcn.models.dcc.influence import row_sums
from dccgcn.operators import hop_blocks


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """N^m of some nodes: a row for each of them, a column for each node whose embedding is at hand."""

    rows: Tensor  # (rows,) positions of the nodes to repair
    pattern: Pattern  # (rows, columns)

    @classmethod
    def of(cls, rows: np.ndarray, reached: sp.csr_array) -> "Neighbourhood":
        return cls(torch.as_tensor(rows), Pattern.of(reached))


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
    """r_vu of Eq. 7 for each pair, 0 for low-confidence neighbours; and which rows have any other.

    Shapes: mu_rows, s_rows (rows, c); mu, s (columns, c); high (columns,) → (entries,), (rows,) bool.
    """
    r = 1 / (edge_distance(pattern, mu_rows, s_rows, mu, s) + bias)
    counts = high[pattern.cols]
    found = torch.zeros(pattern.shape[0], dtype=torch.bool, device=high.device)
    found[pattern.rows[counts]] = True
    if kind == "softmax":
        return neighbour_softmax(pattern, r.masked_fill(~counts, -torch.inf)), found
    r = r * counts
    return (r / row_sums(pattern, r)[pattern.rows] if total == "normalised" else r), found


def calibrate(own: Tensor, pattern: Pattern, weights: Tensor, found: Tensor, embeddings: Tensor) -> Tensor:
    """Eq. 7: z_u = Σ_{v ∈ N^m_high-conf(u)} r_vu h_v; a node with no such neighbour keeps its own.

    The map from embeddings to logits is linear, so it may come first: calibrating c logits instead of
    h2 units gives the same for a fraction of the work.
    Shapes: own (rows, width), embeddings (columns, width) → (rows, width).
    """
    return torch.where(found[:, None], spmm(pattern, weights, embeddings), own)


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
    """Eq. 7 for every low-confidence node, in blocks of rows: embeddings (n, width) and which were repaired."""
    z = embeddings.clone()
    repaired = torch.zeros_like(high)
    low = torch.nonzero(~high).squeeze(1)
    for rows, reached in hop_blocks(adjacency, low.cpu().numpy(), m):
        hood = Neighbourhood.of(rows, reached)
        r, found = calibration_weights(hood.pattern, mu[hood.rows], s[hood.rows], mu, s, high, kind, bias, total)
        z[hood.rows] = calibrate(embeddings[hood.rows], hood.pattern, r, found, embeddings)
        repaired[hood.rows] = found
    return z, repaired
