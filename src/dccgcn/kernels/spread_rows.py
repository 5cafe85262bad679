"""A block of rows of a square matrix whose vectors are spread over processes in the same blocks.

Its columns are the block's own rows, then the halo: rows of other blocks that it needs. They are fetched before each
product.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dccgcn.runtime import Peers


@dataclass(frozen=True, eq=False)
class Halo:
    """Which rows a block sends and receives."""

    peers: Peers
    sent: Sequence[np.ndarray]  # own rows for each process, by their positions here

    @property
    def largest_block(self) -> int:
        """Rows of the largest block, by which all processes choose equal column blocks."""
        return int(np.diff(self.peers.bounds).max())

    def fetch(self, own: np.ndarray) -> np.ndarray:
        """The halo's rows of a matrix of which this block has its own rows."""
        parts = self.peers.exchange([own[rows] if len(rows) else None for rows in self.sent])
        return np.concatenate([np.empty((0, *own.shape[1:]), own.dtype), *(part for part in parts if part is not None)])


class RowBlock(sp.csr_array):
    """Rows of a matrix, (own rows, own rows + halo)."""

    halo: Halo


def halo_of(matrix: sp.csr_array) -> Halo | None:
    """None for a matrix with all of its rows."""
    return getattr(matrix, "halo", None)


def with_halo(matrix: sp.csr_array, dense: np.ndarray) -> np.ndarray:
    """The rows that the matrix multiplies: the given ones, and below them its halo's, if it has one."""
    halo = halo_of(matrix)
    return dense if halo is None else np.concatenate([dense, halo.fetch(dense)])


def row_block(matrix: sp.csr_array, peers: Peers) -> RowBlock:
    """The rows of this process. Reads no others of a memory-mapped matrix; learns which rows the others need."""
    low, high = (int(bound) for bound in peers.bounds[peers.rank : peers.rank + 2])
    indptr = np.asarray(matrix.indptr[low : high + 1], np.int64)
    columns = np.asarray(matrix.indices[indptr[0] : indptr[-1]])
    data = np.array(matrix.data[indptr[0] : indptr[-1]])
    is_own = (columns >= low) & (columns < high)
    wanted = np.unique(columns[~is_own])
    local = np.where(is_own, columns - low, high - low + np.searchsorted(wanted, columns)).astype(np.int32)
    by_owner = np.split(wanted, np.searchsorted(wanted, peers.bounds[1:-1]))
    asked = peers.exchange([rows if len(rows) else None for rows in by_owner])
    sent = [np.empty(0, np.int64) if rows is None else rows - low for rows in asked]
    shape = high - low, high - low + len(wanted)
    block = RowBlock((data, local, (indptr - indptr[0]).astype(np.int32)), shape=shape)
    block.halo = Halo(peers, sent)
    return block
