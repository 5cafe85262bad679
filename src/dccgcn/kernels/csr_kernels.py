"""Numba kernels on the entries of a CSR matrix, called through ``row_threads.over_rows``.

Every kernel writes each output row from one thread, in a fixed order of summation, so results are the same for every
run and thread count. ``fastmath`` lets LLVM vectorise the inner sums.

Common parameters: ``first`` and ``last`` are the range of rows to write. ``indptr`` (rows + 1,) and ``indices``
(entries,) are a CSR pattern, int32; entry e belongs to the row i with indptr[i] <= e < indptr[i + 1] and to the column
indices[e]. ``out`` is written, whatever it held before.
"""

import math

import numba
import numpy as np

_jit = numba.njit(fastmath=True, cache=True, nogil=True)
_jit_with_inf = numba.njit(cache=True, nogil=True)  # fastmath would assume that -inf does not occur


@_jit
def spmm(first, last, indptr, indices, order, values, dense, out, cols, vals):  # type: ignore[no-untyped-def]
    """out = S @ dense.

    Non-zero entries of a row are gathered first, without a branch: after dropout a branch on zero is unpredictable, and
    mispredictions cost more than the product. They are then added four at a time, so that a row of ``out`` is read and
    written once for four rows of ``dense``.

    order : (entries,) int32, or empty
        Entry e has the value values[order[e]]; if empty, values[e]. A transpose passes its permutation here.
    values : (entries,)
    dense : (columns, width)
    out : (rows, width)
    cols, vals : buffers for the entries of a row, one longer than the longest row
        A zero at the end of a row is written, but not counted.
    """
    width = dense.shape[1]
    ordered = len(order) > 0
    for i in range(first, last):
        count = 0
        for e in range(indptr[i], indptr[i + 1]):
            v = values[order[e]] if ordered else values[e]
            cols[count], vals[count] = indices[e], v
            count += v != 0
        for j in range(width):
            out[i, j] = 0
        fours = count // 4 * 4
        for e in range(0, fours, 4):
            a, b, c, d = cols[e], cols[e + 1], cols[e + 2], cols[e + 3]
            va, vb, vc, vd = vals[e], vals[e + 1], vals[e + 2], vals[e + 3]
            for j in range(width):
                out[i, j] += va * dense[a, j] + vb * dense[b, j] + vc * dense[c, j] + vd * dense[d, j]
        for e in range(fours, count):
            a, va = cols[e], vals[e]
            for j in range(width):
                out[i, j] += va * dense[a, j]


@_jit
def add_product(first, last, indptr, indices, values, dense, start, out):  # type: ignore[no-untyped-def]
    """out = start + S @ dense, for a narrow ``dense``, where gathering entries first would cost more than the product.

    The remainder of a row after groups of four is added first, together with ``start``, which saves a read of ``out``.

    values : (entries,)
    dense : (columns, width)
    start, out : (rows, width)
    """
    width = dense.shape[1]
    for i in range(first, last):
        begin, end = indptr[i], indptr[i + 1]
        remainder = (end - begin) % 4
        if remainder == 0:
            for j in range(width):
                out[i, j] = start[i, j]
        elif remainder == 1:
            a, va = indices[begin], values[begin]
            for j in range(width):
                out[i, j] = start[i, j] + va * dense[a, j]
        elif remainder == 2:
            a, b, va, vb = indices[begin], indices[begin + 1], values[begin], values[begin + 1]
            for j in range(width):
                out[i, j] = start[i, j] + va * dense[a, j] + vb * dense[b, j]
        else:
            a, b, c = indices[begin], indices[begin + 1], indices[begin + 2]
            va, vb, vc = values[begin], values[begin + 1], values[begin + 2]
            for j in range(width):
                out[i, j] = start[i, j] + va * dense[a, j] + vb * dense[b, j] + vc * dense[c, j]
        for e in range(begin + remainder, end, 4):
            a, b, c, d = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
            va, vb, vc, vd = values[e], values[e + 1], values[e + 2], values[e + 3]
            for j in range(width):
                out[i, j] += va * dense[a, j] + vb * dense[b, j] + vc * dense[c, j] + vd * dense[d, j]


@_jit
def sddmm(first, last, indptr, indices, left, right, out):  # type: ignore[no-untyped-def]
    """out[e] = <left[row of e], right[column of e]>: the gradient of spmm by its values.

    left : (rows, width)
    right : (columns, width)
    out : (entries,)
    """
    width = left.shape[1]
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            u = indices[e]
            total = left.dtype.type(0)
            for j in range(width):
                total += left[i, j] * right[u, j]
            out[e] = total


@_jit
def edge_distance(first, last, indptr, indices, mu_r, s_r, mu_c, s_c, out):  # type: ignore[no-untyped-def]
    """Eq. 5 on each entry: out[e] = Σ_k (mu_r - mu_c)² (s_r + s_c) over the classes k.

    mu_r, s_r : (rows, classes)
    mu_c, s_c : (columns, classes)
    out : (entries,)
    """
    classes = mu_r.shape[1]
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            u = indices[e]
            total = mu_r.dtype.type(0)
            for k in range(classes):
                difference = mu_r[i, k] - mu_c[u, k]
                total += difference * difference * (s_r[i, k] + s_c[u, k])
            out[e] = total


@_jit
def edge_distance_grad(first, last, indptr, indices, grad, mu_r, s_r, mu_c, s_c, grad_mu, grad_s):  # type: ignore[no-untyped-def]
    """Gradient of edge_distance by mu_r and s_r; on the transposed pattern, by those of the columns.

    grad : (entries,)
    mu_r, s_r : (rows, classes)
    mu_c, s_c : (columns, classes)
    grad_mu, grad_s : (rows, classes), written
    """
    classes = mu_r.shape[1]
    for i in range(first, last):
        for k in range(classes):
            grad_mu[i, k] = 0
            grad_s[i, k] = 0
        for e in range(indptr[i], indptr[i + 1]):
            u = indices[e]
            g = grad[e]
            for k in range(classes):
                difference = mu_r[i, k] - mu_c[u, k]
                grad_mu[i, k] += 2 * g * difference * (s_r[i, k] + s_c[u, k])
                grad_s[i, k] += g * difference * difference


@_jit_with_inf
def neighbour_softmax(first, last, indptr, scores, out):  # type: ignore[no-untyped-def]
    """Softmax over the entries of each row. Scores of -inf get weight 0; a row of nothing else gets zeros.

    scores, out : (entries,)
    """
    for i in range(first, last):
        start, stop = indptr[i], indptr[i + 1]
        top = -np.inf
        for e in range(start, stop):
            if scores[e] > top:
                top = scores[e]
        total = 0.0
        for e in range(start, stop):
            weight = math.exp(scores[e] - top) if scores[e] > -np.inf else 0.0
            out[e] = weight
            total += weight
        if total > 0:
            for e in range(start, stop):
                out[e] /= total


@_jit
def neighbour_softmax_grad(first, last, indptr, grad, weights, out):  # type: ignore[no-untyped-def]
    """Gradient of neighbour_softmax, from its output ``weights``; all arrays (entries,)."""
    for i in range(first, last):
        mean = weights.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            mean += grad[e] * weights[e]
        for e in range(indptr[i], indptr[i + 1]):
            out[e] = weights[e] * (grad[e] - mean)
