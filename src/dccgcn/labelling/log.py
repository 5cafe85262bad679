"""The event log: one SQLite file. ``append`` returns only once the event is on disk."""

import secrets
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import astuple, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.labelling.events import Event

FORMAT = 1
_APPLICATION = 0x64636C67  # marks the file as a log of this package
_COLUMNS = [field.name for field in fields(Event)]
_SCHEMA = f"""
CREATE TABLE about (graph TEXT NOT NULL) STRICT;
CREATE TABLE events (
    clock INTEGER NOT NULL, id TEXT PRIMARY KEY, who TEXT NOT NULL, time TEXT NOT NULL, kind TEXT NOT NULL,
    node TEXT NOT NULL, label TEXT NOT NULL, target TEXT NOT NULL, data TEXT NOT NULL
) STRICT;
CREATE TABLE history (labels INTEGER NOT NULL, trusted REAL NOT NULL, accuracy REAL NOT NULL) STRICT;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {FORMAT};
"""


class EventLog:
    """The events of one graph, in memory and on disk. Threads may share it; processes may read it at any time.

    Parameters
    ----------
    path : Path
        Created if it does not exist.
    graph : str
        Fingerprint of the graph's nodes. A log of another graph is refused.
    """

    def __init__(self, path: Path, graph: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        with _readable(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            if not self._database.execute("SELECT 1 FROM sqlite_master").fetchone():
                self._database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA}")
                self._database.execute("INSERT INTO about VALUES (?)", (graph,))
                self._database.execute("COMMIT")
            self._events = {event.id: event for event in _read(self._database, path, graph)}
            self._database.execute("PRAGMA journal_mode = WAL")  # only now: a file of others is left as it is
            self._database.execute("PRAGMA synchronous = FULL")  # an acknowledged event survives a power cut

    @property
    def events(self) -> list[Event]:
        """All events so far."""
        with self._lock:
            return list(self._events.values())

    def append(self, who: str, kind: str, *, id: str | None = None, **given: str) -> Event:
        """Write an event and wait until it is on disk.

        id : random, chosen by the caller, so that a repeated request is written once.
        """
        with self._lock:
            if id in self._events:
                return self._events[id]
            clock = 1 + max((event.clock for event in self._events.values()), default=0)
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            values = {"clock": clock, "id": id or secrets.token_hex(16), "who": who, "time": now, "kind": kind}
            event = make_event({**values, **given})
            self._write([event])
            return event

    def merge(self, path: Path, graph: str) -> int:
        """Add the events of another log of the same graph; the number of new ones."""
        others = read_events(path, graph)
        with self._lock:
            new = [event for event in others if event.id not in self._events]
            self._write(new)
            return len(new)

    def add_history(self, labels: int, trusted: float, accuracy: float) -> None:
        """Keep a point of the curve: labels so far, trusted share and estimated accuracy."""
        with self._lock, _readable(self.path):
            self._database.execute("INSERT INTO history VALUES (?, ?, ?)", (labels, trusted, accuracy))

    @property
    def history(self) -> list[tuple[int, float, float]]:
        """All points of the curve, oldest first."""
        with self._lock, _readable(self.path):
            return self._database.execute("SELECT * FROM history ORDER BY rowid").fetchall()

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def _write(self, events: Iterable[Event]) -> None:
        events = list(events)
        with _readable(self.path):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                marks = ", ".join("?" * len(_COLUMNS))
                rows = [astuple(event) for event in events]
                self._database.executemany(f"INSERT INTO events ({', '.join(_COLUMNS)}) VALUES ({marks})", rows)
                self._database.execute("COMMIT")
            except BaseException:
                self._database.rollback()
                raise
        self._events.update({event.id: event for event in events})


def read_events(path: Path, graph: str) -> list[Event]:
    """The events of a log, which is not changed."""
    if not path.is_file():
        raise DataFileError(f"There is no file {path}.", "Give the path of a log that dccgcn label wrote.")
    with _readable(path), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        return _read(database, path, graph)


def make_event(values: Mapping[str, Any]) -> Event:
    """The event of these fields, checked; a DccgcnError if it is none."""
    try:
        return Event(**values)
    except ValidationError as error:
        first = error.errors()[0]
        raise DccgcnError(f"The {first['loc'][0]} of an event is wrong: {first['msg']}.", "Reload the page.") from None


def _read(database: sqlite3.Connection, path: Path, graph: str) -> list[Event]:
    def pragma(name: str) -> Any:
        return database.execute(f"PRAGMA {name}").fetchone()[0]

    if pragma("application_id") != _APPLICATION:
        raise DataFileError(f"{path} is not a log of labels.", "Give another path; nothing was changed.")
    if pragma("user_version") != FORMAT:
        raise DataFileError(
            f"{path} is of format {pragma('user_version')}; this version of dccgcn reads format {FORMAT}.",
            "Update dccgcn, or choose another file with --log; nothing was changed.",
        )
    if database.execute("SELECT graph FROM about").fetchall() != [(graph,)]:
        raise DataFileError(
            f"{path} holds labels of other nodes, or of nodes in another order.",
            "Give the tables that were labelled, or another path with --log.",
        )
    events = []
    for row in database.execute(f"SELECT {', '.join(_COLUMNS)} FROM events ORDER BY clock, id"):
        try:
            events.append(make_event(dict(zip(_COLUMNS, row, strict=True))))
        except DccgcnError as error:
            raise DataFileError(
                f"{path}, event {str(row[1])[:40]!r}: {error.what}",
                "The file was changed by another program: use a copy, or another file with --log.",
            ) from None
    return events


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system report into a DataFileError."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise DataFileError(
            f"{path} cannot be read or written ({error}).",
            "Check the disk and the permissions, or choose another file.",
        ) from error
