"""Session: one graph being labelled. The log, the predictions that follow from it, and who is asked what.

All computing happens in one worker thread: after an event it fits again, publishes a new Picture, and then chooses the
next questions. People label on meanwhile. A Picture knows which labels it was made from, so a page can say how old it
is. Each fit is made from the labels alone, never from an earlier fit, so that replaying the log repeats it bit by bit.
"""

import secrets
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.graph import NodeGraph
from dccgcn.label import audits
from dccgcn.label.events import Annotations, Audit, Event, point_json
from dccgcn.label.log import EventLog
from dccgcn.label.source import Source, class_name
from dccgcn.quality import NOTHING_TRUSTED
from dccgcn.report import draw_graph
from dccgcn.text import printable
from dccgcn.workflow import Result, suggest_labels


@dataclass(frozen=True, eq=False)
class MapData:
    """Nodes of the map by position in the graph; coordinates in ten-thousandths; edges as pairs of places in nodes."""

    nodes: np.ndarray
    x: list[int]
    y: list[int]
    edges: list[int]


def map_data(graph: NodeGraph) -> MapData:
    """The map as in the report, but without training labels: a sample holds the same share of each community."""
    drawn = draw_graph(graph, np.array([], dtype=np.int64))
    x, y = np.rint(drawn.position * 10_000).astype(int).T
    return MapData(drawn.nodes, x.tolist(), y.tolist(), drawn.edges.reshape(-1).tolist())


LEFT = "is the least certain of the nodes that are left"
QUEUE = 30  # questions prepared with each picture
CANDIDATES = 2000  # nodes among which they are chosen, so that a large graph does not keep the next fit waiting
PATIENCE = 1.0  # seconds for which the end waits for a fit, which cannot be interrupted
LEASE = 180.0  # seconds for which a question is not given to others after its page was closed

_PAUSE = 0.2  # seconds between an event and the fit: the browser paints the next question first, on the same cores
_FIELDS = {
    "label": {"node", "label"},
    "skip": {"node"},
    "undo": {"target"},
    "class": {"label"},
    "rename": {"target", "label"},
    "decide": {"node", "label"},
    "check": {"target", "node", "label"},
}

_Asked = tuple[str, str]  # "label" or "check", and the node


@dataclass(frozen=True, eq=False)
class Picture:
    """Predictions of all nodes, made from some labels."""

    number: int
    key: Any  # the labels and classes that it was made from
    n_labels: int
    result: Result | None  # None with labels of fewer than two classes
    queue: list[tuple[int, str]]  # nodes to ask for, best first, and why
    seconds: float
    made: float = field(default_factory=time.time)

    @property
    def shares(self) -> tuple[int, float, float] | None:
        """Trusted predictions, their share, and the mean confidence of all predictions: the estimated accuracy."""
        if self.result is None:
            return None
        predicted, trusted = self.result.is_predicted, self.result.trusted
        if not predicted.any():
            return 0, 1.0, 1.0
        is_trusted, confidence = trusted.is_trusted[predicted], trusted.confidence[predicted]
        return int(is_trusted.sum()), float(is_trusted.mean()), float(confidence.mean())

    @property
    def warning(self) -> str | None:
        """Why nothing is called trusted, if the labels do not show that the method works on this graph."""
        findings = self.result.prediction.findings if self.result else ()
        return next((found.text for found in findings if found.code in NOTHING_TRUSTED), None)


class Session:
    """Thread-safe. ``start`` begins the worker, ``close`` ends it."""

    def __init__(self, source: Source, log: EventLog) -> None:
        self.source, self.log = source, log
        self.id = secrets.token_hex(8)  # tells a restarted server from the one before
        self.revision = 0  # rises with everything that pages should show
        self.error: str | None = None
        self.map: MapData | None = None
        self.picture: Picture | None = None
        self.refitting = False
        self._choosing = False  # whether the questions are still those of an earlier picture
        self._failed: Any = None  # the labels that could not be fitted
        self.labels = source.replay(log.events)
        self._leases: dict[_Asked, tuple[str, float]] = {}  # question → client, until when
        self._reasons: dict[int, str] = {}  # of questions that were asked
        self._jobs: list[tuple[Callable[[], Any], Future[Any]]] = []
        self._changed = threading.Condition(threading.RLock())
        self.closed = False
        self._worker = threading.Thread(target=self._work, name="refit", daemon=True)

    def start(self) -> None:
        self._worker.start()

    def close(self) -> None:
        with self._changed:
            self.closed = True
            self._changed.notify_all()
        if self._worker.is_alive():
            self._worker.join(timeout=PATIENCE)
        self.log.close()

    # events

    def record(self, who: str, kind: str, fields: dict[str, str], id: str | None = None) -> Event:
        """Check an act of a person, write it to the log, and let the worker fit again."""
        if kind not in _FIELDS or set(fields) != _FIELDS[kind]:
            raise DccgcnError("The request is not an event.", "Reload the page.")
        if "node" in fields and fields["node"] not in self.source.position:
            raise DccgcnError("There is no such node.", "Search for it by its id.")
        with self._changed:
            who = _person(who)
            self._check(who, kind, fields)
            event = self._append(who, kind, id, **fields)
            self._leases.pop(("check" if kind == "check" else "label", fields.get("node", "")), None)
            return event

    def _append(self, who: str, kind: str, id: str | None = None, **fields: str) -> Event:
        with self._changed:
            try:
                return self.log.append(who, kind, id=id, **fields)
            finally:  # pages also show that nothing more is accepted
                self.labels = self.source.replay(self.log.events)
                self._notify()

    def _check(self, who: str, kind: str, fields: dict[str, str]) -> None:
        classes = self.labels.classes
        if kind in ("class", "rename") and fields["label"] not in classes:
            fields["label"] = class_name(fields["label"])
        elif fields.get("label") and fields["label"] not in classes:
            raise DccgcnError("There is no such class.", "It may have been renamed; reload the page.")
        if kind in ("label", "decide") and not fields["label"]:
            raise DccgcnError("The label is empty.", "Choose a class.")
        if kind == "rename" and fields["target"] not in classes:
            raise DccgcnError("There is no such class.", "It may have been renamed; reload the page.")
        if kind == "undo" and fields["target"] not in {event.id for event in self.labels.undoable.get(who, [])}:
            raise DccgcnError("There is nothing to undo.", "People undo their own events only.")
        if kind == "check" and self.find_audit(fields["target"]) is None:
            raise DccgcnError("There is no such audit.", "Reload the page.")

    def start_audit(self, who: str, bound: float, id: str | None = None) -> Event:
        """Draw trusted predictions of the present picture."""
        picture = self.picture
        if picture is None or picture.result is None:
            raise DccgcnError("Nothing is predicted yet.", "Label nodes of two classes first.")
        draw = audits.draw_predictions(picture.result, self.source.ids, bound=bound)
        return self._append(_person(who), "audit", id, data=draw.to_json())

    def find_audit(self, id: str) -> Audit | None:
        return next((audit for audit in self.labels.audits if audit.id == id), None)

    # questions

    def next_question(self, client: str, who: str) -> tuple[int, str] | None:
        """A node that nobody has labelled and no other client is asked for, and why; None if there is none."""
        with self._changed:
            labels, ids = self.labels, self.source.ids
            skipped = labels.skipped.get(who, set())

            def is_open(node: int) -> bool:
                name = ids[node]
                return name not in labels.answers and name not in skipped and self._lease(("label", name), client)

            picture = self.picture
            mine = [name for (kind, name), (holder, _) in self._leases.items() if (kind, holder) == ("label", client)]
            self._reasons.update(picture.queue if picture else ())
            for node in map(self.source.position.__getitem__, mine):  # it does not change under the eyes of a person
                if is_open(node):
                    return node, self._reasons.get(node, LEFT)
            for node, reason in picture.queue if picture else ():
                if is_open(node):
                    return node, reason
            order = np.arange(len(ids))
            if picture and picture.result:
                order = np.argsort(picture.result.trusted.confidence, kind="stable")
            for node in order.tolist():
                if is_open(node):
                    return node, LEFT if picture else "is the first of the table"
            return None

    def ask_again(self, client: str, undone: str) -> None:
        """The node of a label or a skip that was undone is the client's next question, unless another one has it."""
        with self._changed:
            for event in self.log.events:
                if event.id == undone and event.kind in ("label", "skip"):
                    self._lease(("label", event.node), client)

    def next_check(self, client: str) -> tuple[Audit, int] | None:
        """The next prediction of the latest audit to check.

        Checks count from the first of the draw on, so one that somebody is asked to label is checked all the same.
        """
        with self._changed:
            if not self.labels.audits:
                return None
            audit = self.labels.audits[-1]
            for node in audit.predictions:
                if node not in audit.answers and node in self.source.position and self._lease(("check", node), client):
                    return audit, self.source.position[node]
            return None

    def _lease(self, asked: _Asked, client: str) -> bool:
        """Give a question to a client, unless another one has it. A client has one question at a time."""
        now = time.monotonic()
        holder, until = self._leases.get(asked, ("", 0.0))
        if holder not in ("", client) and until > now:
            return False
        self._leases = {one: lease for one, lease in self._leases.items() if lease[0] != client and lease[1] > now}
        self._leases[asked] = (client, now + LEASE)
        return True

    def renew_lease(self, client: str) -> None:
        """The client is still there: it keeps its question."""
        until = time.monotonic() + LEASE
        with self._changed:
            self._leases.update(
                {asked: (holder, until) for asked, (holder, _) in self._leases.items() if holder == client}
            )

    # computing

    def submit(self, job: Callable[[], Any]) -> Future[Any]:
        """Run a job in the worker thread."""
        future: Future[Any] = Future()
        with self._changed:
            self._jobs.append((job, future))
            self._changed.notify_all()
        return future

    def wait(self, timeout: float = 600.0) -> None:
        """Return once the picture and its questions are of all labels so far."""
        with self._changed:
            self._changed.wait_for(
                lambda: (self._is_current() and not self._choosing) or not self._worker.is_alive(), timeout
            )

    def _is_current(self) -> bool:
        key = _key(self.labels)
        return key == self._failed or (self.picture is not None and self.picture.key == key)

    def _work(self) -> None:
        try:
            self.map = map_data(self.source.graph)
            while True:
                with self._changed:
                    self._notify()
                    self._changed.wait_for(lambda: self.closed or self._jobs or not self._is_current())
                time.sleep(_PAUSE)
                with self._changed:
                    if self.closed:
                        return
                    jobs, self._jobs = self._jobs, []
                    labels, self.refitting = self.labels, not self._is_current()
                    self._notify()
                for job, future in jobs:
                    try:
                        future.set_result(job())
                    except Exception as error:
                        future.set_exception(error)
                if self.refitting:
                    self._publish(labels)
        except Exception as error:
            traceback.print_exc()
            self._fail(f"The map could not be drawn ({type(error).__name__}: {error}).")

    def _publish(self, labels: Annotations) -> None:
        """Fit again, then choose the next questions. If that fails, the last label is not tried again."""
        before, error = self.picture, None
        try:
            picture = self._fit(labels)
            if before is not None:  # its questions are good enough until the new ones are there
                self._show(replace(picture, queue=before.queue), choosing=True)
            self._show(replace(picture, queue=self._choose_questions(picture, labels)))
        except DccgcnError as failure:
            error = str(failure)
        except Exception as failure:
            if not self.closed:
                traceback.print_exc()
            error = f"The fit failed ({type(failure).__name__}: {failure})."
        with self._changed:
            self.error, self.refitting, self._choosing = error, False, False
            self._failed = _key(labels) if error else None

    def _show(self, picture: Picture, choosing: bool = False) -> None:
        with self._changed:
            self.picture, self.refitting, self._choosing = picture, False, choosing
            self._notify()

    def _fit(self, labels: Annotations) -> Picture:
        """All predictions, without questions."""
        start = time.perf_counter()
        number = self.picture.number + 1 if self.picture else 1
        result = self.source.fit(labels)
        seconds = time.perf_counter() - start
        picture = Picture(number, _key(labels), len(labels.labels), result, [], seconds)
        if shares := picture.shares:
            curve = self.labels.curve
            if not curve or curve[-1][0] != picture.n_labels:
                with suppress(DataFileError):  # the log accepts nothing more, which pages and terminal were told
                    self._append("", "fit", data=point_json(picture.n_labels, *shares[1:]))
        return picture

    def _choose_questions(self, picture: Picture, labels: Annotations) -> list[tuple[int, str]]:
        result = picture.result
        graph = self.source.labelled_graph(labels) if result is None else result.graph
        nodes = [self.source.position[name] for name in labels.answers if name in self.source.position]
        free = np.random.default_rng(0).permutation(graph.n)  # the same order each time
        free = free[~np.isin(free, nodes)][:CANDIDATES]
        if len(free) == 0:
            return []
        prediction = None if result is None else result.prediction
        chosen = suggest_labels(graph, prediction, graph.labelled, min(QUEUE, len(free)), free)
        return [(suggestion.position, suggestion.reason) for suggestion in chosen]

    def _fail(self, message: str) -> None:
        with self._changed:
            self.error, self.refitting = message, False
            for _, future in self._jobs:
                future.set_exception(DccgcnError(message))
            self._notify()

    def _notify(self) -> None:
        self.revision += 1
        self._changed.notify_all()


def _person(name: str) -> str:
    """The name of a person on one line, checked."""
    name = " ".join(printable(name).split())[:60]
    if not name:
        raise DccgcnError("The name is empty.", "Give a name, so that others know who labelled what.")
    return name


def _key(labels: Annotations) -> Any:
    """What a fit depends on."""
    return tuple(labels.classes), frozenset(labels.labels.items()), len(labels.answers)
