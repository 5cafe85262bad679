"""Leading singular vectors of a tall matrix that is given by its products, row block by row block.

Rows may be spread over processes (``runtime.row_blocks``). ``spread`` is False for a matrix that each of them has
whole.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.kernels import spmm
from dccgcn.runtime import row_count, row_max, row_sum, unit_slices, unit_sum

OVERSAMPLING = 8  # columns beyond the rank in the block Krylov method
N_KRYLOV = 3  # blocks of the Krylov space, if it starts from random numbers in the columns' space
_RANK_TOL = 1e-12  # eigenvalues below this share of the largest are rounding errors
_OVERLAP_TOL = 1e-6  # the same for the union of all blocks, most of whose directions are there twice
_MIN_NORM = 10 * float(np.finfo(np.float32).eps)  # rows that are shorter are zero up to rounding
BLOCK_ROWS = 65536  # rows at a time
_MOST_SUMMED = 4096  # rows of a product that is summed unit by unit; more would take longer than the product

Matrix = np.ndarray  # (rows, columns) float32


def row_slices(n: int) -> Iterator[slice]:
    """Slices that together are 0 to n."""
    return (slice(start, min(start + BLOCK_ROWS, n)) for start in range(0, n, BLOCK_ROWS))


def orthonormal(m: Matrix, spread: bool = True) -> Matrix:
    """An orthonormal basis of the columns' span, by the Gram matrix: one pass over the rows."""
    values, vectors = np.linalg.eigh(gram(m, spread=spread))
    floor = max(_RANK_TOL * values[-1], np.finfo(np.float32).tiny)  # a zero matrix stays zero
    return combine([m], (vectors / np.sqrt(np.maximum(values, floor))).astype(np.float32))


def gram(*parts: Matrix, spread: bool = True) -> np.ndarray:
    """MᵀM in double precision, M being the parts side by side, without a copy of M."""

    def of_unit(rows: slice) -> np.ndarray:
        block = np.hstack([part[rows] for part in parts]).astype(np.float64)
        return np.asarray(block.T @ block)

    return unit_sum(len(parts[0]), of_unit, spread)


def combine(parts: Sequence[Matrix], mix: np.ndarray) -> Matrix:
    """M @ mix, M being the parts side by side, without a copy of M."""
    out = np.empty((len(parts[0]), mix.shape[1]), np.float32)
    for rows in unit_slices(len(out)):
        np.matmul(np.hstack([part[rows] for part in parts]), mix, out=out[rows])
    return out


def side_by_side(parts: Sequence[Matrix]) -> Matrix:
    """The parts as one matrix; without a copy if they are all the columns of one."""
    base, shape = parts[0].base, (len(parts[0]), sum(part.shape[1] for part in parts))
    if base is not None and base.shape == shape and all(part.base is base for part in parts):
        return base
    return np.hstack(parts)


def cross(a: Matrix, b: Matrix) -> np.ndarray:
    """aᵀ b of all rows in double precision, from products of single precision: (rows, i), (rows, j) → (i, j)."""
    return unit_sum(len(a), lambda rows: a[rows].T @ b[rows])


def times(x: Any, m: Matrix) -> Matrix:
    """x @ m for a sparse or dense x."""
    return spmm(x, m) if sp.issparse(x) else combine([x], m)


def transposed_times(x: Any, m: Matrix) -> Matrix:
    """xᵀ @ m for a sparse or dense x."""

    def of_rows(rows: slice) -> np.ndarray:
        return np.asarray(x[rows].T @ m[rows].astype(np.float64))

    if x.shape[1] <= _MOST_SUMMED:
        return unit_sum(len(m), of_rows).astype(np.float32)
    return np.asarray(row_sum(sum(map(of_rows, row_slices(len(m))))), np.float32)


def subtract_mean(h: Matrix) -> np.ndarray:
    """Subtract the mean of each column in place, and return it, (columns,)."""
    total = unit_sum(len(h), lambda rows: np.ones(rows.stop - rows.start, h.dtype) @ h[rows])
    mean = (total / max(row_count(len(h)), 1)).astype(np.float32)
    for rows in row_slices(len(h)):
        h[rows] -= mean
    return mean


def scale_to_unit_rows(h: Matrix) -> Matrix:
    """Divide each row by its length, in place; zero rows stay zero."""
    for rows in row_slices(len(h)):
        norm = np.sqrt(np.einsum("ij,ij->i", h[rows], h[rows]))
        norm[norm < _MIN_NORM] = 1
        h[rows] /= norm[:, None]
    return h


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
    product = matmul(np.random.default_rng(0).standard_normal((shape[1], width)).astype(np.float32))
    start = orthonormal(transposed_matmul(orthonormal(product)), spread=False)
    blocks, products = krylov_blocks(matmul, transposed_matmul, start, N_KRYLOV)
    mix = leading_mix(blocks, products, rank)
    return fix_signs(combine(blocks, mix), mix)[0]


def krylov_blocks(
    matmul: Callable[[Matrix], Matrix],
    transposed_matmul: Callable[[Matrix], Matrix],
    start: Matrix,
    n_blocks: int,
    spread: bool = False,
) -> tuple[list[Matrix], list[Matrix]]:
    """Orthonormal blocks Q_i, (columns, width) each, and M Q_i, (rows, width) each; Q_0 is the start.

    ``spread``: whether the columns of M are rows that are spread, too.
    """
    blocks, products = [start], [matmul(start)]
    for _ in range(n_blocks - 1):
        blocks.append(orthonormal(transposed_matmul(orthonormal(products[-1])), spread))
        products.append(matmul(blocks[-1]))
    return blocks, products


def leading_mix(blocks: Sequence[Matrix], products: Sequence[Matrix], rank: int, spread: bool = False) -> np.ndarray:
    """The weights that make the leading right singular vectors from the blocks, (widths, rank)."""
    values, whiten = np.linalg.eigh(gram(*blocks, spread=spread))
    kept = values >= _OVERLAP_TOL * values[-1]
    whiten = whiten[:, kept] / np.sqrt(np.maximum(values[kept], _RANK_TOL))  # columns of blocks @ whiten: orthonormal
    _, vectors = np.linalg.eigh(whiten.T @ gram(*products) @ whiten)  # ascending
    return np.asarray((whiten @ vectors[:, ::-1][:, :rank]).astype(np.float32))


def fix_signs(v: Matrix, mix: np.ndarray, spread: bool = False) -> tuple[Matrix, np.ndarray]:
    """Signs are arbitrary: in each column of v the entry of largest magnitude is made positive, and mix follows."""
    top, bottom = v.max(axis=0, initial=0), -v.min(axis=0, initial=0)
    if spread:
        top, bottom = row_max(np.stack([top, bottom]))
    signs = np.where(bottom > top, np.float32(-1), np.float32(1))
    v *= signs
    return v, mix * signs


def centred_gram(x: Any) -> np.ndarray:
    """(X - 1 mean)ᵀ (X - 1 mean) in double precision, (d, d)."""

    def of_unit(rows: slice) -> np.ndarray:
        block = x[rows].astype(np.float64)
        product = block.T @ block
        sums = np.asarray(block.sum(axis=0)).reshape(1, -1)
        return np.vstack([product.toarray() if sp.issparse(product) else product, sums])

    total = unit_sum(x.shape[0], of_unit)
    return np.asarray(total[:-1] - np.outer(total[-1], total[-1]) / max(row_count(x.shape[0]), 1))


def leading_eigenvectors(symmetric: np.ndarray, rank: int) -> Matrix:
    """(d, rank), by eigenvalue, largest first; zeros where the eigenvalue is a rounding error."""
    values, vectors = np.linalg.eigh(symmetric)
    v = (vectors * (values > _RANK_TOL * max(values[-1], 0))).astype(np.float32)
    v = np.ascontiguousarray(v[:, ::-1][:, :rank])
    return fix_signs(v, v)[0]
