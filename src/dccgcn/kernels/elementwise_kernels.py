"""Numba kernels on single elements and on short groups of columns of dense arrays.

They write the elements or rows ``first`` to ``last`` and are called through ``row_threads.over_rows``. Loops over
elements count in unsigned numbers: a signed one might be negative, and the check would prevent vectorising.
"""

from typing import Any

import numba
import numpy as np

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


GOLDEN, MIX1, MIX2 = 0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35
MASK = 0xFFFFFFFF


def dropout_key(seed: int, epoch: int, site: int) -> int:
    """One key for each epoch and each dropout in a network."""
    key = 0
    for part in (seed & MASK, (seed >> 32) & MASK, epoch, site):
        key = finalise((key * GOLDEN + part + 1) & MASK)
    return key


def finalise(x: Any) -> Any:
    """The finaliser of MurmurHash3, of a Python int or an int64 tensor below 2^32."""
    x = ((x ^ (x >> 16)) * MIX1) & MASK
    x = ((x ^ (x >> 13)) * MIX2) & MASK
    return x ^ (x >> 16)


def threshold(p: float) -> int:
    """Elements whose bits are below this number are dropped: a share p of them."""
    return min(int(p * 2**32), MASK)


@numba.njit(inline="always")
def bits(key: np.uint32, position: int) -> np.uint32:
    """32 random bits for one position. The casts keep numba from widening to 64 bits, so that loops vectorise."""
    x = np.uint32(np.uint32(position) * np.uint32(GOLDEN)) + key
    x = np.uint32(x)
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(16))) * np.uint32(MIX1))
    x = np.uint32(np.uint32(x ^ np.uint32(x >> np.uint32(13))) * np.uint32(MIX2))
    return np.uint32(x ^ np.uint32(x >> np.uint32(16)))
