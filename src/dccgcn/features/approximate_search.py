"""Approximate cosine k nearest neighbours, for graphs on which an exact search takes hours: linear in the nodes.

Candidates. Similar nodes share many terms (columns), hence many pairs and triples of terms, which are rare even where
single terms are not. Every term, pair and triple of a node's top terms is hashed to a bucket; each node reads its
smallest buckets up to a fixed number of entries and compares itself exactly with the nodes that it shares most of them
with. Of a bucket with more nodes than that the first ones are kept. For dense features, random landmark nodes take the
place of terms: a node "has" the landmarks nearest to it.

Refinement. A few steps of NN-descent (Dong et al., WWW 2011) compare each node with its neighbours' neighbours.

Similarities and the rule for ties are those of the exact search, and the result is the same for every number of
threads. Its quality is measured: ``recall`` is the share of neighbours that are at least as similar as the exact k-th
one, on a sample of the nodes.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.features.exact_search import Neighbours, check_k, empty_neighbours, exact_knn, exact_work, is_dense
from dccgcn.kernels import FeatureRows, candidate_kernels, n_combinations, over_rows, ranking_buffers

MOST_WORK = 6e9  # products of an exact search: some ten seconds on a core

_TERMS = 8  # per node
MAX_ENTRIES = 1536  # of buckets, that a node reads
_PARTS = 64  # of all buckets, filled at the same time
MAX_CANDIDATES = 128  # that a node is compared with
_KEPT = 2  # times k neighbours are kept until the last step
STEPS = 2  # of NN-descent
_LANDMARKS = 1024
_SAMPLE = 1000  # nodes on which recall is measured
BLOCK = 16384  # rows between two calls of progress


def neighbours(features: Any, k: int, progress: Callable[[int, int], None] | None = None) -> Neighbours:
    """The k most similar nodes of each node: exact where affordable, else approximate, with its recall."""
    if is_searched_exactly(features):
        return exact_knn(features, k, progress=progress)
    found = approximate_knn(features, k, progress)
    n = len(found.indices)
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, _SAMPLE), replace=False))
    return replace(found, recall=recall(found, exact_knn(features, k, block=32, rows=rows), rows))


def is_searched_exactly(features: Any) -> bool:
    """Whether ``neighbours`` compares all nodes that share a feature."""
    return exact_work(features) <= MOST_WORK


def recall(found: Neighbours, exact: Neighbours, rows: np.ndarray) -> float:
    """Share of the neighbours of these nodes that are at least as similar as the exact k-th one."""
    exists = exact.indices >= 0
    least = np.where(exists, exact.similarity, np.inf).min(axis=1, keepdims=True)
    good = (found.indices[rows] >= 0) & (found.similarity[rows] >= least)
    return float(good[exists].mean()) if exists.any() else 1.0


def approximate_knn(features: Any, k: int, progress: Callable[[int, int], None] | None = None) -> Neighbours:
    """Most of the k most similar nodes of each node, never itself."""
    n = int(features.shape[0])
    check_k(k, n)
    x = _as_rows(features)
    terms = _nearest_landmarks(x) if len(x.indices) == 0 else _top_terms(x)
    order = _similar_together(terms)
    buckets = _fill_buckets(terms)
    kept = min(_KEPT * k, n - 1)
    defaults = np.flatnonzero(x.norm > 0)[: kept + 2].astype(np.int32)  # for nodes that share no bucket
    found = empty_neighbours(n, kept)

    def buffers() -> tuple[np.ndarray, ...]:
        return np.zeros(n, np.uint8), np.empty(n + 1, np.int32), _combinations(terms)

    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        over_rows(
            candidate_kernels.collect_candidates, stop - start,
            order[start:stop], terms, *buckets, x, MAX_ENTRIES, MAX_CANDIDATES, defaults, *found.arrays,
            buffers=buffers,
        )  # fmt: skip
        if progress:
            progress(stop - 1, n)  # the last one is reported after NN-descent
    del buckets
    is_new = np.ones(found.indices.shape, bool)
    for left in range(STEPS, 0, -1):
        better = empty_neighbours(n, kept if left > 1 else k)
        over_rows(
            candidate_kernels.nn_descent_step, n, order, found.indices, is_new, x, *better.arrays,
            buffers=lambda: (np.zeros(n, np.uint8),),
        )  # fmt: skip
        is_new = np.empty(better.indices.shape, bool)
        over_rows(candidate_kernels.not_among, n, better.indices, found.indices, is_new)
        found = better
    if progress:
        progress(n, n)
    return found


def _as_rows(features: Any) -> FeatureRows:
    """Features as flat arrays; without column numbers if they are dense."""
    n, d = features.shape
    if is_dense(features):
        x = features.toarray() if sp.issparse(features) else np.ascontiguousarray(features)
        indptr, columns, data = np.arange(n + 1, dtype=np.int64) * d, np.empty(0, np.int32), x.reshape(-1)
    else:
        x = sp.csr_array(features)
        if not x.has_canonical_format:
            x = x.copy()
            x.sum_duplicates()
        indptr, columns, data = x.indptr.astype(np.int64), x.indices, x.data
    # a copy where they are read-only, as those of a graph are: numba would compile again
    columns, data = np.require(columns, np.int32, "W"), np.require(data, np.float32, "W")
    norm = np.empty(n)
    over_rows(candidate_kernels.row_norms, n, indptr, data, norm)
    return FeatureRows(indptr, columns, data, norm, d)


def _similar_together(terms: np.ndarray) -> np.ndarray:
    """The nodes in the order of their three rarest terms, (n,) int32."""
    frequency = np.bincount(terms[terms >= 0])
    rank = np.append(np.argsort(np.argsort(frequency, kind="stable")), len(frequency))  # the last: of -1
    rarest = np.sort(rank[terms].astype(np.int32), axis=1)[:, :3]
    return np.lexsort(rarest.T[::-1]).astype(np.int32)


def _fill_buckets(terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nodes of each term, pair and triple as CSR: where buckets begin and end, and their nodes."""
    size = 1 << (16 * len(terms) - 1).bit_length()  # so many that collisions are rare
    parts, cost = min(_PARTS, size), terms.size * n_combinations(terms.shape[1])

    def buffers() -> tuple[np.ndarray]:
        return (_combinations(terms),)

    counts = np.zeros(size, np.int32)
    over_rows(candidate_kernels.count_entries, parts, terms, parts, counts, buffers=buffers, cost=cost)
    np.minimum(counts, MAX_ENTRIES, out=counts)
    indptr = np.zeros(size + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    nodes = np.empty(indptr[-1], np.int32)
    over_rows(candidate_kernels.fill_buckets, parts, terms, parts, counts, indptr, nodes, buffers=buffers, cost=cost)
    return indptr, nodes


def _combinations(terms: np.ndarray) -> np.ndarray:
    """A buffer for the buckets of one node."""
    return np.empty(n_combinations(terms.shape[1]), np.int64)


def _top_terms(x: FeatureRows) -> np.ndarray:
    """The terms of each node with the largest weight over document frequency, (n, terms); -1 where it has fewer."""
    terms = np.full((len(x.norm), _TERMS), -1, np.int32)
    frequency = np.bincount(x.indices, minlength=x.d)
    over_rows(candidate_kernels.top_terms, len(terms), x, frequency, terms, buffers=lambda: ranking_buffers(_TERMS - 1))
    return terms


def _nearest_landmarks(x: FeatureRows) -> np.ndarray:
    """The random landmark nodes nearest to each node, as its terms, (n, terms)."""
    nonzero = np.flatnonzero(x.norm > 0)
    chosen = np.random.default_rng(0).permutation(nonzero)[: min(_LANDMARKS, max(_TERMS, len(nonzero) // 8))]
    dense = x.data.reshape(len(x.norm), x.d)
    landmarks = dense[chosen] / x.norm[chosen, None]  # double precision, as the norms are
    terms = np.full((len(x.norm), min(_TERMS, len(chosen))), -1, np.int32)
    for start in range(0, len(x.norm), BLOCK):
        rows = slice(start, start + BLOCK)
        cosine = dense[rows] @ landmarks.T / np.maximum(x.norm[rows, None], 1e-300)
        arrays = cosine, x.norm[rows] > 0, terms[rows]
        over_rows(
            candidate_kernels.top_columns, len(cosine), *arrays, buffers=lambda: ranking_buffers(terms.shape[1] - 1)
        )
    return terms
