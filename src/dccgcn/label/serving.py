"""Serve a session until it is stopped."""

import socket
import sys
import webbrowser
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn

from dccgcn.errors import DccgcnError
from dccgcn.label.doors import BACKLOG, MAX_CONNECTIONS, BoundedProtocol, Doors, new_token
from dccgcn.label.server import application
from dccgcn.label.session import Session

PORT = 8642
SWITCH = 0.001  # seconds after which a fit gives way to a request
_ALL_INTERFACES = ("", "0.0.0.0", "::", "*")


class Server(uvicorn.Server):
    """The server of a session. Streams of pages end as soon as it is told to stop."""

    def __init__(self, session: Session, app: Doors) -> None:
        options: dict[str, Any] = {"limit_concurrency": 2 * MAX_CONNECTIONS, "backlog": BACKLOG}
        options |= {"http": BoundedProtocol, "ws": "none", "timeout_graceful_shutdown": 1}
        super().__init__(uvicorn.Config(app, log_level="error", access_log=False, **options))
        self._session = session

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._session.closed = True
        super().handle_exit(sig, frame)


def serve(session: Session, host: str, port: int | None, on_address: Callable[[str], None], open_browser: bool) -> None:
    """Listen, give the address with its token, and answer until Ctrl-C.

    on_address : called with the address of the page.
    port : None: the usual one, or any that is free.
    """
    listening = listen(host, port)
    number, token = int(listening.getsockname()[1]), new_token()
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{number}/?token={token}"
    app = application(session, host, number, token)
    sys.setswitchinterval(SWITCH)
    session.start()
    try:
        on_address(address)
        if open_browser:
            webbrowser.open(address)
        Server(session, app).run(sockets=[listening])
    finally:
        session.close()
        listening.close()


def listen(host: str, port: int | None) -> socket.socket:
    if host in _ALL_INTERFACES:
        raise DccgcnError(
            "The server does not listen on all interfaces at once.",
            "Name one address of this machine, such as --host 192.168.1.5, or leave --host out.",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tries = [PORT, 0] if port is None else [port]
    for number in tries:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(BACKLOG)  # requests wait from now on, so the address may be told
            return listening
        except (OSError, OverflowError) as error:
            listening.close()
            reason = error
    raise DccgcnError(f"{host} port {tries[-1]} cannot be listened on ({reason}).", "Choose another --host or --port.")
