"""The server's doors: who may reach it, and with what.

Every page in a user's browser can send requests to this machine. So each request must name a host that the server was
started for (DNS rebinding), must not come from another site, must carry the token of the printed address, and may not
be large. Answers forbid framing, foreign scripts and caching, and allow no other origin to read them.
"""

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
        given = QueryParams(scope["query_string"]).get("token")
        if given is not None and scope["path"] == "/" and scope["method"] == "GET" and self._is_token(given):
            return self._enter()
        if not self._is_token(_cookie(headers, self.cookie)):
            return _refuse(403, _NO_TOKEN)
        if scope["method"] == "POST":
            if not headers.getlist("origin"):  # browsers always send it with a POST
                return _refuse(403, "Requests without an origin are refused.")
            if headers.get("content-type", "").split(";")[0].strip() != "application/json":
                return _refuse(415, "Only JSON is accepted.")
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(errors="replace"), self.token.encode())

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
