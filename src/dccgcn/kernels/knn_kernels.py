"""Numba kernels of the exact cosine kNN search, and the ranking that every kNN search shares.

The kernels write the rows ``first`` to ``last`` of a result and are called through ``row_threads.over_rows``.

Ranking: similarity descending, then node position ascending. Similarities are compared as integers of ``QUANTUM``
steps, since two sums that are equal on paper may differ in their last bits.

Common parameters: ``indices`` (rows, k) int32, ``similarity`` (rows, k) float32 and ``tied`` (rows,) bool are the
fields of ``operators.Neighbours``, written; ``nonzero`` (n,) bool marks nodes with any feature, the only ones that have
neighbours or are some.
"""

import numba
import numpy as np

QUANTUM = 1e9
_jit = numba.njit(cache=True, nogil=True)


@_jit
def sparse_knn(  # type: ignore[no-untyped-def]
    first, last, x_indptr, x_indices, x_data, t_indptr, t_indices, t_data, nonzero, rows, indices, similarity, tied,
    sums, touched, seen, best, nodes,
):  # fmt: skip
    """Neighbours of the nodes ``rows``, by the inverted index.

    x_indptr, x_indices, x_data : CSR of the features, rows of unit length
    t_indptr, t_indices, t_data : CSR of their transpose, the inverted index
    rows : (m,) int64, nodes to search for; result r belongs to node rows[r]
    sums, touched, seen, best, nodes : from ``search_buffers``
    """
    n, k = len(x_indptr) - 1, indices.shape[1]
    for r in range(first, last):
        i = rows[r]
        work = 0
        for e in range(x_indptr[i], x_indptr[i + 1]):
            work += t_indptr[x_indices[e] + 1] - t_indptr[x_indices[e]]
        # list the nodes that share a word where they are few; where they are most, the list costs more than a scan
        listing = 2 * work < n
        count = 0
        for e in range(x_indptr[i], x_indptr[i + 1]):
            weight = x_data[e]
            for f in range(t_indptr[x_indices[e]], t_indptr[x_indices[e] + 1]):
                j = t_indices[f]
                sums[j] += weight * t_data[f]
                if listing and not seen[j]:
                    seen[j] = True
                    touched[count] = j
                    count += 1
        size = np.int64(0)
        for c in range(count):
            j = np.int64(touched[c])  # as below: the ranking is compiled for one type
            if j != i and sums[j] * QUANTUM > 0.5:  # not rounded to zero
                size = insert_ranked(best, nodes, size, sums[j], j)
        if size <= k and nonzero[i]:  # too few share a word: rank all nodes
            size = np.int64(0)
            for j in range(n):
                if j != i and nonzero[j]:
                    size = insert_ranked(best, nodes, size, sums[j], j)
        store_ranked(best, nodes, size, r, k, indices, similarity, tied)
        for c in range(count):
            sums[touched[c]] = 0
            seen[touched[c]] = False
        if not listing:
            sums[:] = 0


@_jit
def dense_knn(first, last, cosine, nonzero, rows, indices, similarity, tied, best, nodes):  # type: ignore[no-untyped-def]
    """Neighbours from similarities to all nodes.

    cosine : (m, n)
    rows : (m,) int64, the node of each row of cosine
    best, nodes : from ``ranking_buffers``
    """
    k = indices.shape[1]
    for r in range(first, last):
        size = np.int64(0)
        if nonzero[rows[r]]:
            for j in range(cosine.shape[1]):
                if j != rows[r] and nonzero[j]:
                    size = insert_ranked(best, nodes, size, cosine[r, j], j)
        store_ranked(best, nodes, size, r, k, indices, similarity, tied)


def ranking_buffers(k: int) -> tuple[np.ndarray, np.ndarray]:
    """``best`` (similarities in steps, descending) and ``nodes`` of a ranking of k + 1 nodes."""
    return np.empty(k + 1, np.int64), np.empty(k + 1, np.int32)


def search_buffers(n: int, k: int) -> tuple[np.ndarray, ...]:
    """Of ``sparse_knn``: similarities to all nodes, the nodes that share a word, whether a node is one; a ranking."""
    return np.zeros(n), np.empty(n, np.int32), np.zeros(n, bool), *ranking_buffers(k)


@_jit
def insert_ranked(best, nodes, size, cosine, j):  # type: ignore[no-untyped-def]
    """Insert node j into a ranking of at most len(best) nodes, and return its new size.

    best : (k + 1,) int64, similarities in steps, descending
    nodes : (k + 1,) int32, their nodes, ascending among equals
    """
    last = len(best) - 1
    if size > last and cosine * QUANTUM < best[last] - 1:
        return size  # most candidates leave here, before they are rounded
    value = np.int64(np.rint(cosine * QUANTUM))
    if size > last:
        if value < best[last] or (value == best[last] and j > nodes[last]):
            return size
        size = last
    at = size
    while at > 0 and (value > best[at - 1] or (value == best[at - 1] and j < nodes[at - 1])):
        best[at] = best[at - 1]
        nodes[at] = nodes[at - 1]
        at -= 1
    best[at] = value
    nodes[at] = j
    return size + 1


@_jit
def store_ranked(best, nodes, size, i, k, indices, similarity, tied):  # type: ignore[no-untyped-def]
    """Write a ranking of up to k + 1 nodes to row i; tied: the k-th and the next are equally similar."""
    for c in range(min(size, k)):
        indices[i, c] = nodes[c]
        similarity[i, c] = best[c] / QUANTUM
    tied[i] = size > k and best[k] == best[k - 1]
