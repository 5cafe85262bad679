"""Polynomials of a normalised adjacency matrix, as sums of Chebyshev polynomials.

    p(S) h = Σ_k c_k T_k(S) h,   T_k+1(S) h = 2 S T_k(S) h - T_k-1(S) h,   S = D (A + l I) D

The recurrence runs on u_k = D T_k(S) h: then u_k+1 = 2 D² (A + l I) u_k - u_k-1 needs no value of S, so that of an
unweighted graph only the pattern is read. One pass over the edges makes a step and adds it to the sum. Wide blocks of
columns take less time per column than narrow ones. Buffers are reused, since writing to new memory is slow.
"""

from dataclasses import dataclass, field

import numba
import numpy as np
import scipy.sparse as sp

from dccgcn.kernels.row_threads import over_rows
from dccgcn.kernels.sparse import as_int32
from dccgcn.kernels.spread_rows import halo_of

BUFFER_BYTES = 3 << 30  # of each of two buffers: of more nodes, fewer columns at a time
_KEPT_BYTES = 1 << 29  # of a buffer that is kept between calls

_jit = numba.njit(fastmath=True, cache=True, nogil=True)


@dataclass(frozen=True, eq=False)
class ChebyshevFilter:
    """p(S) as a function that replaces h by p(S) h."""

    adjacency: sp.csr_array  # A, (n, n), or a block of its rows
    scale: np.ndarray  # the diagonal of D, (n,) float32, positive
    loops: float  # l: the weight of a node itself
    coefficients: np.ndarray  # c_0 to c_K
    _buffers: list[np.ndarray] = field(default_factory=list, init=False, repr=False)

    def __call__(self, h: np.ndarray) -> np.ndarray:
        """h, (n, width) float32 in C order, overwritten by p(S) h and returned."""
        halo, width = halo_of(self.adjacency), h.shape[1]
        n = halo.largest_block if halo else len(h)
        at_once = max(1, min(width, BUFFER_BYTES // (4 * max(n, 1))))
        at_once = -(-width // -(-width // at_once)) if width else 1  # blocks of equal width
        for offset in range(0, width, at_once):
            self._filter_columns(h, offset, min(at_once, width - offset))
        if self._buffers and self._buffers[0].nbytes > _KEPT_BYTES:
            self._buffers.clear()
        return h

    def _filter_columns(self, h: np.ndarray, offset: int, width: int) -> None:
        n, halo = len(h), halo_of(self.adjacency)
        data = self.adjacency.data
        pattern = *as_int32(self.adjacency), np.empty(0, np.float32) if _all_one(data) else data
        current, previous = self._take_buffers(self.adjacency.shape[1], width)
        over_rows(_start, n, self.scale, np.float32(self.coefficients[0]), h, offset, current, previous)
        for k, coefficient in enumerate(self.coefficients[1:]):
            factor = np.float32(1 if k == 0 else 2)
            if halo:
                current[n:] = halo.fetch(current[:n])
            over_rows(
                _step, n, *pattern, np.float32(self.loops), self.scale, factor, np.float32(coefficient), current,
                previous, h, offset, buffers=lambda: (np.empty(width, np.float32),), cost=len(pattern[1]) * width,
            )  # fmt: skip
            current, previous = previous, current

    def _take_buffers(self, n: int, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Two arrays, (n, width); those of the last call if they are large enough."""
        if not self._buffers or self._buffers[0].size < n * width:
            self._buffers[:] = [np.empty(n * width, np.float32) for _ in range(2)]
        first, second = (buffer[: n * width].reshape(n, width) for buffer in self._buffers)
        return first, second


def _all_one(values: np.ndarray) -> bool:
    return not len(values) or bool(values.min() == values.max() == 1)


@_jit
def _start(first, last, scale, coefficient, h, offset, current, previous):  # type: ignore[no-untyped-def]
    """current = D h, previous = 0, and h times the first coefficient, in columns from ``offset`` on."""
    for i in range(first, last):
        for j in range(current.shape[1]):
            current[i, j] = scale[i] * h[i, offset + j]
            previous[i, j] = 0
            h[i, offset + j] *= coefficient


@_jit
def _step(  # type: ignore[no-untyped-def]
    first, last, indptr, indices, weights, loops, scale, factor, coefficient, current, previous, total, offset, sums
):
    """previous ← factor D² (A + loops I) current - previous, and D⁻¹ of it times the coefficient is added to total.

    weights : (entries,), or empty: all are 1
    current, previous : (n, width)
    total : (n, width or more), columns from ``offset`` on
    sums : (width,), a buffer
    """
    width, weighted = current.shape[1], len(weights) > 0
    for i in range(first, last):
        for j in range(width):
            sums[j] = loops * current[i, j]
        begin, end = indptr[i], indptr[i + 1]
        fours = begin + (end - begin) % 4
        for e in range(begin, fours):
            a = indices[e]
            va = weights[e] if weighted else np.float32(1)
            for j in range(width):
                sums[j] += va * current[a, j]
        if weighted:
            for e in range(fours, end, 4):
                a, b, c, d = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
                va, vb, vc, vd = weights[e], weights[e + 1], weights[e + 2], weights[e + 3]
                for j in range(width):
                    sums[j] += va * current[a, j] + vb * current[b, j] + vc * current[c, j] + vd * current[d, j]
        else:
            for e in range(fours, end, 4):
                a, b, c, d = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
                for j in range(width):
                    sums[j] += (current[a, j] + current[b, j]) + (current[c, j] + current[d, j])
        squared, share = factor * scale[i] * scale[i], coefficient / scale[i]
        for j in range(width):
            new = squared * sums[j] - previous[i, j]
            previous[i, j] = new
            total[i, offset + j] += share * new
