"""The raw kernels in numba. Each output row is written by one thread, in a fixed order of summation.

``fastmath`` lets LLVM vectorise the inner sums; results are the same for every run and thread count.
"""

import math

import numba
import numpy as np

from dccgcn.kernels.random import bits

_jit = numba.njit(parallel=True, fastmath=True, cache=True, nogil=True)
_BLOCK = 64  # rows that share a thread's notes
_jit_with_inf = numba.njit(parallel=True, cache=True, nogil=True)  # fastmath would assume that -inf does not occur


@_jit
def spmm(indptr, indices, order, values, dense, out):  # type: ignore[no-untyped-def]
    """out = S @ dense, where entry e of S is values[e], or values[order[e]] if there is an order.

    The entries of a row that dropout left are gathered first, without a branch: which ones they are no processor can
    foresee, and guessing wrong takes longer than the product. Then four at a time, so that a row of out is read and
    written once for four rows of dense.
    """
    n, width = len(indptr) - 1, dense.shape[1]
    ordered = len(order) > 0
    for block in numba.prange((n + _BLOCK - 1) // _BLOCK):
        first, last = block * _BLOCK, min(n, (block + 1) * _BLOCK)
        longest = 0
        for i in range(first, last):
            longest = max(longest, indptr[i + 1] - indptr[i])
        cols = np.empty(longest + 1, indices.dtype)  # one more: what is dropped at a row's end is written, not counted
        vals = np.empty(longest + 1, values.dtype)
        for i in range(first, last):
            kept = 0
            for e in range(indptr[i], indptr[i + 1]):
                v = values[order[e]] if ordered else values[e]
                cols[kept], vals[kept] = indices[e], v
                kept += v != 0
            for j in range(width):
                out[i, j] = 0
            fours = kept // 4 * 4
            for e in range(0, fours, 4):
                a, b, c, d = cols[e], cols[e + 1], cols[e + 2], cols[e + 3]
                va, vb, vc, vd = vals[e], vals[e + 1], vals[e + 2], vals[e + 3]
                for j in range(width):
                    out[i, j] += va * dense[a, j] + vb * dense[b, j] + vc * dense[c, j] + vd * dense[d, j]
            for e in range(fours, kept):
                a, va = cols[e], vals[e]
                for j in range(width):
                    out[i, j] += va * dense[a, j]


@_jit
def add_product(indptr, indices, values, dense, start, out):  # type: ignore[no-untyped-def]
    """out = start + S @ dense, for a dense so narrow that to gather entries first would take longer than their product.

    What a row has beyond fours comes first, together with start, so that out is not read for it.
    """
    width = dense.shape[1]
    for i in numba.prange(len(indptr) - 1):
        first, last = indptr[i], indptr[i + 1]
        odd = (last - first) % 4
        if odd == 0:
            for j in range(width):
                out[i, j] = start[i, j]
        elif odd == 1:
            a, va = indices[first], values[first]
            for j in range(width):
                out[i, j] = start[i, j] + va * dense[a, j]
        elif odd == 2:
            a, b, va, vb = indices[first], indices[first + 1], values[first], values[first + 1]
            for j in range(width):
                out[i, j] = start[i, j] + va * dense[a, j] + vb * dense[b, j]
        else:
            a, b, c = indices[first], indices[first + 1], indices[first + 2]
            va, vb, vc = values[first], values[first + 1], values[first + 2]
            for j in range(width):
                out[i, j] = start[i, j] + va * dense[a, j] + vb * dense[b, j] + vc * dense[c, j]
        for e in range(first + odd, last, 4):
            a, b, c, d = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
            va, vb, vc, vd = values[e], values[e + 1], values[e + 2], values[e + 3]
            for j in range(width):
                out[i, j] += va * dense[a, j] + vb * dense[b, j] + vc * dense[c, j] + vd * dense[d, j]


@_jit
def sddmm(indptr, indices, left, right, out):  # type: ignore[no-untyped-def]
    """out[e] = <left[row of e], right[column of e]>: the gradient of spmm's values."""
    width = left.shape[1]
    for i in numba.prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            u = indices[e]
            total = left.dtype.type(0)
            for j in range(width):
                total += left[i, j] * right[u, j]
            out[e] = total


@_jit
def edge_distance(indptr, indices, mu_r, s_r, mu_c, s_c, out):  # type: ignore[no-untyped-def]
    """Eq. 5 on each entry: sum over classes of (mu_r - mu_c)² (s_r + s_c)."""
    classes = mu_r.shape[1]
    for i in numba.prange(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            u = indices[e]
            total = mu_r.dtype.type(0)
            for k in range(classes):
                gap = mu_r[i, k] - mu_c[u, k]
                total += gap * gap * (s_r[i, k] + s_c[u, k])
            out[e] = total


@_jit
def edge_distance_rows(indptr, indices, grad, mu_r, s_r, mu_c, s_c, grad_mu, grad_s):  # type: ignore[no-untyped-def]
    """Gradient of edge_distance for the row nodes; on the transposed pattern, for the column nodes."""
    classes = mu_r.shape[1]
    for i in numba.prange(len(indptr) - 1):
        for k in range(classes):
            grad_mu[i, k] = 0
            grad_s[i, k] = 0
        for e in range(indptr[i], indptr[i + 1]):
            u = indices[e]
            g = grad[e]
            for k in range(classes):
                gap = mu_r[i, k] - mu_c[u, k]
                grad_mu[i, k] += 2 * g * gap * (s_r[i, k] + s_c[u, k])
                grad_s[i, k] += g * gap * gap


@_jit_with_inf
def neighbour_softmax(indptr, scores, out):  # type: ignore[no-untyped-def]
    """Softmax over the entries of each row. Scores of -inf get weight 0; a row of nothing else stays 0."""
    for i in numba.prange(len(indptr) - 1):
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
def neighbour_softmax_grad(indptr, grad, weights, out):  # type: ignore[no-untyped-def]
    for i in numba.prange(len(indptr) - 1):
        mean = weights.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            mean += grad[e] * weights[e]
        for e in range(indptr[i], indptr[i + 1]):
            out[e] = weights[e] * (grad[e] - mean)


@_jit
def attention(indptr, indices, target, source, h, slope, key, drop, scale, weights, out):  # type: ignore[no-untyped-def]
    """The weights of all heads, and what they sum up to after dropout. All heads of an entry are near each other."""
    n, heads, width = len(indptr) - 1, h.shape[1], h.shape[2]
    for block in numba.prange((n + _BLOCK - 1) // _BLOCK):
        top, total = np.empty(heads, weights.dtype), np.empty(heads, weights.dtype)
        for i in range(block * _BLOCK, min((block + 1) * _BLOCK, n)):
            top[:] = -1e30
            total[:] = 0
            out[i] = 0
            for e in range(indptr[i], indptr[i + 1]):
                for k in range(heads):
                    score = target[i, k] + source[indices[e], k]
                    score = score if score > 0 else slope * score
                    weights[e, k] = score
                    top[k] = max(top[k], score)
            for e in range(indptr[i], indptr[i + 1]):
                for k in range(heads):
                    weights[e, k] = math.exp(weights[e, k] - top[k])
                    total[k] += weights[e, k]
            for e in range(indptr[i], indptr[i + 1]):
                u = indices[e]
                for k in range(heads):
                    weights[e, k] /= total[k]
                    if bits(key, e * heads + k) >= drop:
                        w = weights[e, k] * scale
                        for j in range(width):
                            out[i, k, j] += w * h[u, k, j]


@_jit
def attention_rows(  # type: ignore[no-untyped-def]
    indptr, indices, grad, target, source, h, weights, slope, key, drop, scale, by_scores, by_target
):
    """Gradient for the scores, before the leaky ReLU, and for the row nodes."""
    n, heads, width = len(indptr) - 1, h.shape[1], h.shape[2]
    for block in numba.prange((n + _BLOCK - 1) // _BLOCK):
        mean = np.empty(heads, weights.dtype)
        for i in range(block * _BLOCK, min((block + 1) * _BLOCK, n)):
            mean[:] = 0
            by_target[i] = 0
            for e in range(indptr[i], indptr[i + 1]):
                u = indices[e]
                for k in range(heads):
                    by_weight = weights.dtype.type(0)
                    if bits(key, e * heads + k) >= drop:
                        for j in range(width):
                            by_weight += grad[i, k, j] * h[u, k, j]
                        by_weight *= scale
                    by_scores[e, k] = by_weight
                    mean[k] += by_weight * weights[e, k]
            for e in range(indptr[i], indptr[i + 1]):
                u = indices[e]
                for k in range(heads):
                    by_score = weights[e, k] * (by_scores[e, k] - mean[k])
                    if target[i, k] + source[u, k] <= 0:
                        by_score *= slope
                    by_scores[e, k] = by_score
                    by_target[i, k] += by_score


@_jit
def attention_columns(  # type: ignore[no-untyped-def]
    t_indptr, t_indices, t_order, grad, weights, by_scores, key, drop, scale, by_source, by_h
):
    """Gradient for the column nodes, on the transposed pattern."""
    heads, width = by_h.shape[1], by_h.shape[2]
    for u in numba.prange(len(t_indptr) - 1):
        by_h[u] = 0
        by_source[u] = 0
        for t in range(t_indptr[u], t_indptr[u + 1]):
            e, i = t_order[t], t_indices[t]
            for k in range(heads):
                by_source[u, k] += by_scores[e, k]
                if bits(key, e * heads + k) >= drop:
                    w = weights[e, k] * scale
                    for j in range(width):
                        by_h[u, k, j] += w * grad[i, k, j]


@_jit
def dropout(values, key, threshold, scale, out):  # type: ignore[no-untyped-def]
    for e in numba.prange(len(values)):
        out[e] = values[e] * scale if bits(key, e) >= threshold else 0


@_jit
def relu_dropout(values, key, threshold, scale, out):  # type: ignore[no-untyped-def]
    for e in numba.prange(len(values)):
        v = values[e]
        out[e] = v * scale if (v > 0 and bits(key, e) >= threshold) else 0


@_jit
def relu_dropout_grad(grad, kept, scale, out):  # type: ignore[no-untyped-def]
    """The mask is read off the output: an entry is positive only if it was and was kept."""
    for e in numba.prange(len(grad)):
        out[e] = grad[e] * scale if kept[e] > 0 else 0


@_jit
def less_top(scores, offset, size, out):  # type: ignore[no-untyped-def]
    """out = scores + offset, less the largest of every ``size`` columns of each row. Scores may have columns more."""
    for i in numba.prange(len(out)):
        for first in range(0, out.shape[1], size):
            top = scores[i, first] + offset[first]
            for j in range(first, first + size):
                out[i, j] = scores[i, j] + offset[j]
                top = max(top, out[i, j])
            for j in range(first, first + size):
                out[i, j] -= top


@_jit
def normalise(values, size):  # type: ignore[no-untyped-def]
    """In place: every ``size`` columns of each row sum to one."""
    for i in numba.prange(len(values)):
        for first in range(0, values.shape[1], size):
            total = values.dtype.type(0)
            for j in range(first, first + size):
                total += values[i, j]
            for j in range(first, first + size):
                values[i, j] /= total
