"""Exact cosine k nearest neighbours of the features (Eq. 4), with a fixed rule for ties.

The rule: similarity descending, then node position ascending. Ties are common with binary words (a third
of Cora's nodes tie at the 6th neighbour), so without a rule the graph would change with the number of
threads. Similarities are computed in double precision and count as equal when they agree to nine decimals:
two sums that are equal on paper may differ in their last bits.

Eq. 4 divides by the similarity; only the ranking matters, so the division is never made and zero or
negative similarities rank last. A row of zeros has no direction: it is nobody's neighbour and has none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp

from dccgcn.errors import SettingsError
from dccgcn.kernels.features import DENSE_ABOVE

QUANTUM = 1e9  # similarities are compared as integers of this many steps
_BLOCK = 512  # rows per block; results do not depend on it
_AT_ONCE = 64  # products of dense rows that take the time of one of sparse rows
_PER_PAIR = 4  # products of sparse rows that take the time of ranking a pair


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The k nearest neighbours of each node."""

    indices: np.ndarray  # (n, k) int32, nearest first; -1 where a node has fewer
    similarity: np.ndarray  # (n, k) float32
    tied: np.ndarray  # (n,) bool: the k-th and the next are equally similar, the rule decided
    recall: float | None = None  # share that is as near as the exact ones, where the search was approximate


def exact_knn(
    features: Any,
    k: int,
    block: int = _BLOCK,
    progress: Callable[[int, int], None] | None = None,
    rows: np.ndarray | None = None,
) -> Neighbours:
    """The k most similar nodes of each node, never itself. Features are an array or a SciPy sparse matrix.

    rows: of these nodes only, in their order; omitted: of all.
    """
    check_k(k, int(features.shape[0]))
    rows = np.arange(features.shape[0]) if rows is None else rows
    m = len(rows)
    found = Neighbours(np.full((m, k), -1, np.int32), np.zeros((m, k), np.float32), np.zeros(m, bool))
    search = _dense_blocks if is_dense(features) else _sparse_blocks
    for done in search(features, rows, k, block, found):
        if progress:
            progress(done, m)
    return found


def check_k(k: int, n: int) -> None:
    """Every node has n - 1 others, and no more."""
    if not 1 <= k < n:
        raise SettingsError(
            f"k = {k} nearest neighbours cannot be found among {n} nodes.", f"Choose k from 1 to {n - 1}."
        )


def is_dense(features: Any) -> bool:
    """Whether so much is filled that a dense product is faster."""
    filled = features.nnz if sp.issparse(features) else np.count_nonzero(features)
    return bool(filled > DENSE_ABOVE * features.shape[0] * features.shape[1])


def exact_work(features: Any) -> float:
    """Products that an exact search of all nodes takes: two nodes meet once for each word that they share.

    Where features are dense all nodes meet, but a product costs a fraction of that, as columns follow one another.
    """
    n, d = features.shape
    if is_dense(features):
        return float(n) * n * (_PER_PAIR + d / _AT_ONCE)
    with_word = np.bincount(features.indices, minlength=d) if sp.issparse(features) else (features != 0).sum(axis=0)
    return float((with_word.astype(np.float64) ** 2).sum())


def _sparse_blocks(features, rows, k, block, found):  # type: ignore[no-untyped-def]
    x = sp.csr_array(features, dtype=np.float64, copy=True)
    norm = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).reshape(-1))
    x.data /= np.repeat(np.where(norm > 0, norm, 1), np.diff(x.indptr))
    x_t = sp.csr_array(x.T)  # the inverted index: which nodes have this word
    wide = block * numba.get_num_threads()
    for start in range(0, len(rows), wide):
        stop = min(start + wide, len(rows))
        _sparse_rows(
            x.indptr, x.indices, x.data, x_t.indptr, x_t.indices, x_t.data, norm > 0, rows, start, stop, k, block,
            found.indices, found.similarity, found.tied,
        )  # fmt: skip
        yield stop


def _dense_blocks(features, rows, k, block, found):  # type: ignore[no-untyped-def]
    x = features.toarray() if sp.issparse(features) else np.asarray(features)
    x = x.astype(np.float64)
    norm = np.sqrt((x * x).sum(axis=1))
    x /= np.where(norm > 0, norm, 1)[:, None]
    for start in range(0, len(rows), block):
        some = rows[start : start + block]
        _dense_rows(x[some] @ x.T, norm > 0, some, start, k, found.indices, found.similarity, found.tied)
        yield start + len(some)


@numba.njit(parallel=True, cache=True)
def _sparse_rows(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    data,
    t_indptr,
    t_indices,
    t_data,
    has_direction,
    rows,
    start,
    stop,
    k,
    block,
    found,
    similarity,
    tied,
):
    n = len(indptr) - 1
    parts = (stop - start + block - 1) // block
    for part in numba.prange(parts):
        sums = np.zeros(n)
        touched = np.empty(n, np.int32)
        seen = np.zeros(n, np.bool_)
        best = np.empty(k + 1, np.int64)  # similarity in steps, best first
        who = np.empty(k + 1, np.int32)
        for r in range(start + part * block, min(start + (part + 1) * block, stop)):
            i = rows[r]
            work = 0
            for e in range(indptr[i], indptr[i + 1]):
                work += t_indptr[indices[e] + 1] - t_indptr[indices[e]]
            # where few nodes share a word, only those are looked at; where most do, keeping a list costs more
            listing = 2 * work < n
            count = 0
            for e in range(indptr[i], indptr[i + 1]):
                weight = data[e]
                for f in range(t_indptr[indices[e]], t_indptr[indices[e] + 1]):
                    j = t_indices[f]
                    sums[j] += weight * t_data[f]
                    if listing and not seen[j]:
                        seen[j] = True
                        touched[count] = j
                        count += 1
            size = 0
            for c in range(count):
                j = touched[c]
                if j != i and sums[j] * QUANTUM > 0.5:  # not rounded to zero
                    size = insert(best, who, size, sums[j], j)
            if size <= k and has_direction[i]:  # all others, too, where few share a word with it
                size = 0
                for j in range(n):
                    if j != i and has_direction[j]:
                        size = insert(best, who, size, sums[j], j)
            store(best, who, size, r, k, found, similarity, tied)
            for c in range(count):
                sums[touched[c]] = 0
                seen[touched[c]] = False
            if not listing:
                sums[:] = 0


@numba.njit(parallel=True, cache=True)
def _dense_rows(sums, has_direction, rows, start, k, found, similarity, tied):  # type: ignore[no-untyped-def]
    for r in numba.prange(len(sums)):
        best = np.empty(k + 1, np.int64)
        who = np.empty(k + 1, np.int32)
        size = 0
        if has_direction[rows[r]]:
            for j in range(sums.shape[1]):
                if j != rows[r] and has_direction[j]:
                    size = insert(best, who, size, sums[r, j], j)
        store(best, who, size, start + r, k, found, similarity, tied)


@numba.njit(inline="always")
def insert(best, who, size, cosine, j):  # type: ignore[no-untyped-def]
    """Keep the best so far sorted by (similarity descending, position ascending)."""
    last = len(best) - 1
    if size > last and cosine * QUANTUM < best[last] - 1:
        return size  # most candidates leave here, before they are rounded
    value = round(cosine * QUANTUM)
    if size > last:
        if value < best[last] or (value == best[last] and j > who[last]):
            return size
        size = last
    at = size
    while at > 0 and (value > best[at - 1] or (value == best[at - 1] and j < who[at - 1])):
        best[at] = best[at - 1]
        who[at] = who[at - 1]
        at -= 1
    best[at] = value
    who[at] = j
    return size + 1


@numba.njit(inline="always")
def store(best, who, size, i, k, found, similarity, tied):  # type: ignore[no-untyped-def]
    for c in range(min(size, k)):
        found[i, c] = who[c]
        similarity[i, c] = best[c] / QUANTUM
    tied[i] = size > k and best[k] == best[k - 1]
