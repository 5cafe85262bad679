"""S @ dense strip by strip, for a dense that does not fit into a processor's cache and is read over and over.

Rows of S that have hundreds of entries (a text's words) fetch hundreds of rows of dense each. Of a strip of its columns
all rows stay in the cache, so that they are fetched from memory once instead of once for every entry.
"""

import numba
import numpy as np

_STRIP = 128  # columns
_BLOCK = 64  # rows that are computed together
_CACHE = 2 << 20  # bytes: a dense below that needs no strips
_REUSE = 64  # entries for each row of dense: with fewer, to cut it up takes longer than is saved

_jit = numba.njit(parallel=True, fastmath=True, cache=True, nogil=True)


def worthwhile(entries: int, dense: np.ndarray) -> bool:
    """Whether strips are faster than whole rows."""
    return dense.shape[1] > _STRIP and dense.nbytes > _CACHE and entries >= _REUSE * len(dense)


def spmm(
    indptr: np.ndarray, indices: np.ndarray, order: np.ndarray, values: np.ndarray, dense: np.ndarray, out: np.ndarray
) -> None:
    """out = S @ dense, where entry e of S is values[e], or values[order[e]] if there is an order."""
    cols, vals, ends = np.empty_like(indices), np.empty(len(indices), values.dtype), np.empty_like(indptr[1:])
    _gather(indptr, indices, order, values, cols, vals, ends)
    _product(indptr, ends, cols, vals, _cut(dense), out)


@_jit
def _gather(indptr, indices, order, values, cols, vals, ends):  # type: ignore[no-untyped-def]
    """The entries of each row that are not zero, from where the row begins up to its end."""
    ordered = len(order) > 0
    for i in numba.prange(len(ends)):
        kept = indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            v = values[order[e]] if ordered else values[e]
            cols[kept], vals[kept] = indices[e], v
            kept += v != 0
        ends[i] = kept


@_jit
def _cut(dense):  # type: ignore[no-untyped-def]
    """Dense in strips, (strips, rows, _STRIP), the last one filled up with zeros."""
    rows, width = dense.shape
    strips = np.empty(((width + _STRIP - 1) // _STRIP, rows, _STRIP), dense.dtype)
    for u in numba.prange(rows):
        for s in range(len(strips)):
            first = s * _STRIP
            for j in range(_STRIP):
                strips[s, u, j] = dense[u, first + j] if first + j < width else 0
    return strips


@_jit
def _product(indptr, ends, cols, vals, strips, out):  # type: ignore[no-untyped-def]
    """As many columns at a time as a strip has, a number that the compiler knows: there is no loop for what is over."""
    n, width = out.shape
    blocks = (n + _BLOCK - 1) // _BLOCK
    for part in numba.prange(len(strips) * blocks):  # strip after strip
        s, block = part // blocks, part % blocks
        strip, first = strips[s], s * _STRIP
        total = np.empty(_STRIP, out.dtype)
        for i in range(block * _BLOCK, min(n, (block + 1) * _BLOCK)):
            for j in range(_STRIP):
                total[j] = 0
            odd = indptr[i] + (ends[i] - indptr[i]) % 4
            for e in range(indptr[i], odd):
                a, va = cols[e], vals[e]
                for j in range(_STRIP):
                    total[j] += va * strip[a, j]
            for e in range(odd, ends[i], 4):
                a, b, c, d = cols[e], cols[e + 1], cols[e + 2], cols[e + 3]
                va, vb, vc, vd = vals[e], vals[e + 1], vals[e + 2], vals[e + 3]
                for j in range(_STRIP):
                    total[j] += va * strip[a, j] + vb * strip[b, j] + vc * strip[c, j] + vd * strip[d, j]
            for j in range(min(_STRIP, width - first)):
                out[i, first + j] = total[j]
