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
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.features import Operator
from dccgcn.features.svd import (
    OVERSAMPLING,
    Matrix,
    centred_gram,
    combine,
    fix_signs,
    krylov_blocks,
    leading_eigenvectors,
    leading_mix,
    orthonormal,
    row_slices,
    scale_to_unit_rows,
    subtract_mean,
    times,
    transposed_times,
)
from dccgcn.kernels import ChebyshevFilter
from dccgcn.runtime import first_row, row_count, rows_here, unit_sum

N_BLOCKS = 2  # of the Krylov space, which starts from Hᵀ times random numbers
FILTER_TOL = 0.015  # by which p may differ from (C1) on [-1, 1]
SMALL_GRAM = 1024  # columns up to which XᵀX is formed
_SMALL_COMPONENT = 0.05  # share of all nodes: those in a component of that size have weight 1/2

Filter = Callable[[Matrix], Matrix]  # h → p(S) h of (C1), which may overwrite h; p is symmetric


@dataclass(frozen=True, eq=False)
class Embedding:
    """A view Z and the projection that gives it: Z = unit rows of p(S) X V - mean (C1).

    Of standardised columns: Z = (H - mean) scale, without components.
    """

    z: Matrix  # Z (n, r)
    components: Matrix  # V (d, r); empty for standardised columns
    mean: np.ndarray  # mean(H) V, (r,)
    scale: np.ndarray  # σ, (r,)


def spectral_reweight(embedding: Embedding, q: float, out: Matrix | None = None) -> Matrix:
    """(C2): scales the components by σ^q; the larger q, the more the leading ones dominate."""
    out = np.empty_like(embedding.z) if out is None else out
    weights = (embedding.scale**q).astype(np.float32)
    for rows in row_slices(len(out)):
        np.multiply(embedding.z[rows], weights, out=out[rows])
    return scale_to_unit_rows(out)


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


def ssgc_filter(operator: Operator, n_steps: int, alpha: float) -> Filter:
    """p(S) of (C1), the filter of SSGC."""
    return _chebyshev_filter(operator, 1.0, chebyshev_coefficients(n_steps, alpha, hops=1))


def two_hop_filter(operator: Operator, n_steps: int, alpha: float) -> Filter:
    """p(N²): steps of two hops each, without self-loops."""
    return _chebyshev_filter(operator, 0.0, chebyshev_coefficients(n_steps, alpha, hops=2))


def identity_filter(h: Matrix) -> Matrix:
    """p = I: the node's own features."""
    return h


def chebyshev_coefficients(n_steps: int, alpha: float, hops: int) -> np.ndarray:
    """c of α + (1-α)/K Σ_k λ^(k hops) = Σ_k c_k T_k(λ), without the last ones while p changes by at most FILTER_TOL.

    On [-1, 1], where all eigenvalues lie, high powers are nearly polynomials of a lower degree: p of 8 steps is one of
    degree 5, p of 8 steps of two hops one of degree 8 instead of 16.
    """
    powers = np.zeros(n_steps * hops + 1)
    powers[::hops] = (1 - alpha) / n_steps
    powers[0] = alpha
    coefficients = np.polynomial.chebyshev.poly2cheb(powers)
    tail = np.cumsum(np.abs(coefficients)[::-1])[::-1]  # |T_k| ≤ 1: the error without k and all after it
    return np.asarray(coefficients[: max(1, int((tail > FILTER_TOL).sum()))])


def _chebyshev_filter(operator: Operator, loops: float, coefficients: np.ndarray) -> Filter:
    degree = np.asarray(operator.adjacency.sum(axis=1), dtype=np.float64).reshape(-1) + loops
    degree[degree == 0] = 1  # isolated: multiplies an empty row
    return ChebyshevFilter(operator.adjacency, (1 / np.sqrt(degree)).astype(np.float32), loops, coefficients)


def as_it_is(h: Matrix) -> Matrix:
    """Where products are kept: in memory."""
    return h


def fit_svd(apply_filter: Filter, x: Any, n_components: int, keep: Filter = as_it_is) -> Embedding:
    """Z of (C1), with V from a randomised SVD of the centred H; X (n, d) sparse or dense.

    ``keep``: where products with H are kept.
    """
    if apply_filter is identity_filter and x.shape[1] <= SMALL_GRAM:
        components = leading_eigenvectors(centred_gram(x), n_components)
        z = times(x, components)
        return _unit_embedding(z, components, subtract_mean(z))
    shape = row_count(x.shape[0]), x.shape[1]
    return _fit_products(apply_filter, partial(times, x), partial(transposed_times, x), shape, n_components, keep)


def fit_structural(apply_filter: Filter, size: np.ndarray, n_components: int, keep: Filter = as_it_is) -> Embedding:
    """Z of (C1) of the adjacency alone: X = diag(c / (c + n/20)), c the size of a node's connected component, (n,).

    With X = I every small component would take a singular vector of its own, as strong as that of the largest.
    """
    n = row_count(len(size))
    weights = (size / (size + _SMALL_COMPONENT * n)).astype(np.float32)[:, None]
    fitted = _fit_products(apply_filter, lambda m: weights * m, lambda m: weights * m, (n, n), n_components, keep, True)
    # weights go into V, so that a larger graph is projected with X = I
    return replace(fitted, components=weights * fitted.components)


def _fit_products(
    apply_filter: Filter,
    times_x: Callable[[Matrix], Matrix],
    transposed_times_x: Callable[[Matrix], Matrix],
    shape: tuple[int, int],
    n_components: int,
    keep: Filter,
    spread: bool = False,
) -> Embedding:
    """Z of (C1) from products with X and its transpose. The Krylov space starts from Hᵀ times random numbers.

    ``spread``: whether the columns of X are nodes.
    """
    means = []

    def matmul(m: Matrix) -> Matrix:
        h = apply_filter(times_x(m))
        means.append(subtract_mean(h))
        return keep(h)

    def transposed_matmul(m: Matrix) -> Matrix:  # pᵀ = p; overwrites m
        subtract_mean(m)
        return transposed_times_x(apply_filter(m))

    width = min(n_components + OVERSAMPLING, *shape)
    start = orthonormal(transposed_matmul(_random_rows(rows_here(shape[0]), width)), spread)
    blocks, products = krylov_blocks(matmul, transposed_matmul, start, N_BLOCKS, spread)
    mix = leading_mix(blocks, products, n_components, spread)
    components, mix = fix_signs(combine(blocks, mix), mix, spread)
    del blocks
    return _unit_embedding(combine(products, mix), components, np.concatenate(means) @ mix)


def _random_rows(n: int, width: int) -> Matrix:
    """Standard normal numbers, (n, width): rows of this block. Those of the blocks before it are drawn and dropped."""
    rng = np.random.default_rng(0)  # a fixed seed: the embedding belongs to the graph, not to the run
    for rows in row_slices(first_row()):
        rng.standard_normal((rows.stop - rows.start, width), dtype=np.float32)
    return rng.standard_normal((n, width), dtype=np.float32)


def _unit_embedding(h: Matrix, components: Matrix, mean: np.ndarray) -> Embedding:
    """The embedding of the centred H V, which becomes Z in place."""
    scale_to_unit_rows(h)
    squares = unit_sum(len(h), lambda rows: np.einsum("ij,ij->j", h[rows], h[rows], dtype=np.float64))
    scale = np.sqrt(squares / max(1, row_count(len(h))))
    return Embedding(h, components, mean.astype(np.float32), scale.astype(np.float32))


def project(apply_filter: Filter, x: Any, fitted: Embedding) -> Embedding:
    """Z of (C1) with the V and mean of an earlier fit."""
    h = apply_filter(times(x, fitted.components))
    h -= fitted.mean
    scale_to_unit_rows(h)
    return replace(fitted, z=h)


def project_structural(apply_filter: Filter, n: int, fitted: Embedding) -> Embedding:
    """The structural view of a larger graph: new nodes have no column in X and are placed by their neighbours."""
    return project(apply_filter, sp.eye_array(n, len(fitted.components), dtype=np.float32, format="csr"), fitted)
