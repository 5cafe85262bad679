"""Numba kernels of multi-head attention over the entries of a CSR pattern (parameters and calls as in csr_kernels).

Messages are never formed: per entry and head only the weight is stored, and its gradient in the backward pass.

Common parameters: ``target`` (rows, heads) and ``source`` (columns, heads) are the two halves of a score, ``h``
(columns, heads, width) the projected features, ``weights`` (entries, heads) the softmax before dropout, ``slope`` that
of the leaky ReLU. Weight (e, k) is dropped where bits(key, e·heads + k) < ``drop``, and else multiplied by ``scale``.
"""

import math

import numba

from dccgcn.kernels.elementwise_kernels import bits

_jit = numba.njit(fastmath=True, cache=True, nogil=True)


@_jit
def attention(  # type: ignore[no-untyped-def]
    first, last, indptr, indices, target, source, h, slope, key, drop, scale, weights, out, top, total
):
    """Attention weights of all heads, and the weighted sums after dropout.

    weights : (entries, heads), written
    out : (rows, heads, width), written
    top, total : (heads,), buffers
    """
    heads, width = h.shape[1], h.shape[2]
    for i in range(first, last):
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
def attention_grad_target(  # type: ignore[no-untyped-def]
    first, last, indptr, indices, grad, target, source, h, weights, slope, key, drop, scale, grad_scores, grad_target,
    mean,
):  # fmt: skip
    """Gradient by the scores before the leaky ReLU, and by ``target``.

    grad : (rows, heads, width)
    grad_scores : (entries, heads), written
    grad_target : (rows, heads), written
    mean : (heads,), a buffer
    """
    heads, width = h.shape[1], h.shape[2]
    for i in range(first, last):
        mean[:] = 0
        grad_target[i] = 0
        for e in range(indptr[i], indptr[i + 1]):
            u = indices[e]
            for k in range(heads):
                grad_weight = weights.dtype.type(0)
                if bits(key, e * heads + k) >= drop:
                    for j in range(width):
                        grad_weight += grad[i, k, j] * h[u, k, j]
                    grad_weight *= scale
                grad_scores[e, k] = grad_weight
                mean[k] += grad_weight * weights[e, k]
        for e in range(indptr[i], indptr[i + 1]):
            u = indices[e]
            for k in range(heads):
                grad_score = weights[e, k] * (grad_scores[e, k] - mean[k])
                if target[i, k] + source[u, k] <= 0:
                    grad_score *= slope
                grad_scores[e, k] = grad_score
                grad_target[i, k] += grad_score


@_jit
def attention_grad_source(  # type: ignore[no-untyped-def]
    first, last, t_indptr, t_indices, t_order, grad, weights, grad_scores, key, drop, scale, grad_source, grad_h
):
    """Gradient by ``source`` and ``h``, on the transposed pattern.

    t_order : (entries,) int32, position in the pattern of each entry of its transpose.
    grad_source : (columns, heads), written
    grad_h : (columns, heads, width), written
    """
    heads, width = grad_h.shape[1], grad_h.shape[2]
    for u in range(first, last):
        grad_h[u] = 0
        grad_source[u] = 0
        for t in range(t_indptr[u], t_indptr[u + 1]):
            e, i = t_order[t], t_indices[t]
            for k in range(heads):
                grad_source[u, k] += grad_scores[e, k]
                if bits(key, e * heads + k) >= drop:
                    w = weights[e, k] * scale
                    for j in range(width):
                        grad_h[u, k, j] += w * grad[i, k, j]
