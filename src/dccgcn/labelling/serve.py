"""Serve a session until it is stopped."""

import socket
import sys
import webbrowser
from collections.abc import Callable

import uvicorn

from dccgcn.errors import DccgcnError
from dccgcn.labelling.doors import new_token
from dccgcn.labelling.server import application
from dccgcn.labelling.session import Session

PORT = 8642
SWITCH = 0.001  # seconds after which a fit gives way to a request
_ALL_INTERFACES = ("", "0.0.0.0", "::", "*")


def serve(session: Session, host: str, port: int | None, tell: Callable[[str], None], open_browser: bool) -> None:
    """Listen, tell the address with its token, and answer until Ctrl-C.

    port : None: the usual one, or any that is free.
    """
    listening = listen(host, port)
    number, token = int(listening.getsockname()[1]), new_token()
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{number}/?token={token}"
    app = application(session, host, number, token)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1, ws="none")
    sys.setswitchinterval(SWITCH)
    session.start()
    try:
        tell(address)
        if open_browser:
            webbrowser.open(address)
        uvicorn.Server(config).run(sockets=[listening])
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
            listening.listen(128)  # requests wait from now on, so the address may be told
            return listening
        except (OSError, OverflowError) as error:
            listening.close()
            reason = error
    raise DccgcnError(f"{host} port {tries[-1]} cannot be listened on ({reason}).", "Choose another --host or --port.")
