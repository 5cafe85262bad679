"""The server of the labelling page: JSON in and out, and a stream that says when something changed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from dccgcn.errors import DccgcnError
from dccgcn.label import audits
from dccgcn.label.doors import Doors
from dccgcn.label.evidence import authors, evidence, search
from dccgcn.label.export import FORMATS, exported, report_html
from dccgcn.label.session import Session
from dccgcn.palette import colours

POLL = 0.05  # seconds between looks for changes
KEEP_ALIVE = 15.0  # seconds after which a silent stream sends a comment
MAX_CURVE = 200
_STATIC = {
    "/": ("label.html", "text/html"),
    "/label.js": ("label.js", "text/javascript"),
    "/label.css": ("label.css", "text/css"),
}


def application(session: Session, host: str, port: int, token: str) -> Doors:
    """The ASGI application behind its doors."""

    def answer(work: Callable[[Request, Any], Any]) -> Callable[[Request], Any]:
        """Run blocking work in a thread; an error that the user can fix is a sentence with status 400."""

        async def endpoint(request: Request) -> Response:
            try:
                body = _body(await request.body()) if request.method == "POST" else {}
                return JSONResponse(await run_in_threadpool(work, request, body))
            except DccgcnError as error:
                return JSONResponse({"error": str(error)}, status_code=400)

        return endpoint

    def question(request: Request, _: Any) -> Any:
        query = request.query_params
        return ask(session, query.get("client", ""), query.get("who", ""), query.get("mode", "label"))

    def node(request: Request, _: Any) -> Any:
        name = request.query_params.get("id", "")
        if name not in session.source.position:
            raise DccgcnError("There is no such node.", "Search for it by its id.")
        return {"kind": "node", "reason": "", **_evidence(session, session.source.position[name])}

    def event(request: Request, body: Any) -> Any:
        """Write an event, then answer with the state and the next question in one round trip."""
        fields = {name: value for name, value in body.items() if name not in _ENVELOPE}
        made = session.record(body.get("who", ""), body.get("kind", ""), fields, body.get("id") or None)
        if made.kind == "undo":
            session.ask_again(body.get("client", ""), made.target)
        following = ask(session, body.get("client", ""), body.get("who", ""), body.get("mode", "label"))
        return {"event": made.id, "state": state(session, body.get("who", "")), "question": following}

    def audit(request: Request, body: Any) -> Any:
        try:
            bound = float(body.get("bound", "0.05"))
        except ValueError:
            raise DccgcnError("The wished bound is not a number.", "Give a share such as 0.05.") from None
        session.start_audit(body.get("who", ""), bound, body.get("id") or None)
        following = ask(session, body.get("client", ""), body.get("who", ""), "audit")
        return {"state": state(session, body.get("who", "")), "question": following}

    async def export(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            if name == "report.html":
                content = await asyncio.wrap_future(session.submit(lambda: report_html(session)))
            else:
                content = await run_in_threadpool(exported, session, name)
        except DccgcnError as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type=FORMATS[name.rpartition(".")[2]], headers=headers)

    async def stream(request: Request) -> Response:
        client = request.query_params.get("client", "")
        return StreamingResponse(_changes(session, client), media_type="text/event-stream")

    routes = [
        *(Route(path, _static(name, kind)) for path, (name, kind) in _STATIC.items()),
        Route("/api/state", answer(lambda request, _: state(session, request.query_params.get("who", "")))),
        Route("/api/map", answer(lambda request, _: map_json(session))),
        Route("/api/picture", answer(lambda request, _: picture_json(session))),
        Route("/api/question", answer(question)),
        Route("/api/node", answer(node)),
        Route("/api/search", answer(lambda request, _: search(session.source, request.query_params.get("q", "")))),
        Route("/api/event", answer(event), methods=["POST"]),
        Route("/api/audit", answer(audit), methods=["POST"]),
        Route("/api/export/{name}", export),
        Route("/api/stream", stream),
    ]
    return Doors(Starlette(routes=routes), host, port, token)


_ENVELOPE = ("who", "kind", "client", "mode", "id")


def state(session: Session, who: str) -> dict[str, Any]:
    """Everything of the page but the map and the question."""
    labels, picture = session.labels, session.picture
    agreed = labels.labels
    count = dict.fromkeys(labels.classes, 0)
    for label in agreed.values():
        count[label] += 1
    shares = picture.shares if picture else None
    undoable = labels.undoable.get(who, [])
    return {
        "server": session.id,
        "revision": session.revision,
        "graph": {
            "name": session.source.graph.name,
            "nodes": session.source.graph.n,
            "edges": len(session.source.graph.edges),
        },
        "ready": picture is not None,
        "error": str(session.log.fault) if session.log.fault else session.error,
        "classes": [
            {"name": name, "colour": colour, "labels": count[name]}
            for name, colour in zip(labels.classes, colours(len(labels.classes)), strict=True)
        ],
        "labels": len(agreed),
        "people": authors(labels),
        "refitting": session.refitting,
        "picture": None
        if picture is None
        else {
            "number": picture.number,
            "labels": picture.n_labels,
            "age": round(time.time() - picture.made, 1),
            "seconds": round(picture.seconds, 2),
            "word": picture.result.trusted.word if picture.result else "trusted",
            "trusted": shares[0] if shares else None,
            "share": shares[1] if shares else None,
            "accuracy": shares[2] if shares else None,
            "warning": picture.warning,
        },
        "curve": labels.curve[-MAX_CURVE:],
        "disagreements": [
            {"node": node, "answers": [[person or "the table", label] for person, label in answers.items()]}
            for node, answers in list(labels.disagreements.items())[:50]
        ],
        "audit": audits.status(labels.audits[-1]) if labels.audits else None,
        "undo": undoable[-1].id if undoable else None,
    }


def ask(session: Session, client: str, who: str, mode: str) -> dict[str, Any] | None:
    """The next question of a client, with its evidence; None if there is none left."""
    if mode == "audit":
        check = session.next_check(client)
        if check is None:
            return None
        audit, node = check
        drawn = audit.predictions[session.source.ids[node]]  # may differ from the present prediction
        return {"kind": "audit", "audit": audit.id, "drawn": drawn, "reason": "", **_evidence(session, node)}
    found = session.next_question(client, who)
    if found is None:
        return None
    node, reason = found
    return {"kind": "label", "reason": reason, **_evidence(session, node)}


def map_json(session: Session) -> dict[str, Any] | None:
    """Positions and edges; None while they are being made."""
    drawn = session.map
    if drawn is None:
        return None
    ids = [session.source.ids[node] for node in drawn.nodes]
    return {"ids": ids, "x": drawn.x, "y": drawn.y, "edges": drawn.edges}


def picture_json(session: Session) -> dict[str, Any] | None:
    """Class and confidence in thousandths of each node of the map; labels as pairs of place and class."""
    drawn, picture, labels = session.map, session.picture, session.labels
    if drawn is None or picture is None:
        return None
    code = {name: k for k, name in enumerate(labels.classes)}
    agreed, ids = labels.labels, session.source.ids
    known = [[at, code[agreed[ids[node]]]] for at, node in enumerate(drawn.nodes) if ids[node] in agreed]
    if picture.result is None:
        return {"number": picture.number, "prediction": None, "confidence": None, "trusted": None, "labels": known}
    names = [code.get(str(name), -1) for name in picture.result.graph.classes]  # classes may be renamed meanwhile
    return {
        "number": picture.number,
        "prediction": [names[k] for k in picture.result.prediction.y_pred[drawn.nodes]],
        "confidence": (1000 * picture.result.trusted.confidence[drawn.nodes]).round().astype(int).tolist(),
        "trusted": picture.result.trusted.is_trusted[drawn.nodes].astype(int).tolist(),
        "labels": known,
    }


def _evidence(session: Session, node: int) -> dict[str, Any]:
    picture = session.picture
    number, result = (picture.number, picture.result) if picture else (0, None)
    return {"picture": number, **evidence(session.source, session.labels, node, result)}


async def _changes(session: Session, client: str) -> AsyncIterator[str]:
    """A line for each change, and a comment from time to time, so that a lost connection is noticed.

    While it is read, the client keeps its question.
    """
    seen, last = -1, time.monotonic()
    while not session.closed:
        if session.revision != seen:
            seen, last = session.revision, time.monotonic()
            yield f"data: {seen}\n\n"
        elif time.monotonic() - last > KEEP_ALIVE:
            last = time.monotonic()
            session.renew_lease(client)
            yield ": still here\n\n"
        await asyncio.sleep(POLL)


def _body(content: bytes) -> dict[str, str]:
    """The fields of a request: a flat JSON object of texts."""
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise DccgcnError("The request is not a JSON object of texts.", "Reload the page.")
    return fields


def _static(name: str, kind: str) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        content = (resources.files("dccgcn.label") / "static" / name).read_bytes()
        return Response(content, media_type=kind)

    return endpoint
