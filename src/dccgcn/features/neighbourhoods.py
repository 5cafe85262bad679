"""m-hop neighbourhoods N^m(u) of chosen nodes.

On a dense graph A² is more than half full (Flickr: 33 million entries), so the whole is never built: rows come in
blocks of bounded size.
"""

from collections.abc import Iterator

import numba
import numpy as np
import scipy.sparse as sp

from dccgcn.kernels import over_rows

_MAX_ENTRIES = 4_000_000  # per block: some 60 MB with weights


def hops(adjacency: sp.csr_array, rows: np.ndarray, m: int) -> sp.csr_array:
    """N^m of each row node: all nodes within m edges but itself. Shape (len(rows), n), values 1."""
    blocks = [block for _, block in hop_blocks(adjacency, rows, m, max_entries=np.iinfo(np.int64).max)]
    return blocks[0] if blocks else sp.csr_array((0, adjacency.shape[1]), dtype=np.float32)


def hop_blocks(
    adjacency: sp.csr_array, rows: np.ndarray, m: int, max_entries: int = _MAX_ENTRIES
) -> Iterator[tuple[np.ndarray, sp.csr_array]]:
    """The nodes within m hops, in blocks of rows with at most ``max_entries`` entries each (but at least one row)."""
    rows = np.asarray(rows, dtype=np.int64)
    counts = np.empty(len(rows), np.int64)
    search = adjacency.indptr, adjacency.indices, m

    def buffers() -> tuple[np.ndarray, np.ndarray]:
        return np.full(adjacency.shape[0], -1), np.empty(adjacency.shape[0], np.int32)

    over_rows(_reach, len(rows), *search, rows, counts, np.empty(0, np.int64), np.empty(0, np.int32), buffers=buffers)
    start = 0
    while start < len(rows):
        within = np.cumsum(counts[start:])
        stop = start + max(1, int(np.searchsorted(within, max_entries, side="right")))
        indptr = np.concatenate([[0], within[: stop - start]])
        indices = np.empty(indptr[-1], np.int32)
        block = slice(start, stop)
        over_rows(_reach, stop - start, *search, rows[block], counts[block], indptr, indices, buffers=buffers)
        values = np.ones(len(indices), np.float32)
        yield rows[start:stop], sp.csr_array((values, indices, indptr), shape=(stop - start, adjacency.shape[1]))
        start = stop


@numba.njit(cache=True, nogil=True)
def _reach(first, last, indptr, indices, m, rows, counts, out_indptr, out, stamp, queue):  # type: ignore[no-untyped-def]
    """Breadth-first search from the row nodes ``first`` to ``last``.

    indptr, indices : CSR of the adjacency
    rows : (m,) int64
    counts : (m,) int64, written: nodes within m edges
    out_indptr, out : CSR of the result, ``out`` written; an empty out_indptr: only count
    stamp, queue : (n,) int64 and int32, buffers; stamp is -1
    """
    for r in range(first, last):
        queue[0] = rows[r]
        stamp[rows[r]] = r
        head, tail = 0, 1
        for _ in range(m):
            level_end = tail
            while head < level_end:
                u = queue[head]
                head += 1
                for e in range(indptr[u], indptr[u + 1]):
                    v = indices[e]
                    if stamp[v] != r:
                        stamp[v] = r
                        queue[tail] = v
                        tail += 1
        counts[r] = tail - 1
        if len(out_indptr):
            out[out_indptr[r] : out_indptr[r + 1]] = np.sort(queue[1:tail])
