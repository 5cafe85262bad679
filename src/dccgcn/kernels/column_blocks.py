"""S @ dense by blocks of columns, for a dense that does not fit into a core's cache and whose rows are read often.

Rows of S with hundreds of entries (the words of a text) read hundreds of rows of dense each. One block of its columns
fits into the cache, so every row is fetched from memory once instead of once per entry.
"""

import numba
import numpy as np

from dccgcn.kernels.row_threads import over_rows

_COLUMNS = 128  # columns per block
_ROWS = 64  # rows computed together with one block
_CACHE = 2 << 20  # bytes: a smaller dense needs no blocks
_REUSE = 64  # entries per row of dense: with fewer, copying into blocks costs more than it saves

_jit = numba.njit(fastmath=True, cache=True, nogil=True)


def worthwhile(entries: int, dense: np.ndarray) -> bool:
    """Whether blocks are faster than whole rows."""
    return dense.shape[1] > _COLUMNS and dense.nbytes > _CACHE and entries >= _REUSE * len(dense)


def spmm(
    indptr: np.ndarray, indices: np.ndarray, order: np.ndarray, values: np.ndarray, dense: np.ndarray, out: np.ndarray
) -> None:
    """out = S @ dense, with the parameters of ``csr_kernels.spmm``."""
    cols, vals, ends = np.empty_like(indices), np.empty(len(indices), values.dtype), np.empty_like(indptr[1:])
    over_rows(_gather_nonzeros, len(ends), indptr, indices, order, values, cols, vals, ends)
    blocks = np.empty((-(-dense.shape[1] // _COLUMNS), len(dense), _COLUMNS), dense.dtype)
    over_rows(_split_columns, len(dense), dense, blocks)
    tasks = len(blocks) * -(-len(out) // _ROWS)
    over_rows(_multiply, tasks, indptr, ends, cols, vals, blocks, out, buffers=lambda: (np.empty(_COLUMNS, out.dtype),))


@_jit
def _gather_nonzeros(first, last, indptr, indices, order, values, cols, vals, ends):  # type: ignore[no-untyped-def]
    """Move the non-zero entries of row i to the positions indptr[i] to ends[i] of cols and vals."""
    ordered = len(order) > 0
    for i in range(first, last):
        end = indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            v = values[order[e]] if ordered else values[e]
            cols[end], vals[end] = indices[e], v
            end += v != 0
        ends[i] = end


@_jit
def _split_columns(first, last, dense, blocks):  # type: ignore[no-untyped-def]
    """dense (rows, width) → blocks (blocks, rows, _COLUMNS), the last block padded with zeros."""
    width = dense.shape[1]
    for u in range(first, last):
        for b in range(len(blocks)):
            start = b * _COLUMNS
            for j in range(_COLUMNS):
                blocks[b, u, j] = dense[u, start + j] if start + j < width else 0


@_jit
def _multiply(first, last, indptr, ends, cols, vals, blocks, out, total):  # type: ignore[no-untyped-def]
    """The product, block after block: task t is _ROWS rows of one block.

    Inner loops have a constant length, so the compiler needs no remainder loop. ``total`` (_COLUMNS,) is a buffer.
    """
    n, width = out.shape
    tasks = (n + _ROWS - 1) // _ROWS
    for t in range(first, last):
        block, start = blocks[t // tasks], t // tasks * _COLUMNS
        task = t % tasks
        for i in range(task * _ROWS, min(n, (task + 1) * _ROWS)):
            for j in range(_COLUMNS):
                total[j] = 0
            fours = indptr[i] + (ends[i] - indptr[i]) % 4
            for e in range(indptr[i], fours):
                a, va = cols[e], vals[e]
                for j in range(_COLUMNS):
                    total[j] += va * block[a, j]
            for e in range(fours, ends[i], 4):
                a, b, c, d = cols[e], cols[e + 1], cols[e + 2], cols[e + 3]
                va, vb, vc, vd = vals[e], vals[e + 1], vals[e + 2], vals[e + 3]
                for j in range(_COLUMNS):
                    total[j] += va * block[a, j] + vb * block[b, j] + vc * block[c, j] + vd * block[d, j]
            for j in range(min(_COLUMNS, width - start)):
                out[i, start + j] = total[j]
