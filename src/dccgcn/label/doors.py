"""The server's doors: who may reach it, with what, and how many at once.

Every page in a user's browser can send requests to this machine. So each request must name a host that the server was
started for (DNS rebinding), must not come from another site, must carry the token of the printed address, and may not
be large. Answers forbid framing, foreign scripts and caching, and allow no other origin to read them.
"""

import asyncio
import hmac
import secrets
import time
from http.cookies import CookieError, SimpleCookie
from typing import Any, cast

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_BODY = 64 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_TOO_LARGE = "The request is too large."
_NO_TOKEN = "This address needs its token. Open the whole address that 'dccgcn label' printed in the terminal.\n"


class Doors:
    """Middleware around the application.

    Parameters
    ----------
    app : ASGI application
    host, port
        Where the server listens.
    token : str
        Asked of every request: in the address once, then in a cookie.
    """

    def __init__(self, app: ASGIApp, host: str, port: int, token: str) -> None:
        self.app, self.token = app, token
        names = {*LOOPBACK} if host in LOOPBACK or host == "::1" else {f"[{host}]" if ":" in host else host}
        self.hosts = {f"{name}:{port}" for name in names}
        self.cookie = f"dccgcn-{port}"  # cookies do not distinguish ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        received = 0

        async def receive_bounded() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > MAX_BODY:
                raise HTTPException(413, _TOO_LARGE)
            return message

        await self.app(scope, receive_bounded, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that may not enter; None if it may."""
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self.hosts]:
            return _refuse(421, "This server does not answer under that name.")
        origins = {f"http://{host}" for host in self.hosts}
        if any(origin not in origins for origin in headers.getlist("origin")):
            return _refuse(403, "Requests of other sites are refused.")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _refuse(403, "Requests of other sites are refused.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refuse(405, "Only GET and POST are answered.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            return _refuse(413, _TOO_LARGE)
        token = QueryParams(scope["query_string"]).get("token")
        if token is not None and scope["path"] == "/" and scope["method"] == "GET" and self._is_token(token):
            return self._enter()
        if not self._is_token(_cookie(headers, self.cookie)):
            return _refuse(403, _NO_TOKEN)
        if scope["method"] == "POST":
            if not headers.getlist("origin"):  # browsers always send it with a POST
                return _refuse(403, "Requests without an origin are refused.")
            if headers.get("content-type", "").split(";")[0].strip() != "application/json":
                return _refuse(415, "Only JSON is accepted.")
        return None

    def _is_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(errors="replace"), self.token.encode())

    def _enter(self) -> Response:
        """Move the token from the address, which is shown and kept in the history, to a cookie."""
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return response


def new_token() -> str:
    """256 random bits."""
    return secrets.token_urlsafe(32)


def _cookie(headers: Headers, name: str) -> str:
    try:
        morsel: Any = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def _refuse(status: int, text: str) -> Response:
    return PlainTextResponse(text, status_code=status)


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
