"""Products, smoothing and row-wise softmax on NumPy arrays, without gradients, on all threads."""

import numpy as np
import scipy.sparse as sp

from dccgcn.kernels import column_blocks, csr_kernels, elementwise_kernels
from dccgcn.kernels.row_threads import over_rows
from dccgcn.kernels.spread_rows import with_halo

DENSE_ABOVE = 0.25  # share of non-zeros above which a dense product is faster (see docs/performance.md)
_NO_ORDER = np.empty(0, np.int32)


def spmm(matrix: sp.csr_array, dense: np.ndarray) -> np.ndarray:
    """matrix @ dense: (rows, columns) times (columns, width) → (rows, width)."""
    out = np.empty((matrix.shape[0], dense.shape[1]), dense.dtype)
    multiply(*as_int32(matrix), _NO_ORDER, matrix.data, np.ascontiguousarray(with_halo(matrix, dense)), out)
    return out


def multiply(
    indptr: np.ndarray, indices: np.ndarray, order: np.ndarray, values: np.ndarray, dense: np.ndarray, out: np.ndarray
) -> None:
    """``csr_kernels.spmm``, or its variant by column blocks where ``dense`` is large and read often."""
    if column_blocks.worthwhile(len(indices), dense):
        column_blocks.spmm(indptr, indices, order, values, dense, out)
    else:
        multiply_rows(indptr, indices, order, values, dense, out)


def multiply_rows(
    indptr: np.ndarray, indices: np.ndarray, order: np.ndarray, values: np.ndarray, dense: np.ndarray, out: np.ndarray
) -> None:
    """``csr_kernels.spmm`` on all rows."""
    longest = int(np.diff(indptr).max(initial=0)) + 1

    def row() -> tuple[np.ndarray, np.ndarray]:
        return np.empty(longest, indices.dtype), np.empty(longest, values.dtype)

    over_rows(csr_kernels.spmm, len(out), indptr, indices, order, values, dense, out, buffers=row)


def ppr_smooth(
    matrix: sp.csr_array, start: np.ndarray, teleport: float, steps: int, overwrite: bool = False
) -> np.ndarray:
    """P ← (1-a) S P + a P0 for a number of steps: personalised PageRank by power iteration, a = teleport.

    Shapes: matrix (n, n), start (n, width) → (n, width). Meant for a narrow ``start``, such as class probabilities.
    ``overwrite``: start may be.
    """
    p = np.ascontiguousarray(start)
    pattern = as_int32(matrix)
    restart, values = p * p.dtype.type(teleport), matrix.data * matrix.data.dtype.type(1 - teleport)
    buffers = [np.empty_like(p), p if overwrite else np.empty_like(p)]  # written in turn: new memory is slow
    for step in range(steps):
        smoothed = buffers[step % 2]
        over_rows(csr_kernels.add_product, len(p), *pattern, values, with_halo(matrix, p), restart, smoothed)
        p = smoothed
    return p


def sparse_times(matrix: sp.csr_array, dense: np.ndarray) -> np.ndarray:
    """matrix @ dense for a narrow dense; both float32, (rows, columns) times (columns, width)."""
    zeros = np.zeros((matrix.shape[0], dense.shape[1]), dense.dtype)
    out = np.empty_like(zeros)
    over_rows(csr_kernels.add_product, len(out), *as_int32(matrix), matrix.data, with_halo(matrix, dense), zeros, out)
    return out


def softmax_rows(scores: np.ndarray, offset: np.ndarray, size: int) -> np.ndarray:
    """softmax(scores + offset) of each group of ``size`` columns of a row.

    Shapes: scores (n, len(offset) or more) → (n, len(offset)). On rows this short NumPy's reductions are several times
    slower than a kernel; its exponential is faster.
    """
    out = np.empty((len(scores), len(offset)), scores.dtype)
    over_rows(elementwise_kernels.subtract_max, len(out), scores, offset, size, out)
    np.exp(out, out=out)
    over_rows(elementwise_kernels.normalise_groups, len(out), out, size)
    return out


def as_int32(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """indptr and indices as int32: for int64 every kernel would be compiled again."""
    return matrix.indptr.astype(np.int32, copy=False), matrix.indices.astype(np.int32, copy=False)
