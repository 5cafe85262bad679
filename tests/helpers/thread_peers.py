"""Peers that are threads of one process."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np


class ThreadPeers:
    """One of several threads that hold blocks of rows; those of a run share the box and the barrier."""

    def __init__(self, rank: int, bounds: np.ndarray, box: dict[tuple[int, int], Any], barrier: Barrier) -> None:
        self.rank, self.bounds, self._box, self._barrier = rank, bounds, box, barrier

    def exchange(self, parts: Sequence[np.ndarray | None]) -> list[np.ndarray | None]:
        for receiver, part in enumerate(parts):
            self._box[self.rank, receiver] = None if part is None else part.copy()
        self._barrier.wait(60)
        received = [self._box[sender, self.rank] for sender in range(len(parts))]
        self._barrier.wait(60)
        return received

    def in_stage(self, stage: str, has_result: bool, build: Callable[[], None], read: Callable[[], Any]) -> Any:
        build()
        return read()


def on_blocks(bounds: np.ndarray, work: Callable[[ThreadPeers], Any]) -> list[Any]:
    """What each thread returns."""
    n = len(bounds) - 1
    box: dict[tuple[int, int], Any] = {}
    barrier = Barrier(n)

    def one(rank: int) -> Any:
        try:
            return work(ThreadPeers(rank, bounds, box, barrier))
        except BaseException:
            barrier.abort()  # the others would wait
            raise

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(one, range(n)))
