"""Exact cosine k nearest neighbours of the features (Eq. 4), with a fixed rule for ties.

The rule: similarity descending, then node position ascending. Ties are common with binary features (a third of Cora's
nodes tie at the 6th neighbour), so without a rule the graph would change with the number of threads. Similarities are
computed in double precision and count as equal when they agree to nine decimals: two sums that are equal on paper may
differ in their last bits.

Eq. 4 divides by the similarity; only the ranking matters, so the division is never made and zero or negative
similarities rank last. A row of zeros has no direction: it has no neighbours and is none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import SettingsError
from dccgcn.kernels import DENSE_ABOVE, dense_knn, over_rows, ranking_buffers, search_buffers, sparse_knn
from dccgcn.runtime import kernel_threads

_BLOCK = 512  # rows per block; results do not depend on it
_DENSE_SPEEDUP = 64  # products of dense rows in the time of one of sparse rows
_RANKING_COST = 4  # products of sparse rows in the time of ranking one pair


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The k nearest neighbours of each node."""

    indices: np.ndarray  # (n, k) int32, nearest first; -1 where a node has fewer
    similarity: np.ndarray  # (n, k) float32
    tied: np.ndarray  # (n,) bool: the k-th and the next are equally similar, and the rule decided
    recall: float | None = None  # share that is at least as similar as the exact k-th; None: the search was exact

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the kernels write."""
        return self.indices, self.similarity, self.tied


def empty_neighbours(n: int, k: int) -> Neighbours:
    """No neighbours yet, for a kernel to fill in."""
    return Neighbours(np.full((n, k), -1, np.int32), np.zeros((n, k), np.float32), np.zeros(n, bool))


def exact_knn(
    features: Any,
    k: int,
    block: int = _BLOCK,
    progress: Callable[[int, int], None] | None = None,
    rows: np.ndarray | None = None,
) -> Neighbours:
    """The k most similar nodes of each node, never itself. Features are an array or a SciPy sparse matrix.

    rows: search for these nodes only, in their order; omitted: for all.
    """
    check_k(k, int(features.shape[0]))
    rows = np.arange(features.shape[0]) if rows is None else rows
    m = len(rows)
    found = empty_neighbours(m, k)
    search = _dense_blocks if is_dense(features) else _sparse_blocks
    for done in search(features, rows, k, block, found):
        if progress:
            progress(done, m)
    return found


def check_k(k: int, n: int) -> None:
    """Refuse a k of more than the n - 1 other nodes."""
    if not 1 <= k < n:
        raise SettingsError(
            f"k = {k} nearest neighbours cannot be found among {n} nodes.", f"Choose k from 1 to {n - 1}."
        )


def is_dense(features: Any) -> bool:
    """Whether so many values are non-zero that a dense product is faster."""
    filled = features.nnz if sp.issparse(features) else np.count_nonzero(features)
    return bool(filled > DENSE_ABOVE * features.shape[0] * features.shape[1])


def exact_work(features: Any) -> float:
    """Products that an exact search for all nodes takes: one for each pair of nodes and column that both have.

    Dense features take one for all pairs and columns, each a fraction of the time, since columns are contiguous.
    """
    n, d = features.shape
    if is_dense(features):
        return float(n) * n * (_RANKING_COST + d / _DENSE_SPEEDUP)
    frequency = np.bincount(features.indices, minlength=d) if sp.issparse(features) else (features != 0).sum(axis=0)
    return float((frequency.astype(np.float64) ** 2).sum())


def _sparse_blocks(features, rows, k, block, found):  # type: ignore[no-untyped-def]
    x = sp.csr_array(features, dtype=np.float64, copy=True)
    norm = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).reshape(-1))
    x.data /= np.repeat(np.where(norm > 0, norm, 1), np.diff(x.indptr))
    x_t = sp.csr_array(x.T)  # the inverted index: the nodes that have a column
    wide = block * kernel_threads()
    index = *_int32(x), x.data, *_int32(x_t), x_t.data, norm > 0
    for start in range(0, len(rows), wide):
        part = slice(start, min(start + wide, len(rows)))
        results = rows[part], *(array[part] for array in found.arrays)
        count = part.stop - start
        over_rows(
            sparse_knn, count, *index, *results, buffers=lambda: search_buffers(len(norm), k), cost=count * len(norm)
        )
        yield part.stop


def _int32(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """indptr and indices. For int64 the kernel would be compiled again."""
    return matrix.indptr.astype(np.int32, copy=False), matrix.indices.astype(np.int32, copy=False)


def _dense_blocks(features, rows, k, block, found):  # type: ignore[no-untyped-def]
    x = features.toarray() if sp.issparse(features) else np.asarray(features)
    x = x.astype(np.float64)
    norm = np.sqrt((x * x).sum(axis=1))
    x /= np.where(norm > 0, norm, 1)[:, None]
    for start in range(0, len(rows), block):
        part = slice(start, min(start + block, len(rows)))
        results = rows[part], *(array[part] for array in found.arrays)
        over_rows(
            dense_knn, part.stop - start, x[rows[part]] @ x.T, norm > 0, *results, buffers=lambda: ranking_buffers(k)
        )
        yield part.stop
