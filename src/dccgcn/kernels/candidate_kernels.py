"""Numba kernels of the approximate kNN search: candidates from shared terms, then steps of NN-descent.

The kernels write the rows ``first`` to ``last`` of a result and are called through ``row_threads.over_rows``. Each
output row is written by one thread and depends on nothing that another one writes.

Common parameters: ``x`` are the features as ``Rows``; ``terms`` (n, most) int32 the chosen terms of each node,
ascending, -1 where there are fewer; ``indices``, ``similarity`` and ``tied`` the result, as in ``knn_kernels``.
"""

import math
from typing import NamedTuple

import numba
import numpy as np

from dccgcn.kernels.knn_kernels import insert_ranked, store_ranked

_MAX_COUNT = 255  # of a counter of shared buckets, uint8

_jit = numba.njit(cache=True, nogil=True)


class Rows(NamedTuple):
    """The features, row after row."""

    indptr: np.ndarray  # (n + 1,) int64, where rows begin and end
    indices: np.ndarray  # columns, ascending within a row; empty if features are dense
    data: np.ndarray
    norm: np.ndarray  # (n,) float64
    d: int


@_jit
def row_norms(first, last, indptr, data, norm):  # type: ignore[no-untyped-def]
    """norm (n,) = Euclidean norm of each row, in double precision."""
    for i in range(first, last):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[e]) * np.float64(data[e])
        norm[i] = math.sqrt(total)


@_jit
def top_terms(first, last, x, document_frequency, terms, best, columns):  # type: ignore[no-untyped-def]
    """The columns of each row with the largest (value / norm)² / document frequency, ascending.

    Parameters
    ----------
    document_frequency : (d,) number of rows that have a column
    terms : (n, most) int32, written where a row has columns
    best, columns : from ``ranking_buffers``, of ``most`` columns
    """
    for i in range(first, last):
        size = np.int64(0)
        for e in range(x.indptr[i], x.indptr[i + 1]):
            if x.data[e] != 0:
                score = 2 * math.log(abs(x.data[e]) / x.norm[i]) - math.log(document_frequency[x.indices[e]])
                size = insert_ranked(best, columns, size, score, np.int64(x.indices[e]))
        _insertion_sort(columns, size)
        for t in range(size):
            terms[i, t] = columns[t]


@_jit
def top_columns(first, last, cosine, nonzero, terms, best, columns):  # type: ignore[no-untyped-def]
    """Write the columns of the largest values of each row of ``cosine`` to ``terms``, ascending; rows that are nonzero.

    Parameters
    ----------
    cosine : (rows, columns)
    nonzero : (rows,) bool
    terms : (rows, most) int32, written
    best, columns : from ``ranking_buffers``, of ``most`` columns
    """
    for i in range(first, last):
        if nonzero[i]:
            size = np.int64(0)
            for j in range(cosine.shape[1]):
                size = insert_ranked(best, columns, size, cosine[i, j], j)
            _insertion_sort(columns, size)
            for t in range(size):
                terms[i, t] = columns[t]


@_jit
def _insertion_sort(values, size):  # type: ignore[no-untyped-def]
    """Sort the first ``size`` values, in place."""
    for at in range(1, size):
        while at > 0 and values[at - 1] > values[at]:
            values[at - 1], values[at] = values[at], values[at - 1]
            at -= 1


@_jit
def _buckets(terms, size, out):  # type: ignore[no-untyped-def]
    """Write the bucket of every term, pair and triple of terms (-1 ends them) to ``out``; return their number."""
    count = 0
    for p in range(len(terms)):
        if terms[p] < 0:
            break
        out[count] = _hash(terms[p], terms[p], terms[p], size)
        count += 1
        for q in range(p):
            out[count] = _hash(terms[q], terms[p], terms[p], size)
            count += 1
            for r in range(q):
                out[count] = _hash(terms[r], terms[q], terms[p], size)
                count += 1
    return count


@_jit
def _n_combinations(n):  # type: ignore[no-untyped-def]
    """Number of single terms, pairs and triples of n terms."""
    return n + n * (n - 1) // 2 + n * (n - 1) * (n - 2) // 6


@_jit
def _hash(a, b, c, size):  # type: ignore[no-untyped-def]
    """A bucket for three terms; size is a power of two."""
    h = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
    h = (h ^ (h >> np.uint64(29)) ^ np.uint64(c)) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    return np.int64((h ^ (h >> np.uint64(29))) & np.uint64(size - 1))


@_jit
def build_buckets(terms, size):  # type: ignore[no-untyped-def]
    """The nodes of each bucket, as CSR: those of bucket b are nodes[indptr[b]:indptr[b + 1]].

    Parameters
    ----------
    size : number of buckets, a power of two

    Returns
    -------
    indptr : (size + 1,) int64
    nodes : int32
    """
    buckets = np.empty(_n_combinations(terms.shape[1]), np.int64)
    indptr = np.zeros(size + 2, np.int64)
    for i in range(len(terms)):
        for b in buckets[: _buckets(terms[i], size, buckets)]:
            indptr[b + 2] += 1
    for b in range(size):
        indptr[b + 2] += indptr[b + 1]
    nodes = np.empty(indptr[size + 1], np.int32)
    for i in range(len(terms)):
        for b in buckets[: _buckets(terms[i], size, buckets)]:
            nodes[indptr[b + 1]] = i
            indptr[b + 1] += 1  # at the end: where the next bucket begins
    return indptr[: size + 1], nodes


@_jit
def _rank_candidates(i, candidates, x, row, indices, similarity, tied):  # type: ignore[no-untyped-def]
    """Store the k candidates most similar to node i. They may repeat; ``row`` (d,) is all zeros before and after."""
    sparse, k = len(x.indices) > 0, indices.shape[1]
    best = np.empty(k + 1, np.int64)
    nodes = np.empty(k + 1, np.int32)
    for e in range(x.indptr[i], x.indptr[i + 1]):
        row[x.indices[e] if sparse else e - x.indptr[i]] = x.data[e]
    candidates.sort()
    size, before = np.int64(0), np.int64(-1)
    for candidate in candidates:
        j = np.int64(candidate)
        if j != before:
            before = j
            dot = 0.0
            if sparse:
                for e in range(x.indptr[j], x.indptr[j + 1]):
                    dot += row[x.indices[e]] * x.data[e]
            else:
                for c in range(x.d):
                    dot += row[c] * x.data[x.indptr[j] + c]
            size = insert_ranked(best, nodes, size, dot / (x.norm[i] * x.norm[j]), j)
    store_ranked(best, nodes, size, i, k, indices, similarity, tied)
    for e in range(x.indptr[i], x.indptr[i + 1]):
        row[x.indices[e] if sparse else e - x.indptr[i]] = 0


@_jit
def collect_candidates(  # type: ignore[no-untyped-def]
    first, last, start, terms, indptr, nodes, x, max_entries, max_candidates, defaults, indices, similarity, tied
):
    """Neighbours of the nodes from ``start`` + first on among those that share most of their smallest buckets.

    Parameters
    ----------
    indptr, nodes : the buckets, from ``build_buckets``
    max_entries : entries of buckets that a node reads, smallest buckets first
    max_candidates : nodes that are then compared exactly
    defaults : int32, candidates for nodes that share no bucket
    """
    k = indices.shape[1]
    shared = np.zeros(len(terms), np.uint8)  # buckets shared with each node
    seen = np.empty(len(terms) + 1, np.int32)
    histogram = np.empty(_MAX_COUNT + 1, np.int64)  # nodes by number of shared buckets
    buckets = np.empty(_n_combinations(terms.shape[1]), np.int64)
    length = np.empty(len(buckets), np.int64)
    candidates = np.empty(max_candidates + len(defaults), np.int32)
    row = np.zeros(x.d)
    for i in range(start + first, start + last):
        n_buckets = _buckets(terms[i], len(indptr) - 1, buckets)
        for b in range(n_buckets):
            length[b] = indptr[buckets[b] + 1] - indptr[buckets[b]]
        count, left = 0, max_entries
        for b in np.argsort(length[:n_buckets]):
            if length[b] > left and left < max_entries:
                break
            left -= length[b]
            for e in range(indptr[buckets[b]], indptr[buckets[b] + 1]):
                j = nodes[e]
                times = shared[j]
                seen[count] = j  # kept if it is new; a branch would be unpredictable
                count += times == 0
                shared[j] = times + (times < _MAX_COUNT)
        shared[i] = 0  # a node is in its own buckets
        histogram[:] = 0
        for c in range(count):
            histogram[shared[seen[c]]] += 1
        least, more = _MAX_COUNT, histogram[_MAX_COUNT]
        while least > 1 and more + histogram[least - 1] <= max_candidates:
            least -= 1
            more += histogram[least]
        size = 0
        for c in range(count):
            if shared[seen[c]] >= least and size < max_candidates:
                candidates[size] = seen[c]
                size += 1
            shared[seen[c]] = 0
        if size <= k and x.norm[i] > 0:
            for j in defaults:
                if j != i:
                    candidates[size] = j
                    size += 1
        _rank_candidates(i, candidates[:size], x, row, indices, similarity, tied)


@_jit
def nn_descent_step(first, last, current, is_new, x, indices, similarity, tied):  # type: ignore[no-untyped-def]
    """Neighbours of each node among its current neighbours and theirs.

    Parameters
    ----------
    current : (n, width) int32, current neighbours, -1: none
    is_new : (n, width) bool
        Current neighbours that the step before did not have. A pair that neither end reaches by a new one was compared
        before.
    """
    width = current.shape[1]
    candidates = np.empty(width + width * width, np.int32)
    row = np.zeros(x.d)
    for i in range(first, last):
        size = 0
        for a in range(width):
            j = current[i, a]
            if j >= 0:
                candidates[size] = j
                size += 1
                for b in range(width):
                    other = current[j, b]
                    if (is_new[i, a] or is_new[j, b]) and other >= 0 and other != i:
                        candidates[size] = other
                        size += 1
        _rank_candidates(i, candidates[:size], x, row, indices, similarity, tied)


@_jit
def not_among(first, last, new, old, result):  # type: ignore[no-untyped-def]
    """result (n, width) bool: which entries of each row of ``new`` are not in the same row of ``old``."""
    for i in range(first, last):
        for a in range(new.shape[1]):
            result[i, a] = True
            for b in range(old.shape[1]):
                if new[i, a] == old[i, b]:
                    result[i, a] = False
