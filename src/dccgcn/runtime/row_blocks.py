"""Matrices whose rows are spread over processes: what code that works on its own block of rows needs from the others.

Block i of the rows is held by process i. In one process, which holds all rows, every function here returns what it is
given, so that the same code runs on one machine and on many. All processes must call the same functions in the same
order; sums are formed in the order of the blocks, so that every process gets the same bits.

Results do not depend on the number of blocks, since an SVD turns a last bit into the fifth decimal: products of rows
are formed for ``UNIT_ROWS`` at a time, wherever blocks begin, and ``unit_sum`` rounds them so that their sum is exact.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np

UNIT_ROWS = 1024  # blocks start at multiples of it
_COARSE, _FINE = 1.5 * 2.0**32, 1.5  # adding and subtracting them rounds to multiples of 2^-20 and 2^-52
_SMALL = 64 * 1024  # bytes up to which an array is sent to all processes at once instead of summed piece by piece
_SAMPLE = 64  # values of each process that choose the ranges in which ranks are found


class Peers(Protocol):
    """The processes that hold the blocks, as one of them sees them."""

    rank: int  # number of this process
    bounds: np.ndarray  # (processes + 1,): block i is the rows bounds[i] to bounds[i + 1]

    def exchange(self, parts: Sequence[np.ndarray | None]) -> list[np.ndarray | None]:
        """Send a part to each process, and return the part that each process sent here; None: nothing."""


_PEERS: ContextVar[Peers | None] = ContextVar("peers", default=None)  # None: all rows are here


@contextmanager
def spread_over(peers: Peers) -> Iterator[None]:
    """Rows are spread over these processes inside the block."""
    token = _PEERS.set(peers)
    try:
        yield
    finally:
        _PEERS.reset(token)


def block_bounds(n: int, most: int) -> np.ndarray:
    """Bounds of at most so many blocks of n rows, nearly equal, none empty."""
    units = -(-n // UNIT_ROWS)
    blocks = max(1, min(most, units))
    return np.minimum(np.arange(blocks + 1) * units // blocks * UNIT_ROWS, n)


def unit_slices(n: int) -> Iterator[slice]:
    """Slices of ``UNIT_ROWS`` that together are 0 to n."""
    return (slice(start, min(start + UNIT_ROWS, n)) for start in range(0, n, UNIT_ROWS))


def row_count(here: int) -> int:
    """Rows of all blocks, of which so many are here."""
    peers = _PEERS.get()
    return here if peers is None else int(peers.bounds[-1])


def rows_here(n: int) -> int:
    """Rows of this block, of n in all."""
    peers = _PEERS.get()
    return n if peers is None else int(peers.bounds[peers.rank + 1] - peers.bounds[peers.rank])


def first_row() -> int:
    """Position of this block's first row."""
    peers = _PEERS.get()
    return 0 if peers is None else int(peers.bounds[peers.rank])


def row_sum(part: Any) -> Any:
    """The sum over all blocks of an array of any shape, or of a number."""
    if (peers := _PEERS.get()) is None:
        return part
    array = np.asarray(part)
    flat = array.reshape(-1)
    if flat.nbytes <= _SMALL:
        total = _add(_to_all(peers, flat))
    else:  # each process sums a piece of its own
        piece = _add(_received(peers.exchange(np.array_split(flat, len(peers.bounds) - 1))))
        total = np.concatenate(_to_all(peers, piece))
    return total.reshape(array.shape) if array.shape else total[0]


def row_max(part: Any) -> Any:
    """The largest over all blocks of each entry of an array, or of a number."""
    peers = _PEERS.get()
    return part if peers is None else np.max(_to_all(peers, np.asarray(part)), axis=0)


def unit_sum(n: int, part: Callable[[slice], Any], spread: bool = True) -> np.ndarray:
    """The sum over the units of all blocks of what ``part`` returns for the rows of a unit; n rows are here.

    Each part is split into a multiple of 2^-20 and a multiple of 2^-52. Sums of multiples are exact in double precision
    up to 2^33 and 2, so that their order does not matter. ``spread``: whether other blocks have rows, too.
    """
    total: np.ndarray | None = None
    for rows in unit_slices(n) if n else [slice(0, 0)]:
        value = np.asarray(part(rows), dtype=np.float64)
        coarse = (value + _COARSE) - _COARSE
        fine = ((value - coarse) + _FINE) - _FINE
        total = np.stack([coarse, fine]) if total is None else np.add(total, [coarse, fine], out=total)
    assert total is not None
    coarse, fine = row_sum(total) if spread else total
    return np.asarray(coarse + fine)


def column_sum(part: np.ndarray) -> np.ndarray:
    """The sum over the rows of all blocks, float64; part: (rows here, …)."""
    return unit_sum(len(part), lambda rows: part[rows].sum(axis=0, dtype=np.float64))


def row_mean(part: np.ndarray) -> np.ndarray:
    """The mean over the rows of all blocks, float64; part: (rows here, …)."""
    return np.asarray(column_sum(part) / max(row_count(len(part)), 1))


def all_rows(part: np.ndarray) -> np.ndarray:
    """The rows of all blocks, which need not be those of the bounds: some of each block, for instance."""
    peers = _PEERS.get()
    return part if peers is None else np.concatenate(_to_all(peers, part))


def owned(nodes: np.ndarray) -> tuple[Any, np.ndarray]:
    """Which of the positions are of this block, and their positions in it."""
    if (peers := _PEERS.get()) is None:
        return slice(None), nodes
    low, high = peers.bounds[peers.rank], peers.bounds[peers.rank + 1]
    which = np.flatnonzero((nodes >= low) & (nodes < high))
    return which, nodes[which] - low


def take_rows(matrix: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The rows at these positions, from whichever block has them."""
    if (peers := _PEERS.get()) is None:
        return matrix[nodes]
    order = np.argsort(np.searchsorted(peers.bounds, nodes, side="right"), kind="stable")  # as the blocks send them
    found = np.concatenate(_to_all(peers, matrix[owned(nodes)[1]]))
    rows = np.empty_like(found)
    rows[order] = found
    return rows


def ranks(values: np.ndarray) -> np.ndarray:
    """1 for the smallest value of all blocks; of equal values the mean of their ranks. values: (rows here,).

    Each process finds the ranks in a range of values, so that none holds the values of all rows.
    """
    if (peers := _PEERS.get()) is None:
        return _ranks(values)
    n_processes = len(peers.bounds) - 1
    sample = np.sort(all_rows(np.quantile(values, np.linspace(0, 1, _SAMPLE)) if len(values) else values))
    limits = sample[[len(sample) * i // n_processes for i in range(1, n_processes)]]
    part_of = np.searchsorted(limits, values, side="right")
    order, counts = np.argsort(part_of, kind="stable"), np.bincount(part_of, minlength=n_processes)
    parts = _received(peers.exchange(np.split(values[order], np.cumsum(counts)[:-1])))
    below = int(all_rows(np.array([sum(map(len, parts))]))[: peers.rank].sum())
    found = _ranks(np.concatenate(parts)) + below
    back = _received(peers.exchange(np.split(found, np.cumsum([len(part) for part in parts])[:-1])))
    result = np.empty(len(values))
    result[order] = np.concatenate(back)
    return result


def _ranks(values: np.ndarray) -> np.ndarray:
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[index])


def _to_all(peers: Peers, array: np.ndarray) -> list[np.ndarray]:
    """What every process sent to all, this one the array."""
    return _received(peers.exchange([array] * (len(peers.bounds) - 1)))


def _received(parts: list[np.ndarray | None]) -> list[np.ndarray]:
    return [part for part in parts if part is not None]


def _add(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
