"""Processes of a Ray cluster that hold blocks of rows, and the messages between them.

A stage is a part of the work whose result each process keeps on disk. The messages of a stage stay in Ray's object
store until all processes have finished it. A process that was killed starts again: it finds its finished stages, and
repeats the one that it was in with the messages that it had received. The others only wait for it.
"""

import asyncio
import os
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_INLINE = 32 * 1024  # bytes up to which an array travels in the message itself
_PAUSE = 0.2  # seconds before a message whose sender has died is asked for again
_BEFORE = ""  # the stage of messages outside of any stage, which stay until the end


@dataclass(frozen=True)
class Traffic:
    """What one process did in one stage."""

    stage: str
    rank: int
    steps: int  # exchanges
    sent_bytes: int
    received_bytes: int
    seconds: float


class Hub:
    """An actor that knows which message is where; it holds none but the smallest."""

    def __init__(self, n_processes: int) -> None:
        self._n = n_processes
        self._changed = asyncio.Condition()
        self._posted: dict[str, dict[int, dict[int, list[Any]]]] = defaultdict(lambda: defaultdict(dict))
        self._has: dict[str, dict[int, bool]] = defaultdict(dict)
        self._finished: dict[str, dict[int, Traffic]] = defaultdict(dict)
        self._pids: dict[int, int] = {}

    async def begin(self, stage: str, rank: int, has_result: bool, pid: int) -> bool:
        """Whether a stage is finished by all, so that its results are on disk; waits until all have asked.

        A process that asks again gets the same answer as before, unless all have finished the stage since.
        """
        async with self._changed:
            self._pids[rank] = pid
            self._has[stage].setdefault(rank, has_result)
            self._changed.notify_all()
            await self._changed.wait_for(lambda: len(self._has[stage]) == self._n)
            return self.is_finished(stage) or all(self._has[stage].values())

    def is_finished(self, stage: str) -> bool:
        return len(self._finished[stage]) == self._n

    async def finish(self, traffic: Traffic) -> None:
        """A process has kept its result of a stage; when all have, the messages are dropped."""
        async with self._changed:
            self._finished[traffic.stage][traffic.rank] = traffic
            if self.is_finished(traffic.stage):
                self._posted.pop(traffic.stage, None)

    async def post(self, stage: str, step: int, rank: int, parts: list[Any]) -> None:
        """Messages of a process to each process. One that starts again posts again: its first ones may be lost."""
        async with self._changed:
            self._posted[stage][step][rank] = parts
            self._changed.notify_all()

    async def collect(self, stage: str, step: int, rank: int) -> list[Any]:
        """The messages of all processes to this one, as soon as all have posted."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self._posted[stage][step]) == self._n)
            return [self._posted[stage][step][sender][rank] for sender in range(self._n)]

    async def traffic(self) -> list[Traffic]:
        """Of all stages that were worked on and are finished, in their order."""
        return [found[rank] for found in self._finished.values() for rank in sorted(found) if len(found) == self._n]


class RayPeers:
    """The ``Peers`` of one process, which talk by a hub and the object store."""

    def __init__(self, hub: Any, rank: int, bounds: np.ndarray) -> None:
        self._hub, self.rank, self.bounds = hub, rank, bounds
        self._start(_BEFORE)
        self._outside = 0  # exchanges outside of stages

    def exchange(self, parts: Sequence[np.ndarray | None]) -> list[np.ndarray | None]:
        """One message to each process and from each."""
        import ray

        own, others = parts[self.rank], [part for i, part in enumerate(parts) if i != self.rank and part is not None]
        self._sent += sum(part.nbytes for part in others)
        references: dict[int, Any] = {}  # an array that goes to several is stored once

        def message(part: np.ndarray | None) -> Any:
            if part is None or part.nbytes <= _INLINE:
                return part
            if id(part) not in references:
                references[id(part)] = ray.put(part)
            return references[id(part)]

        messages = [None if i == self.rank else message(part) for i, part in enumerate(parts)]
        # inside a list: Ray would replace references in arguments by their values
        ray.get(self._hub.post.remote(self._stage, self._step, self.rank, messages))
        received = self._receive()
        received[self.rank] = own
        self._received += sum(part.nbytes for i, part in enumerate(received) if i != self.rank and part is not None)
        self._step += 1
        return received

    def _receive(self) -> list[np.ndarray | None]:
        import ray

        while True:
            found = ray.get(self._hub.collect.remote(self._stage, self._step, self.rank))
            try:
                return [ray.get(part) if isinstance(part, ray.ObjectRef) else part for part in found]
            except ray.exceptions.ObjectLostError:  # also OwnerDiedError: its sender will post it again
                time.sleep(_PAUSE)

    def in_stage(self, stage: str, has_result: bool, build: Callable[[], None], read: Callable[[], Any]) -> Any:
        """``read()`` after ``build()``, or at once if all processes have the result of this stage."""
        import ray

        if not ray.get(self._hub.begin.remote(stage, self.rank, has_result, os.getpid())):
            self._outside = self._step
            self._start(stage)
            build()
            seconds = time.perf_counter() - self._began
            done = Traffic(stage, self.rank, self._step, self._sent, self._received, seconds)
            ray.get(self._hub.finish.remote(done))
            self._start(_BEFORE, self._outside)
        return read()

    def _start(self, stage: str, step: int = 0) -> None:
        self._stage, self._step, self._sent, self._received = stage, step, 0, 0
        self._began = time.perf_counter()


def limit_memory(more: int) -> None:
    """Let this process allocate so many bytes more than it has now. Files mapped for reading do not count."""
    with open("/proc/self/status", encoding="ascii") as file:
        data = next(int(line.split()[1]) for line in file if line.startswith("VmData:"))
    limit = data * 1024 + more
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
