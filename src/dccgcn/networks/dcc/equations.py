"""Section 3.2: the influence of one node on another, from their label distributions.

Section 3.3: a node is high-confidence if both channels predict the same class.

"We expand its output feature matrix to two times its dimensionality and input the expanded output into the MLP" has two
readings: pad the embedding with zeros to the width of Eq. 8's input, or a hidden layer of twice the width.

Section 3.4: the embedding of a low-confidence node becomes a weighted sum of its high-confidence neighbours'.

Section 3.5: the terms of the loss.
"""

from typing import Literal

import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.features import hop_blocks
from dccgcn.networks.autograd import Pattern, edge_distance, neighbour_softmax, spmm


def distance(pattern: Pattern, mu: Tensor, s: Tensor) -> Tensor:
    """Eq. 5: d_M(u,v) = (μ_u - μ_v)ᵀ (Σ_u⁻¹ + Σ_v⁻¹) (μ_u - μ_v) for each entry (v, u) of a square pattern.

    Σ is diagonal and learned as its inverse s. Shapes: mu, s (n, c) → (entries,).
    """
    return edge_distance(pattern, mu, s, mu, s)


def influence(pattern: Pattern, d: Tensor, kind: Literal["softmax", "inverse"], bias: float) -> Tensor:
    """r_uv = 1/d_M(u,v) of Eq. 6, or its softmax over the neighbours, (entries,) → (entries,).

    The bias keeps it finite where μ_u = μ_v, as on every self-loop.
    """
    r = 1 / (d + bias)
    return neighbour_softmax(pattern, r) if kind == "softmax" else r


def propagation_weights(
    pattern: Pattern, r: Tensor, alpha: Tensor, how: Literal["product", "normalised", "influence"]
) -> Tensor:
    """The weight r_uv α_uv of Eq. 6 on each entry, as printed or normalised to rows that sum to one, (entries,)."""
    if how == "influence":
        return r
    product = r * alpha
    return product / row_sums(pattern, product)[pattern.rows] if how == "normalised" else product


def row_sums(pattern: Pattern, values: Tensor) -> Tensor:
    """Sum of the values of each row, (entries,) → (rows,); 1 where it is 0, so that it can be divided by."""
    sums = torch.zeros(pattern.shape[0], dtype=values.dtype, device=values.device).index_add(0, pattern.rows, values)
    return torch.where(sums == 0, 1, sums)


class ChannelClassifier(nn.Sequential):
    """An MLP on the embeddings of one channel, with a hidden layer of twice their width.

    Shapes: (nodes, width) → (nodes, classes).
    """

    def __init__(self, width: int, classes: int) -> None:
        super().__init__(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, classes))


def padded_logits(summand: Tensor, b: Tensor) -> Tensor:
    """Eq. 8's own layer on an embedding padded with zeros: W[h; 0] + b or W[0; h'] + b.

    The zeros leave the channel's block of W, whose product with h is its summand of Eq. 8.

    Shapes: summand (nodes, classes), b (classes,) → (nodes, classes).
    """
    return summand + b


def high_confidence(logits1: Tensor, logits2: Tensor) -> Tensor:
    """V_high-conf as a mask; all other nodes are V_low-conf. Shapes: (n, c), (n, c) → (n,) bool."""
    return logits1.argmax(1) == logits2.argmax(1)


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


Reduction = Literal["mean", "sum"]


def l_smooth(d: Tensor, nodes: int, reduction: Reduction) -> Tensor:
    """Eq. 9: the distances of Eq. 5 over the edges.

    Shapes: d (entries,), an entry for each direction of each edge and for each of n self-loops, where it is 0.
    """
    edges = (len(d) - nodes) / 2
    return d.sum() / 2 if reduction == "sum" else d.sum() / 2 / max(edges, 1)


def l_label(mu: Tensor, s: Tensor, labels: Tensor, phi: float, reduction: Reduction) -> Tensor:
    """Eq. 10 over the labelled nodes: (μ - Y)ᵀ (Σ⁻¹ + I/φ) (μ - Y).

    Shapes: mu, s (labelled, c); labels (labelled,).
    """
    y = F.one_hot(labels, mu.shape[1]).to(mu.dtype)
    per_node = ((mu - y).square() * (s + 1 / phi)).sum(1)
    return per_node.sum() if reduction == "sum" else per_node.mean()


def l_cross(logits: Tensor, labels: Tensor, reduction: Reduction) -> Tensor:
    """Eq. 11: cross-entropy of the labelled nodes. Shapes: logits (labelled, c); labels (labelled,)."""
    return F.cross_entropy(logits, labels, reduction=reduction)


def total(cross: Tensor, smooth: Tensor, label: Tensor, lambda1: float, lambda2: float) -> Tensor:
    """Eq. 12: L_cross + λ1 L_smooth + λ2 L_label."""
    return cross + lambda1 * smooth + lambda2 * label
