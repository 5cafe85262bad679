"""The kernels of the approximate search: lists of nodes that share words, and comparisons of those that met there.

Each output row is written by one thread and depends on nothing that another one writes.
"""

import math
from typing import NamedTuple

import numba
import numpy as np

from dccgcn.operators.exact_knn import insert, store

_TASK = 256  # rows of one task
_MOST = 255  # that a counter of meetings holds

_jit = numba.njit(cache=True)
_jit_parallel = numba.njit(parallel=True, cache=True)


class Rows(NamedTuple):
    """The features, row after row."""

    ends: np.ndarray  # (n + 1,) int64, where rows begin and end
    indices: np.ndarray  # columns, ascending in each row; none where all are filled
    data: np.ndarray
    norm: np.ndarray  # (n,) float64
    d: int


@_jit_parallel
def norms(ends, data):  # type: ignore[no-untyped-def]
    norm = np.empty(len(ends) - 1)
    for i in numba.prange(len(norm)):
        total = 0.0
        for e in range(ends[i], ends[i + 1]):
            total += np.float64(data[e]) * np.float64(data[e])
        norm[i] = np.sqrt(total)
    return norm


@_jit_parallel
def most_telling(x, with_word, most):  # type: ignore[no-untyped-def]
    """The columns of each row with the largest value² / nodes that have it, ascending, (n, most)."""
    chosen = np.full((len(x.norm), most), -1, np.int32)
    for i in numba.prange(len(x.norm)):
        best = np.empty(most, np.int64)
        who = np.empty(most, np.int32)
        size = 0
        for e in range(x.ends[i], x.ends[i + 1]):
            if x.data[e] != 0:
                telling = 2 * math.log(abs(x.data[e]) / x.norm[i]) - math.log(with_word[x.indices[e]])
                size = insert(best, who, size, telling, x.indices[e])
        _ascending(who[:size])
        chosen[i, :size] = who[:size]
    return chosen


@_jit_parallel
def largest(cosine, has_direction, chosen):  # type: ignore[no-untyped-def]
    """The columns of the largest values of each row, ascending."""
    most = chosen.shape[1]
    for i in numba.prange(len(cosine)):
        if has_direction[i]:
            best = np.empty(most, np.int64)
            who = np.empty(most, np.int32)
            size = 0
            for j in range(cosine.shape[1]):
                size = insert(best, who, size, cosine[i, j], j)
            _ascending(who)
            chosen[i] = who


@numba.njit(inline="always")
def _ascending(few):  # type: ignore[no-untyped-def]
    for at in range(1, len(few)):
        while at > 0 and few[at - 1] > few[at]:
            few[at - 1], few[at] = few[at], few[at - 1]
            at -= 1


@_jit
def _buckets(words, size, out):  # type: ignore[no-untyped-def]
    """The buckets of every one, two and three of these words, of which -1 ends the list; how many there are."""
    count = 0
    for p in range(len(words)):
        if words[p] < 0:
            break
        out[count] = _hash(words[p], words[p], words[p], size)
        count += 1
        for q in range(p):
            out[count] = _hash(words[q], words[p], words[p], size)
            count += 1
            for r in range(q):
                out[count] = _hash(words[r], words[q], words[p], size)
                count += 1
    return count


@_jit
def _combinations(words):  # type: ignore[no-untyped-def]
    """How many are one, two or three of so many words."""
    return words + words * (words - 1) // 2 + words * (words - 1) * (words - 2) // 6


@numba.njit(inline="always")
def _hash(a, b, c, size):  # type: ignore[no-untyped-def]
    """A bucket for three words; size is a power of two."""
    h = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
    h = (h ^ (h >> np.uint64(29)) ^ np.uint64(c)) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
    return np.int64((h ^ (h >> np.uint64(29))) & np.uint64(size - 1))


@_jit
def lists(words, size):  # type: ignore[no-untyped-def]
    """The nodes that have one, two or three words in common, by bucket: those of b are nodes[ends[b]:ends[b+1]]."""
    buckets = np.empty(_combinations(words.shape[1]), np.int64)
    ends = np.zeros(size + 1, np.int64)
    for i in range(len(words)):
        for b in buckets[: _buckets(words[i], size, buckets)]:
            ends[b + 1] += 1
    ends = np.cumsum(ends)
    nodes = np.empty(ends[size], np.int32)
    at = ends[:-1].copy()
    for i in range(len(words)):
        for b in buckets[: _buckets(words[i], size, buckets)]:
            nodes[at[b]] = i
            at[b] += 1
    return ends, nodes


@_jit
def _compare(i, candidates, x, own, found, similarity, tied):  # type: ignore[no-untyped-def]
    """The k best of the candidates, which may repeat; ``own`` is all zeros before and after."""
    sparse, k = len(x.indices) > 0, found.shape[1]
    best = np.empty(k + 1, np.int64)
    who = np.empty(k + 1, np.int32)
    for e in range(x.ends[i], x.ends[i + 1]):
        own[x.indices[e] if sparse else e - x.ends[i]] = x.data[e]
    candidates.sort()
    size, last = 0, -1
    for j in candidates:
        if j != last:
            last = j
            dot = 0.0
            if sparse:
                for e in range(x.ends[j], x.ends[j + 1]):
                    dot += own[x.indices[e]] * x.data[e]
            else:
                for c in range(x.d):
                    dot += own[c] * x.data[x.ends[j] + c]
            size = insert(best, who, size, dot / (x.norm[i] * x.norm[j]), j)
    store(best, who, size, i, k, found, similarity, tied)
    for e in range(x.ends[i], x.ends[i + 1]):
        own[x.indices[e] if sparse else e - x.ends[i]] = 0


@_jit_parallel
def meet(start, stop, words, ends, nodes, x, entries, compared, first, found, similarity, tied):  # type: ignore[no-untyped-def]
    """Each node with those that it meets most often in the shortest lists it is on."""
    for task in numba.prange((stop - start + _TASK - 1) // _TASK):
        low, high = start + task * _TASK, min(start + (task + 1) * _TASK, stop)
        _meet(low, high, words, ends, nodes, x, entries, compared, first, found, similarity, tied)


@_jit
def _meet(low, high, words, ends, nodes, x, entries, compared, first, found, similarity, tied):  # type: ignore[no-untyped-def]
    k = found.shape[1]
    meetings = np.zeros(len(words), np.uint8)
    seen = np.empty(len(words), np.int32)
    often = np.empty(_MOST + 1, np.int64)  # how many nodes were met so often
    buckets = np.empty(_combinations(words.shape[1]), np.int64)
    length = np.empty(len(buckets), np.int64)
    candidates = np.empty(compared + len(first), np.int32)
    own = np.zeros(x.d)
    for i in range(low, high):
        on = _buckets(words[i], len(ends) - 1, buckets)
        for b in range(on):
            length[b] = ends[buckets[b] + 1] - ends[buckets[b]]
        often[:] = 0
        count, left = 0, entries
        for b in np.argsort(length[:on]):
            if length[b] > left and left < entries:
                break
            left -= length[b]
            for e in range(ends[buckets[b]], ends[buckets[b] + 1]):
                j = nodes[e]
                times = meetings[j]
                if times == 0:
                    seen[count] = j
                    count += 1
                if times < _MOST:
                    meetings[j] = times + 1
                    often[times] -= 1
                    often[times + 1] += 1
        often[meetings[i]] -= 1
        meetings[i] = 0  # everybody meets himself
        least, more = _MOST, often[_MOST]
        while least > 1 and more + often[least - 1] <= compared:
            least -= 1
            more += often[least]
        size = 0
        for c in range(count):
            if meetings[seen[c]] >= least and size < compared:
                candidates[size] = seen[c]
                size += 1
            meetings[seen[c]] = 0
        if size <= k and x.norm[i] > 0:
            for j in first:
                if j != i:
                    candidates[size] = j
                    size += 1
        _compare(i, candidates[:size], x, own, found, similarity, tied)


@_jit_parallel
def ask_around(lists, fresh, x, found, similarity, tied):  # type: ignore[no-untyped-def]
    """Each node with its neighbours and theirs; where neither of the two steps is fresh, an earlier round did that."""
    for task in numba.prange((len(lists) + _TASK - 1) // _TASK):
        _ask_around(task * _TASK, min((task + 1) * _TASK, len(lists)), lists, fresh, x, found, similarity, tied)


@_jit
def _ask_around(low, high, lists, fresh, x, found, similarity, tied):  # type: ignore[no-untyped-def]
    width = lists.shape[1]
    candidates = np.empty(width + width * width, np.int32)
    own = np.zeros(x.d)
    for i in range(low, high):
        size = 0
        for a in range(width):
            j = lists[i, a]
            if j >= 0:
                candidates[size] = j
                size += 1
                for b in range(width):
                    other = lists[j, b]
                    if (fresh[i, a] or fresh[j, b]) and other >= 0 and other != i:
                        candidates[size] = other
                        size += 1
        _compare(i, candidates[:size], x, own, found, similarity, tied)


@_jit_parallel
def not_among(new, old):  # type: ignore[no-untyped-def]
    """Which entries of each row of ``new`` are not in the same row of ``old``, (n, width)."""
    result = np.ones(new.shape, np.bool_)
    for i in numba.prange(len(new)):
        for a in range(new.shape[1]):
            for b in range(old.shape[1]):
                if new[i, a] == old[i, b]:
                    result[i, a] = False
    return result
