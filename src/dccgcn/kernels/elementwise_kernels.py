"""Numba kernels on single elements and on short groups of columns of dense arrays."""

import numba

from dccgcn.kernels.random_bits import bits

_jit = numba.njit(parallel=True, fastmath=True, cache=True, nogil=True)


@_jit
def dropout(values, key, threshold, scale, out):  # type: ignore[no-untyped-def]
    """out[e] = values[e] * scale, or 0 where bits(key, e) < threshold; values and out are flat."""
    for e in numba.prange(len(values)):
        out[e] = values[e] * scale if bits(key, e) >= threshold else 0


@_jit
def relu_dropout(values, key, threshold, scale, out):  # type: ignore[no-untyped-def]
    """dropout of max(values, 0), in one pass."""
    for e in numba.prange(len(values)):
        v = values[e]
        out[e] = v * scale if (v > 0 and bits(key, e) >= threshold) else 0


@_jit
def relu_dropout_grad(grad, output, scale, out):  # type: ignore[no-untyped-def]
    """Gradient of relu_dropout. Its output is the mask: an element is positive only if it was and was not dropped."""
    for e in numba.prange(len(grad)):
        out[e] = grad[e] * scale if output[e] > 0 else 0


@_jit
def add_scaled(total, values, factor):  # type: ignore[no-untyped-def]
    """total += factor * values in place, (rows, width), with one rounding where the processor has fused operations."""
    for i in numba.prange(len(total)):
        for j in range(total.shape[1]):
            total[i, j] += factor * values[i, j]


@_jit
def subtract_max(scores, offset, size, out):  # type: ignore[no-untyped-def]
    """out = scores + offset, minus the maximum of each group of ``size`` columns of a row.

    Parameters
    ----------
    scores : (rows, columns or more); further columns are ignored
    offset : (columns,)
    out : (rows, columns)
    """
    for i in numba.prange(len(out)):
        for first in range(0, out.shape[1], size):
            top = scores[i, first] + offset[first]
            for j in range(first, first + size):
                out[i, j] = scores[i, j] + offset[j]
                top = max(top, out[i, j])
            for j in range(first, first + size):
                out[i, j] -= top


@_jit
def normalise_groups(values, size):  # type: ignore[no-untyped-def]
    """Divide each group of ``size`` columns of a row by its sum, in place."""
    for i in numba.prange(len(values)):
        for first in range(0, values.shape[1], size):
            total = values.dtype.type(0)
            for j in range(first, first + size):
                total += values[i, j]
            for j in range(first, first + size):
                values[i, j] /= total
