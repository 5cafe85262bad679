"""What a channel knows of a node: its features after they travelled along the channel's graph, in few directions.

    H = p(S) X,   p(S) = α I + (1-α)/K Σ_{k=1..K} S^k                                   (C1)
    Z = rows of (H - 1 mean(H)) V, scaled to unit length                                  (C2)
    Z ← rows of Z diag(σ)^q, scaled to unit length,   σ_j² = mean_i Z_ij²                 (C3)

Other representations have another p. With p = I it is what a node has of its own, with p = N, the normalised adjacency
without self-loops, what its neighbours have. And where X are no features but the nodes themselves, X = diag(c/(c +
n/20)) with c the size of a node's component, what is left of H is who is joined to whom; there p walks two edges of N
at a time, so that nodes are alike that are joined to the same ones, whether or not to one another.

V are the leading right singular vectors of the centred H. H is never formed: it is dense and as wide as the features,
while the singular vectors only need products with it. V, the offset mean(H) V and σ are kept, for nodes that come
later.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from dccgcn.kernels import add_scaled, sparse_times, spmm
from dccgcn.operators import Operator

OVERSAMPLING = 8  # further directions in the search for the leading ones
_EPSILON = 1e-12  # of the largest eigenvalue: directions below are rounding errors
_OVERLAP = 1e-6  # the same where directions are those of several steps, and most of them are there twice
SEARCHES = 3  # of the search
_SMALL = 0.05  # of all nodes: those of a component of that size count half
ROWS = 65536  # that are in double precision at a time

Matrix = np.ndarray  # (rows, columns) float32
Filter = Callable[[Matrix], Matrix]  # p of (C1), a symmetric matrix that is known by its products


@dataclass(frozen=True, eq=False)
class Representation:
    """Z of one channel, and what makes it from features: Z = unit(p(S) X V - offset)."""

    z: Matrix  # (n, r)
    basis: Matrix  # V (d, r)
    offset: np.ndarray  # mean(H) V, (r,)
    spread: np.ndarray  # σ, (r,)

    def favouring(self, q: float) -> Matrix:
        """(C3): the leading directions count more, the more the larger q is."""
        return np.asarray(normalize(self.z * (self.spread**q).astype(np.float32), copy=False))


def scarcity(per_class: float, enough: float) -> float:
    """1 with hardly any labels, one half with ``enough`` of them per class, towards 0 with many."""
    return 1 / (1 + per_class / enough)


def shortened(steps: int, own: float, q: float, shorten: float) -> tuple[int, float]:
    """K and α of (C1) for features that are seen from near: the less scarce labels are, the shorter they travel."""
    k, alpha = steps * (1 - shorten * (1 - q**2)), own + (1 - own) * shorten * (1 - q) ** 2
    return math.ceil(k), round(alpha, 2)  # so that one label more is not another representation


def rarity(features: Any) -> np.ndarray | None:
    """log((1+n)/(1+df)) + 1 of each feature where features are counts; measurements have no such weight."""
    data = features.data if sp.issparse(features) else np.asarray(features).ravel()
    if len(data) == 0 or data.min() < 0 or not np.array_equal(data, np.rint(data)):
        return None
    frequency = np.asarray((features != 0).sum(axis=0)).reshape(-1)
    return (np.log((1 + features.shape[0]) / (1 + frequency)) + 1).astype(np.float32)


def travelled(h: Matrix, view: Operator, steps: int, own: float) -> Matrix:
    """p(S) h of (C1)."""
    current = np.ascontiguousarray(h, dtype=np.float32)
    total = np.float32(own) * current
    for _ in range(steps):
        current = spmm(view.matrix, current)
        add_scaled(total, current, (1 - own) / steps)
    return total


def itself(h: Matrix) -> Matrix:
    """What a node has of its own."""
    return h


def of_neighbours(h: Matrix, view: Operator) -> Matrix:
    """N h, N = D^-1/2 A D^-1/2: what a node's neighbours have, and nothing of its own."""
    weight = _by_degree(view)
    return weight * sparse_times(view.adjacency, weight * h)


def in_pairs(h: Matrix, view: Operator, steps: int, own: float) -> Matrix:
    """p(N²) h, half as many steps of two edges each."""
    weight, pairs = _by_degree(view), max(1, steps // 2)
    current, total = h, np.float32(own) * h
    for _ in range(pairs):
        current = weight**2 * sparse_times(view.adjacency, weight * current)
        current = weight * sparse_times(view.adjacency, current)
        total += np.float32((1 - own) / pairs) * current
    return total


def _by_degree(view: Operator) -> Matrix:
    """1/√degree of each node, edges counting by their weight, 0 without any, (n, 1)."""
    degree = np.asarray(view.adjacency.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    return np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0).astype(np.float32)


def represent(along: Filter, x: Any, rank: int) -> Representation:
    """Z of (C2), its directions found by a randomised search."""

    def times(m: Matrix) -> Matrix:
        h = along(x @ m)
        return h - h.mean(axis=0)

    def transposed_times(m: Matrix) -> Matrix:  # pᵀ = p
        return x.T @ along(m - m.mean(axis=0))

    basis = leading_directions(times, transposed_times, x.shape, rank)
    h = along(x @ basis)
    offset = h.mean(axis=0)
    z = np.asarray(normalize(h - offset), dtype=np.float32)
    return Representation(z, basis, offset, np.sqrt((z**2).mean(axis=0)))


def represent_ties(along: Filter, component: np.ndarray, rank: int) -> Representation:
    """Z of (C2) where a node's only feature is which node it is: its place among those that it is joined to.

    Every small component would have a direction of its own, as strong as that of the largest, so its nodes count less.
    """
    size = np.bincount(component)[component]
    weights = (size / (size + _SMALL * len(size))).astype(np.float32)
    found = represent(along, sp.csr_array(sp.diags_array(weights)), rank)
    return replace(found, basis=weights[:, None] * found.basis)  # of nodes that count alike: the graph may have grown


def project(along: Filter, x: Any, known: Representation) -> Representation:
    """Z of (C2) in directions that were found for other nodes."""
    h = along(x @ known.basis)
    return replace(known, z=np.asarray(normalize(h - known.offset), dtype=np.float32))


def project_ties(along: Filter, n: int, known: Representation) -> Representation:
    """The same for a graph that has grown: nodes that were not there are known by those that they are joined to."""
    return project(along, sp.eye_array(n, len(known.basis), dtype=np.float32, format="csr"), known)


def orthonormal(m: Matrix) -> Matrix:
    """A basis of the columns' span, from their products: one pass over the rows, where there are millions of them."""
    values, turn = np.linalg.eigh(gram(m))
    least = max(_EPSILON * values[-1], np.finfo(np.float32).tiny)  # where all nodes are alike there is no direction
    return m @ (turn / np.sqrt(np.maximum(values, least))).astype(np.float32)


def gram(*parts: Matrix) -> np.ndarray:
    """mᵀ m in double precision, where m are the parts side by side, without a copy of m."""
    width = sum(part.shape[1] for part in parts)
    total = np.zeros((width, width))
    for start in range(0, len(parts[0]), ROWS):
        rows = np.hstack([part[start : start + ROWS] for part in parts]).astype(np.float64)
        total += rows.T @ rows
    return total


def leading_directions(
    times: Callable[[Matrix], Matrix],
    transposed_times: Callable[[Matrix], Matrix],
    shape: tuple[int, int],
    rank: int,
) -> Matrix:
    """The leading right singular vectors of a matrix A that is known by its products, (columns, rank).

    Each step brings a basis of the last one's image under AᵀA. The answer is sought in the span of all of them, which
    takes half the products that the last one alone would need (Musco & Musco 2015).
    """
    width = min(rank + OVERSAMPLING, *shape)
    # the same directions for every run: they belong to the graph, not to the seed
    product = times(np.random.default_rng(0).standard_normal((shape[1], width)).astype(np.float32))
    bases, products = [], []
    for _ in range(SEARCHES):
        basis = orthonormal(transposed_times(orthonormal(product)))
        product = times(basis)
        bases.append(basis)
        products.append(product)
    q = np.hstack(bases)
    values, whiten = np.linalg.eigh(gram(q))
    distinct = values >= _OVERLAP * values[-1]
    whiten = whiten[:, distinct] / np.sqrt(np.maximum(values[distinct], _EPSILON))  # columns of q whiten: orthonormal
    _, turn = np.linalg.eigh(whiten.T @ gram(*products) @ whiten)  # ascending
    directions = q @ (whiten @ turn[:, ::-1][:, :rank]).astype(np.float32)
    # a direction's sign is arbitrary: its largest entry is made positive, so that every machine finds the same one
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return np.ascontiguousarray(directions * np.where(largest < 0, -1, 1), dtype=np.float32)
