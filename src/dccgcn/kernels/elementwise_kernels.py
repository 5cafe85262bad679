"""Numba kernels on single elements and on short groups of columns of dense arrays.

They write the elements or rows ``first`` to ``last`` and are called through ``row_threads.over_rows``. Loops over
elements count in unsigned numbers: a signed one might be negative, and the check would prevent vectorising.
"""

import numba
import numpy as np

from dccgcn.kernels.random_bits import bits

_jit = numba.njit(fastmath=True, cache=True, nogil=True)


@_jit
def dropout(first, last, values, key, threshold, scale, out):  # type: ignore[no-untyped-def]
    """out[e] = values[e] * scale, or 0 where bits(key, e) < threshold; values and out are flat."""
    for e in range(np.uint64(first), np.uint64(last)):
        out[e] = values[e] * scale if bits(key, e) >= threshold else 0


@_jit
def relu_dropout(first, last, values, key, threshold, scale, out):  # type: ignore[no-untyped-def]
    """dropout of max(values, 0), in one pass."""
    for e in range(np.uint64(first), np.uint64(last)):
        v = values[e]
        out[e] = v * scale if (v > 0 and bits(key, e) >= threshold) else 0


@_jit
def relu_dropout_grad(first, last, grad, output, scale, out):  # type: ignore[no-untyped-def]
    """Gradient of relu_dropout. Its output is the mask: an element is positive only if it was and was not dropped."""
    for e in range(np.uint64(first), np.uint64(last)):
        out[e] = grad[e] * scale if output[e] > 0 else 0


@_jit
def subtract_max(first, last, scores, offset, size, out):  # type: ignore[no-untyped-def]
    """out = scores + offset, minus the maximum of each group of ``size`` columns of a row.

    Parameters
    ----------
    scores : (rows, columns or more); further columns are ignored
    offset : (columns,)
    out : (rows, columns)
    """
    for i in range(first, last):
        for group in range(0, out.shape[1], size):
            top = scores[i, group] + offset[group]
            for j in range(group, group + size):
                out[i, j] = scores[i, j] + offset[j]
                top = max(top, out[i, j])
            for j in range(group, group + size):
                out[i, j] -= top


@_jit
def normalise_groups(first, last, values, size):  # type: ignore[no-untyped-def]
    """Divide each group of ``size`` columns of a row by its sum, in place."""
    for i in range(first, last):
        for group in range(0, values.shape[1], size):
            total = values.dtype.type(0)
            for j in range(group, group + size):
                total += values[i, j]
            for j in range(group, group + size):
                values[i, j] /= total
