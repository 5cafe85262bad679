"""Numba kernels of the approximate kNN search: candidates from shared terms, then steps of NN-descent.

The kernels write the rows ``first`` to ``last`` of a result and are called through ``row_threads.over_rows``. Each
output row is written by one thread and depends on nothing that another one writes.

Common parameters: ``x`` are the features as ``FeatureRows``; ``terms`` (n, most) int32 the chosen terms of each node,
ascending, -1 where there are fewer; ``indices``, ``similarity`` and ``tied`` the result, as in ``knn_kernels``.
"""

import math
from typing import NamedTuple

import numba
import numpy as np

from dccgcn.kernels.knn_kernels import insert_ranked, store_ranked

_MAX_COUNT = 255  # of a counter of shared buckets, uint8

_jit = numba.njit(cache=True, nogil=True)


class FeatureRows(NamedTuple):
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
    """Write the buckets of triples, pairs and single terms (-1 ends them) to ``out``; return where each kind ends."""
    count = 0
    while count < len(terms) and terms[count] >= 0:
        count += 1
    at = 0
    for p in range(count):
        for q in range(p):
            for r in range(q):
                out[at] = _hash(terms[r], terms[q], terms[p], size)
                at += 1
    triples = at
    for p in range(count):
        for q in range(p):
            out[at] = _hash(terms[q], terms[p], terms[p], size)
            at += 1
    pairs = at
    for p in range(count):
        out[at] = _hash(terms[p], terms[p], terms[p], size)
        at += 1
    return triples, pairs, at


def n_combinations(n: int) -> int:
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
def count_entries(first, last, terms, parts, counts, buckets):  # type: ignore[no-untyped-def]
    """counts (buckets,) int32: nodes of each bucket, in the parts first to last of ``parts`` of them."""
    size = len(counts)
    low, high = size // parts * first, size // parts * last
    for i in range(len(terms)):
        for b in buckets[: _buckets(terms[i], size, buckets)[2]]:
            if low <= b < high:
                counts[b] += 1


@_jit
def fill_buckets(first, last, terms, parts, left, indptr, nodes, buckets):  # type: ignore[no-untyped-def]
    """nodes[indptr[b]:indptr[b + 1]]: the first nodes of each bucket b, in the parts first to last of ``parts``.

    left : (buckets,) int32, the number of nodes to write to each bucket; all 0 at the end
    """
    size = len(left)
    low, high = size // parts * first, size // parts * last
    for i in range(len(terms)):
        for b in buckets[: _buckets(terms[i], size, buckets)[2]]:
            if low <= b < high and left[b] > 0:
                left[b] -= 1
                nodes[indptr[b] + left[b]] = i


@_jit
def _rank_candidates(i, candidates, x, row, known, indices, similarity, tied):  # type: ignore[no-untyped-def]
    """Store the k candidates most similar to node i. They may repeat.

    ``row`` (d,) and ``known`` (n,), whether a node was compared, are all zeros before and after.
    """
    sparse, k = len(x.indices) > 0, indices.shape[1]
    best = np.empty(k + 1, np.int64)
    nodes = np.empty(k + 1, np.int32)
    for e in range(x.indptr[i], x.indptr[i + 1]):
        row[x.indices[e] if sparse else e - x.indptr[i]] = x.data[e]
    size = np.int64(0)
    for candidate in candidates:
        j = np.int64(candidate)
        if known[j] == 0:
            known[j] = 1
            dot = 0.0
            if sparse:
                for e in range(x.indptr[j], x.indptr[j + 1]):
                    dot += row[x.indices[e]] * x.data[e]
            else:
                for c in range(x.d):
                    dot += row[c] * x.data[x.indptr[j] + c]
            size = insert_ranked(best, nodes, size, dot / (x.norm[i] * x.norm[j]), j)
    store_ranked(best, nodes, size, i, k, indices, similarity, tied)
    for j in candidates:
        known[j] = 0
    for e in range(x.indptr[i], x.indptr[i + 1]):
        row[x.indices[e] if sparse else e - x.indptr[i]] = 0


@_jit
def collect_candidates(  # type: ignore[no-untyped-def]
    first, last, order, terms, indptr, nodes, x, max_entries, max_candidates, defaults, indices, similarity, tied,
    shared, seen, buckets,
):  # fmt: skip
    """Neighbours of the nodes ``order`` among those that share most of their smallest buckets.

    Buckets of triples are read first, the smallest ones before the others, then those of pairs and single terms.

    order : (nodes,) int32, in which similar nodes are near each other, so that they find the same rows in the cache
    indptr, nodes : the buckets, from ``fill_buckets``
    max_entries : entries of buckets that a node reads
    max_candidates : nodes that are then compared exactly
    defaults : int32, candidates for nodes that share no bucket
    shared : (n,) uint8, zeros: buckets shared with each node
    seen : (n + 1,) int32, a buffer
    buckets : (combinations,) int64, a buffer
    """
    k = indices.shape[1]
    histogram = np.empty(_MAX_COUNT + 1, np.int64)  # nodes by number of shared buckets
    sized = np.empty(len(buckets), np.int64)  # bucket lengths and positions
    candidates = np.empty(max_candidates + len(defaults), np.int32)
    row = np.zeros(x.d)
    for i in order[first:last]:
        ends = _buckets(terms[i], len(indptr) - 1, buckets)
        count, left, begin = 0, max_entries, 0
        for end in ends:
            for b in range(begin, end):
                sized[b] = (indptr[buckets[b] + 1] - indptr[buckets[b]]) * len(buckets) + b
            _insertion_sort(sized[begin:end], end - begin)
            for s in range(begin, end):
                length, bucket = sized[s] // len(buckets), buckets[sized[s] % len(buckets)]
                if length > left:
                    left = 0
                    break
                left -= length
                for e in range(indptr[bucket], indptr[bucket + 1]):
                    j = nodes[e]
                    times = shared[j]
                    seen[count] = j  # kept if it is new; a branch would be unpredictable
                    count += times == 0
                    shared[j] = times + (times < _MAX_COUNT)
            if left == 0:
                break
            begin = end
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
        _rank_candidates(i, candidates[:size], x, row, shared, indices, similarity, tied)


@_jit
def nn_descent_step(first, last, order, current, is_new, x, indices, similarity, tied, known):  # type: ignore[no-untyped-def]
    """Neighbours of each node among its current neighbours and theirs.

    order : (n,) int32, as for ``collect_candidates``
    current : (n, width) int32, current neighbours, -1: none
    is_new : (n, width) bool, current neighbours that the step before did not have; other pairs were compared before
    known : (n,) uint8, zeros
    """
    width = current.shape[1]
    candidates = np.empty(width + width * width, np.int32)
    row = np.zeros(x.d)
    for i in order[first:last]:
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
        _rank_candidates(i, candidates[:size], x, row, known, indices, similarity, tied)


@_jit
def not_among(first, last, new, old, result):  # type: ignore[no-untyped-def]
    """result (n, width) bool: which entries of each row of ``new`` are not in the same row of ``old``."""
    for i in range(first, last):
        for a in range(new.shape[1]):
            result[i, a] = True
            for b in range(old.shape[1]):
                if new[i, a] == old[i, b]:
                    result[i, a] = False
