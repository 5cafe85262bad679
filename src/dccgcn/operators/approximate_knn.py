"""Nearly the k nearest neighbours, for graphs on which an exact search takes hours: time grows with the nodes.

Two nodes that are much alike share many words, and so many pairs and triples of words. Those are rare where words are
not, so each node looks through the shortest lists of nodes that share one, two or three words with it, until it has
seen a fixed number of entries. Those that it met most often are compared exactly, and in a few rounds neighbours of
neighbours as well.

Dense features have no words. There, nodes drawn at random stand for words, and a node "has" those it is nearest to.

Similarities and the rule for ties are those of the exact search, and the result is the same for every number of
threads. How good it is, is measured: ``recall`` is the share of neighbours that are at least as similar as the exact
k-th one, on a sample of the nodes. Of nodes that are equally similar it does not matter which was found.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.operators import candidate_kernels
from dccgcn.operators.exact_knn import Neighbours, check_k, exact_knn, exact_work, is_dense

MOST_WORK = 6e9  # products of an exact search: some ten seconds on a core

_WORDS = 10  # of each node, those that say most
_ENTRIES = 2048  # of lists, that a node looks through
_COMPARED = 128  # nodes that it is then compared with
_KEPT = 3  # times k neighbours that are kept until the last round
_ROUNDS = 3  # of looking at neighbours of neighbours
_LANDMARKS = 1024  # nodes that stand for words
_SAMPLE = 1000  # nodes whose neighbours are searched exactly, too
_BLOCK = 4096  # rows between two words on progress


def neighbours(features: Any, k: int, progress: Callable[[int, int], None] | None = None) -> Neighbours:
    """The k most similar nodes of each node: exact where that can be afforded, else nearly so, with its recall."""
    if exact_work(features) <= MOST_WORK:
        return exact_knn(features, k, progress=progress)
    found = approximate_knn(features, k, progress)
    n = len(found.indices)
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, _SAMPLE), replace=False))
    return replace(found, recall=recall(found, exact_knn(features, k, block=32, rows=rows), rows))


def recall(found: Neighbours, exact: Neighbours, rows: np.ndarray) -> float:
    """Share of the neighbours of these nodes that are at least as similar as the exact k-th one."""
    there = exact.indices >= 0
    least = np.where(there, exact.similarity, np.inf).min(axis=1, keepdims=True)
    good = (found.indices[rows] >= 0) & (found.similarity[rows] >= least)
    return float(good[there].mean()) if there.any() else 1.0


def approximate_knn(features: Any, k: int, progress: Callable[[int, int], None] | None = None) -> Neighbours:
    """Most of the k most similar nodes of each node, never itself."""
    n = int(features.shape[0])
    check_k(k, n)
    x = _rows(features)
    words = _nearest_landmarks(x) if len(x.indices) == 0 else _telling_words(x)
    size = 1 << (32 * n - 1).bit_length()  # buckets of lists: few words share one by chance
    ends, nodes = candidate_kernels.lists(words, size)
    kept = min(_KEPT * k, n - 1)
    first = np.flatnonzero(x.norm > 0)[: kept + 2].astype(np.int32)  # for nodes that are like nobody
    met = _none(n, kept)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        candidate_kernels.meet(start, stop, words, ends, nodes, x, _ENTRIES, _COMPARED, first, *_arrays(met))
        if progress:
            progress(stop - 1, n)  # the last step is that of the rounds
    fresh = np.ones(met.indices.shape, bool)
    for left in range(_ROUNDS, 0, -1):
        better = _none(n, kept if left > 1 else k)
        candidate_kernels.ask_around(met.indices, fresh, x, *_arrays(better))
        fresh = candidate_kernels.not_among(better.indices, met.indices)
        met = better
    if progress:
        progress(n, n)
    return met


def _rows(features: Any) -> candidate_kernels.Rows:
    """Features as flat arrays; without column numbers where every column is filled."""
    n, d = features.shape
    if is_dense(features):
        x = features.toarray() if sp.issparse(features) else np.ascontiguousarray(features)
        ends, columns, data = np.arange(n + 1, dtype=np.int64) * d, np.empty(0, np.int32), x.reshape(-1)
    else:
        x = sp.csr_array(features)
        if not x.has_canonical_format:
            x = x.copy()
            x.sum_duplicates()
        ends, columns, data = x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data
    data = data.astype(np.float32)  # a copy: a graph's arrays are read-only, for which numba would compile again
    return candidate_kernels.Rows(ends, columns, data, candidate_kernels.norms(ends, data), d)


def _telling_words(x: candidate_kernels.Rows) -> np.ndarray:
    """The words of each node that are heavy in it and rare elsewhere, (n, words); -1 where it has fewer."""
    with_word = np.bincount(x.indices, minlength=x.d)
    return candidate_kernels.most_telling(x, with_word, _WORDS)


def _nearest_landmarks(x: candidate_kernels.Rows) -> np.ndarray:
    """Nodes drawn at random stand for words; each node has those that it is nearest to, (n, words)."""
    some = np.flatnonzero(x.norm > 0)
    chosen = np.random.default_rng(0).permutation(some)[: min(_LANDMARKS, max(_WORDS, len(some) // 8))]
    dense = x.data.reshape(len(x.norm), x.d)
    landmarks = dense[chosen] / x.norm[chosen, None]  # double precision, as the norms are
    found = _none(len(x.norm), min(_WORDS, len(chosen)))
    for start in range(0, len(x.norm), _BLOCK):
        rows = slice(start, start + _BLOCK)
        cosine = dense[rows] @ landmarks.T / np.maximum(x.norm[rows, None], 1e-300)
        candidate_kernels.largest(cosine, x.norm[rows] > 0, found.indices[rows])
    return found.indices


def _none(n: int, k: int) -> Neighbours:
    return Neighbours(np.full((n, k), -1, np.int32), np.zeros((n, k), np.float32), np.zeros(n, bool))


def _arrays(found: Neighbours) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return found.indices, found.similarity, found.tied
