"""Embeddings of the nodes: features filtered on a graph, reduced by a truncated SVD.

    H = p(S) X,   p(S) = α I + (1-α)/K Σ_{k=1..K} S^k
    Z = rows of (H - 1 mean(H)) V, normalised to unit length                              (C1)
    Z ← rows of Z diag(σ)^q, normalised to unit length,   σ_j² = mean_i Z_ij²             (C2)

S is the normalised adjacency with self-loops, X (n, d) the features, V (d, r) the leading right singular vectors of
the centred H. Other views use another p: the identity, or a polynomial of N², N = D^-1/2 A D^-1/2.
H is dense and never formed: the SVD needs only products with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.kernels import add_scaled, sparse_times, spmm
from dccgcn.operators import Operator, normalise_rows

OVERSAMPLING = 8  # columns beyond the rank in the block Krylov method
N_KRYLOV = 3  # blocks of the Krylov space
_RANK_TOL = 1e-12  # eigenvalues below this share of the largest are rounding errors
_OVERLAP_TOL = 1e-6  # the same for the union of all blocks, most of whose directions are there twice
_SMALL_COMPONENT = 0.05  # share of all nodes: those in a component of that size have weight 1/2
BLOCK_ROWS = 65536  # rows converted to double precision at a time

Matrix = np.ndarray  # (rows, columns) float32
Filter = Callable[[Matrix], Matrix]  # h → p(S) h of (C1); p is symmetric


@dataclass(frozen=True, eq=False)
class Embedding:
    """A view Z and the projection that gives it: Z = unit rows of p(S) X V - mean (C1).

    Of standardised columns: Z = (H - mean) scale, without components.
    """

    z: Matrix  # Z (n, r)
    components: Matrix  # V (d, r); empty for standardised columns
    mean: np.ndarray  # mean(H) V, (r,)
    scale: np.ndarray  # σ, (r,)


def spectral_reweight(embedding: Embedding, q: float) -> Matrix:
    """(C2): scales the components by σ^q; the larger q, the more the leading ones dominate."""
    return np.asarray(normalise_rows(embedding.z * (embedding.scale**q).astype(np.float32), "unit"))


def scarcity(labels_per_class: float, scale: float) -> float:
    """q: 1 without labels, 1/2 at ``scale`` labels per class, towards 0 with many."""
    return 1 / (1 + labels_per_class / scale)


def idf(features: Any) -> np.ndarray | None:
    """log((1+n)/(1+df)) + 1 of each column, (d,); None if the features are not counts."""
    data = features.data if sp.issparse(features) else np.asarray(features).ravel()
    if len(data) == 0 or data.min() < 0 or not np.array_equal(data, np.rint(data)):
        return None
    document_frequency = np.asarray((features != 0).sum(axis=0)).reshape(-1)
    return (np.log((1 + features.shape[0]) / (1 + document_frequency)) + 1).astype(np.float32)


def ssgc_filter(h: Matrix, operator: Operator, n_steps: int, alpha: float) -> Matrix:
    """p(S) h of (C1), the filter of SSGC."""
    current = np.ascontiguousarray(h, dtype=np.float32)
    total = np.float32(alpha) * current
    for _ in range(n_steps):
        current = spmm(operator.matrix, current)
        add_scaled(total, current, (1 - alpha) / n_steps)
    return total


def identity_filter(h: Matrix) -> Matrix:
    """p = I: the node's own features."""
    return h


def two_hop_filter(h: Matrix, operator: Operator, n_steps: int, alpha: float) -> Matrix:
    """p(N²) h: steps of two hops each."""
    scale = _inverse_sqrt_degree(operator)
    current, total = h, np.float32(alpha) * h
    for _ in range(n_steps):
        current = scale**2 * sparse_times(operator.adjacency, scale * current)
        current = scale * sparse_times(operator.adjacency, current)
        total += np.float32((1 - alpha) / n_steps) * current
    return total


def _inverse_sqrt_degree(operator: Operator) -> Matrix:
    """Weighted degree^-1/2 of each node, 0 for isolated ones, (n, 1)."""
    degree = np.asarray(operator.adjacency.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    return np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0).astype(np.float32)


def fit_svd(apply_filter: Filter, x: Any, n_components: int) -> Embedding:
    """Z of (C1), with V from a randomised SVD of the centred H."""

    def matmul(m: Matrix) -> Matrix:
        h = apply_filter(x @ m)
        return h - h.mean(axis=0)

    def transposed_matmul(m: Matrix) -> Matrix:  # pᵀ = p
        return x.T @ apply_filter(m - m.mean(axis=0))

    components = block_krylov_svd(matmul, transposed_matmul, x.shape, n_components)
    h = apply_filter(x @ components)
    mean = h.mean(axis=0)
    z = np.asarray(normalise_rows(h - mean, "unit"), dtype=np.float32)
    return Embedding(z, components, mean, np.sqrt((z**2).mean(axis=0)))


def fit_structural(apply_filter: Filter, component: np.ndarray, n_components: int) -> Embedding:
    """Z of (C1) of the adjacency alone: X = diag(c / (c + n/20)), c the size of a node's connected component.

    With X = I every small component would take a singular vector of its own, as strong as that of the largest.
    """
    size = np.bincount(component)[component]
    weights = (size / (size + _SMALL_COMPONENT * len(size))).astype(np.float32)
    fitted = fit_svd(apply_filter, sp.csr_array(sp.diags_array(weights)), n_components)
    # weights go into V, so that a larger graph is projected with X = I
    return replace(fitted, components=weights[:, None] * fitted.components)


def project(apply_filter: Filter, x: Any, fitted: Embedding) -> Embedding:
    """Z of (C1) with the V and mean of an earlier fit."""
    h = apply_filter(x @ fitted.components)
    return replace(fitted, z=np.asarray(normalise_rows(h - fitted.mean, "unit"), dtype=np.float32))


def project_structural(apply_filter: Filter, n: int, fitted: Embedding) -> Embedding:
    """The same for ``fit_structural``: new nodes have no column in X and are placed by their neighbours."""
    return project(apply_filter, sp.eye_array(n, len(fitted.components), dtype=np.float32, format="csr"), fitted)


def orthonormal(m: Matrix) -> Matrix:
    """An orthonormal basis of the columns' span, by the Gram matrix: one pass over the rows."""
    values, vectors = np.linalg.eigh(gram(m))
    floor = max(_RANK_TOL * values[-1], np.finfo(np.float32).tiny)  # a zero matrix stays zero
    return m @ (vectors / np.sqrt(np.maximum(values, floor))).astype(np.float32)


def gram(*parts: Matrix) -> np.ndarray:
    """MᵀM in double precision, M being the parts side by side, without a copy of M."""
    width = sum(part.shape[1] for part in parts)
    total = np.zeros((width, width))
    for start in range(0, len(parts[0]), BLOCK_ROWS):
        rows = np.hstack([part[start : start + BLOCK_ROWS] for part in parts]).astype(np.float64)
        total += rows.T @ rows
    return total


def block_krylov_svd(
    matmul: Callable[[Matrix], Matrix],
    transposed_matmul: Callable[[Matrix], Matrix],
    shape: tuple[int, int],
    rank: int,
) -> Matrix:
    """The leading right singular vectors of a matrix M given by its products, (columns, rank).

    Block Krylov iteration (Musco & Musco 2015): the vectors are sought in the span of all iterates of MᵀM, which needs
    half the products of a power iteration.
    """
    width = min(rank + OVERSAMPLING, *shape)
    # a fixed seed: the embedding belongs to the graph, not to the run
    product = matmul(np.random.default_rng(0).standard_normal((shape[1], width)).astype(np.float32))
    blocks, products = [], []
    for _ in range(N_KRYLOV):
        block = orthonormal(transposed_matmul(orthonormal(product)))
        product = matmul(block)
        blocks.append(block)
        products.append(product)
    krylov = np.hstack(blocks)
    values, whiten = np.linalg.eigh(gram(krylov))
    kept = values >= _OVERLAP_TOL * values[-1]
    whiten = whiten[:, kept] / np.sqrt(np.maximum(values[kept], _RANK_TOL))  # columns of krylov @ whiten: orthonormal
    _, vectors = np.linalg.eigh(whiten.T @ gram(*products) @ whiten)  # ascending
    v = krylov @ (whiten @ vectors[:, ::-1][:, :rank]).astype(np.float32)
    # signs are arbitrary: the entry of largest magnitude is made positive
    largest = v[np.abs(v).argmax(axis=0), np.arange(v.shape[1])]
    return np.ascontiguousarray(v * np.where(largest < 0, -1, 1), dtype=np.float32)
