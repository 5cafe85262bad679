"""Connections of the server, bounded in number and in the time until a request is complete."""

import asyncio
import time
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 128  # beyond them the oldest one without a complete request is closed
PATIENCE = 10.0  # seconds until a connection without a new request is closed
BACKLOG = 64  # connections accepted at once: each has an open file until it is closed


class BoundedProtocol(H11Protocol):
    """HTTP, but nobody holds a connection by sending half a request or none."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since, self._last = time.monotonic(), self.cycle
        self._timer = self.loop.call_later(PATIENCE, self._look)
        if len(self.connections) > MAX_CONNECTIONS:
            others = cast("list[BoundedProtocol]", [one for one in self.connections if one is not self])
            idle = [one for one in others if not one.is_answering]
            if idle:
                min(idle, key=lambda one: one.since).abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def is_answering(self) -> bool:
        """Whether a request was received completely and is not answered yet."""
        cycle: Any = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    def abort(self) -> None:
        self.connections.discard(self)
        self.transport.abort()

    def _look(self) -> None:
        if not self.is_answering and self.cycle is self._last:
            self.abort()
            return
        self._last = self.cycle
        self._timer = self.loop.call_later(PATIENCE, self._look)
