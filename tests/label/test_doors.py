"""Connections that send half a request or nothing hold nobody up, and end."""

import resource
import socket
import threading
import time
from contextlib import contextmanager

import httpx
import pytest

from dccgcn.label import doors
from dccgcn.label.log import EventLog
from dccgcn.label.server import application
from dccgcn.label.serving import Server, listen
from dccgcn.label.session import Session
from helpers.served import labelling, source_of
from tools.kill_label import tables

HALF = b"GET / HTTP/1.1\r\nhost: x\r\n"
SLOW = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n"


@contextmanager
def served(folder):
    """A server in a thread whose owner has a page open: it, its address and the owner's cookie."""
    source, _ = source_of()
    session = Session(source, EventLog(folder / "log", source.fingerprint))
    session.start()
    session.wait()
    listening = listen("127.0.0.1", 0)
    port = listening.getsockname()[1]
    server = Server(session, application(session, "127.0.0.1", port, "token"))
    thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
    thread.start()
    address, cookies = f"http://127.0.0.1:{port}", {f"dccgcn-{port}": "token"}
    try:
        with httpx.Client(base_url=address, cookies=cookies) as owner, owner.stream("GET", "/api/stream") as stream:
            lines = stream.iter_lines()
            assert next(lines)
            yield server, address, cookies
    finally:
        session.closed = server.should_exit = True
        thread.join(30)
        session.close()


def connect(address, sent):
    made = socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=10)
    made.sendall(sent)
    return made


def is_closed(made):
    with made:
        made.settimeout(5)
        try:
            while made.recv(1000):
                pass
        except ConnectionResetError:
            pass
        except TimeoutError:
            return False
    return True


def test_beyond_their_number_the_oldest_half_request_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(doors, "MAX_CONNECTIONS", 20)
    with served(tmp_path) as (server, address, cookies):
        half = [connect(address, HALF) for _ in range(60)]
        assert httpx.get(f"{address}/api/state", cookies=cookies, timeout=5).status_code == 200
        found = server.server_state.connections
        assert len(found) <= 20
        assert any(one.is_answering for one in found)  # the page
        assert all(is_closed(made) for made in half[:30])
        for made in half[30:]:
            made.close()


@pytest.mark.parametrize("sent", [b"", HALF, SLOW, HALF + b"\r\n" + HALF], ids=["nothing", "half", "body", "second"])
def test_a_connection_without_a_complete_request_ends(tmp_path, monkeypatch, sent):
    monkeypatch.setattr(doors, "PATIENCE", 0.2)
    with served(tmp_path) as (server, address, _):
        assert is_closed(connect(address, sent))
        time.sleep(0.5)
        assert [one.is_answering for one in server.server_state.connections] == [True]  # the page


def test_more_half_requests_than_open_files_leave_the_owner_and_the_terminal_alone(tmp_path):
    with labelling(*tables(tmp_path), cwd=tmp_path) as process:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (256, 256))
        base = process.address.split("/?")[0]
        half = [connect(base, HALF) for _ in range(300)]
        answer = httpx.get(process.address, timeout=10)
        assert answer.status_code == 303
        for made in half:
            made.close()
        process.kill()
        assert len(process.stderr.read()) < 1000
