"""The server: each of its doors, and what it answers."""

import sqlite3
from io import BytesIO

import pandas as pd
import pytest
from starlette.testclient import TestClient

from dccgcn.errors import DccgcnError
from dccgcn.label.doors import MAX_BODY
from dccgcn.label.log import EventLog
from dccgcn.label.server import _changes, application
from dccgcn.label.serving import listen
from dccgcn.label.session import Session
from helpers.served import source_of
from tools.kill_label import kill_rounds

HOST, TOKEN = "127.0.0.1:8000", "secret"
ORIGIN = {"origin": f"http://{HOST}"}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    source, truth = source_of()
    session = Session(source, EventLog(tmp_path_factory.mktemp("log") / "log", source.fingerprint))
    session.truth = truth
    session.start()
    session.wait()
    yield session
    session.close()


@pytest.fixture
def stranger(session):
    """Somebody without the token."""
    return TestClient(application(session, "127.0.0.1", 8000, TOKEN), base_url=f"http://{HOST}", follow_redirects=False)


@pytest.fixture
def client(stranger):
    stranger.get(f"/?token={TOKEN}")
    return stranger


def event(kind="label", **given):
    return {"who": "Ann", "client": "one", "kind": kind, **given}


def test_the_token_moves_from_the_address_to_a_cookie(stranger):
    answer = stranger.get(f"/?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "dccgcn-8000=" in cookie
    assert stranger.get("/").status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/label.js", "/api/state", "/api/stream", "/api/export/labels.csv", "/?token=wrong", "/?token="]
)
def test_nothing_is_answered_without_the_token(stranger, path):
    assert stranger.get(path).status_code == 403
    stranger.cookies.set("dccgcn-8000", "wrong")
    assert stranger.get(path).status_code == 403
    assert stranger.post("/api/event", json=event(), headers=ORIGIN).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example:8000", "127.0.0.1:9000", "127.0.0.1", "localhost.evil.example:8000", ""]
)
def test_other_host_names_are_refused(client, host):
    """DNS rebinding: another name that resolves to this machine."""
    assert client.get("/api/state", headers={"host": host}).status_code == 421


def test_the_names_of_this_machine_are_accepted(client):
    for host in ("127.0.0.1:8000", "localhost:8000", "[::1]:8000"):
        assert client.get("/api/state", headers={"host": host, "cookie": f"dccgcn-8000={TOKEN}"}).status_code == 200


def test_a_named_interface_answers_under_its_own_name_only(session):
    app = application(session, "192.168.1.5", 8000, TOKEN)
    inside = TestClient(app, base_url="http://192.168.1.5:8000", cookies={"dccgcn-8000": TOKEN})
    assert inside.get("/api/state").status_code == 200
    assert inside.get("/api/state", headers={"host": "127.0.0.1:8000"}).status_code == 421
    assert TestClient(app, base_url="http://192.168.1.5:8000").get("/api/state").status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:9000"])
def test_other_origins_are_refused(client, session, origin):
    before = len(session.log.events)
    sent = event(node="1", label="class 0")
    assert client.post("/api/event", json=sent, headers={"origin": origin}).status_code == 403
    assert client.get("/api/state", headers={"origin": origin}).status_code == 403
    assert client.get("/api/state", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert client.post("/api/event", json=sent).status_code == 403  # no origin at all
    assert len(session.log.events) == before


def test_answers_forbid_foreign_scripts_frames_and_readers(client):
    for path in ("/", "/api/state", "/none"):
        headers = client.get(path, headers=ORIGIN).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert not [name for name in headers if name.startswith("access-control")]
    preflight = client.options("/api/event", headers={**ORIGIN, "access-control-request-method": "POST"})
    assert preflight.status_code == 405


def test_large_requests_are_refused(client):
    for sent in (b"x" * (MAX_BODY + 1), iter([b"x" * 1000] * 100)):
        answer = client.post("/api/event", content=sent, headers={**ORIGIN, "content-type": "application/json"})
        assert answer.status_code == 413


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"])
def test_only_json_is_accepted(client, kind):
    """Forms of other sites can send these kinds without asking; and nothing can be uploaded."""
    assert client.post("/api/event", content=b"{}", headers={**ORIGIN, "content-type": kind}).status_code == 415


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"kind": 1}', b"[" * 5000, b'{"kind": "label", "node": {"a": "b"}}']
)
def test_what_is_not_an_event_is_a_sentence(client, body):
    answer = client.post("/api/event", content=body, headers={**ORIGIN, "content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_other_methods_are_refused(client, method):
    assert getattr(client, method)("/api/state", headers=ORIGIN).status_code == 405


def test_paths_lead_nowhere_else(client):
    exports = (f"/api/export/{name}" for name in ("../../x", "log.sqlite", "x"))
    for path in ("/../../etc/passwd", "/static/label.html", *exports):
        assert client.get(path).status_code in (400, 404)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_all_interfaces_at_once_are_refused(host):
    with pytest.raises(DccgcnError, match="all interfaces"):
        listen(host, None)


def test_a_port_in_use_is_told():
    with listen("127.0.0.1", 0) as taken, pytest.raises(DccgcnError, match="cannot be listened on"):
        listen("127.0.0.1", taken.getsockname()[1])


def post(client, **given):
    return client.post("/api/event", json=event(**given), headers=ORIGIN)


def test_a_round_of_labels(client, session):
    state = client.get("/api/state").json()
    assert state["ready"]
    assert [one["name"] for one in state["classes"]] == ["class 0", "class 1", "class 2"]
    question = client.get("/api/question", params={"client": "one", "who": "Ann"}).json()
    for number in range(1, 7):
        sent = {"node": question["node"], "label": session.truth[question["node"]], "id": f"{number:032}"}
        answer = post(client, **sent)
        assert answer.status_code == 200, answer.text
        assert answer.json()["state"]["labels"] == number
        question = answer.json()["question"]
        repeated = post(client, **sent)
        assert repeated.json()["state"]["labels"] == number  # written once
    assert post(client, node="7", label="class 0", id=f"{6:032}").status_code == 400  # not the same request
    session.wait()
    picture, drawn = client.get("/api/picture").json(), client.get("/api/map").json()
    assert len(picture["prediction"]) == len(drawn["ids"]) == 60
    assert len(picture["labels"]) == 6
    state = client.get("/api/state", params={"who": "Ann"}).json()
    assert state["picture"]["labels"] == 6
    assert state["people"] == {"Ann": 6}
    undone = post(client, kind="undo", target=state["undo"])
    assert undone.json()["state"]["labels"] == 5
    assert client.get("/api/search", params={"q": "paper of 17"}).json() == [{"node": "17", "title": "the paper of 17"}]
    assert client.get("/api/node", params={"id": "17"}).json()["node"] == "17"
    assert client.get("/api/node", params={"id": "x"}).status_code == 400
    assert post(client, node="17", label="no class").status_code == 400
    session.wait()
    audit = client.post("/api/audit", json={"who": "Ann", "client": "one", "bound": "0.3"}, headers=ORIGIN).json()
    assert audit["question"]["kind"] == "audit"
    asked = audit["question"]
    answer = {"target": asked["audit"], "node": asked["node"], "label": asked["drawn"]}
    checked = post(client, kind="check", mode="audit", **answer)
    assert checked.json()["state"]["audit"]["checked"] == 1
    assert "At most" in checked.json()["state"]["audit"]["sentence"]
    session.wait()


def test_the_stream_tells_of_changes(client, session):
    import asyncio

    async def listen():
        stream = _changes(session, "one")
        first = await anext(stream)
        session.record("Ann", "skip", {"node": "3"})
        return first, await asyncio.wait_for(anext(stream), 10)

    first, second = asyncio.run(listen())
    assert first.startswith("data: ")
    assert first != second
    session.wait()


def test_answers_out_in_every_format(client, session):
    labels = client.get("/api/export/labels.csv")
    assert "attachment" in labels.headers["content-disposition"]
    frame = pd.read_csv(BytesIO(labels.content), dtype=str)
    assert dict(zip(frame["node_id"], frame["label"], strict=True)) == session.labels.labels
    predictions = pd.read_csv(BytesIO(client.get("/api/export/predictions.csv").content))
    assert len(predictions) == 60
    parquet = pd.read_parquet(BytesIO(client.get("/api/export/predictions.parquet").content))
    assert parquet["prediction"].tolist() == predictions["prediction"].tolist()
    database = sqlite3.connect(":memory:")
    database.deserialize(client.get("/api/export/answers.sqlite").content)
    assert database.execute("SELECT count(*) FROM predictions").fetchone() == (60,)
    assert database.execute("SELECT count(*) FROM labels").fetchone() == (len(session.labels.labels),)
    report = client.get("/api/export/report.html")
    assert report.status_code == 200
    assert b'id="audit"' in report.content


def test_without_duckdb_the_download_says_what_to_install(client, monkeypatch):
    monkeypatch.setattr("dccgcn.tables.write.find_spec", lambda name: None)
    for name in ("answers.duckdb", "labels.parquet"):
        answer = client.get(f"/api/export/{name}")
        assert answer.status_code == 400
        assert "pip install" in answer.json()["error"]


def test_a_killed_server_loses_no_acknowledged_label(tmp_path):
    assert kill_rounds(2, tmp_path, longest=0.5) > 2
