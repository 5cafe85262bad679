"""The event log: one SQLite file. ``append`` returns only once the event is on disk.

Events have the clocks 1, 2, 3 …, and each row has a checksum over all its fields and the fingerprint of the graph: a
row that was altered, or lost from before the last one, is noticed. SQLite keeps a rollback journal only while it
writes, so that the file alone holds every event.
"""

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import astuple, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.label.events import Event
from dccgcn.runtime import check_regular, lock_file, sync_folder, temporary_path
from dccgcn.text import printable, truncate

FORMAT = 2
_APPLICATION = 0x64636C67  # marks the file as a log of this package
_COLUMNS = [field.name for field in fields(Event)]
_SCHEMA = f"""
CREATE TABLE about (graph TEXT NOT NULL) STRICT;
CREATE TABLE events (
    clock INTEGER PRIMARY KEY, id TEXT NOT NULL, who TEXT NOT NULL, time TEXT NOT NULL, kind TEXT NOT NULL,
    node TEXT NOT NULL, label TEXT NOT NULL, target TEXT NOT NULL, data TEXT NOT NULL, checksum TEXT NOT NULL
) STRICT;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {FORMAT};
"""
_SAFETY = ("trusted_schema = OFF", "cell_size_check = ON", "synchronous = EXTRA")  # EXTRA: also after loss of power
_UNREADABLE = (sqlite3.Error, UnicodeDecodeError)  # the latter for names of a damaged schema in messages
_Contents = tuple[list[Event], list[str]]  # events, and a sentence for each thing that is damaged
_LONGEST = 2**28  # bytes that a cut log is lengthened to: a damaged header may state any length
_LEAST_ROW = 64  # bytes: an event takes more
_CHANGED = "Nothing more is saved. Download the labels from the page, then start again, with another --log if need be."


class EventLog:
    """The events of one graph, in memory and on disk. Threads may share it; one process writes, others may read.

    Parameters
    ----------
    path : Path
        Created if it does not exist. Links are followed.
    graph : str
        Fingerprint of the graph's nodes. A log of another graph is refused.
    warn : callable, optional
        Called with a sentence when the file is found to be damaged, deleted or changed by another program; the log
        then keeps what it has and accepts nothing more. Omitted: a log that is damaged at the start is an error.
    """

    def __init__(self, path: Path, graph: str, warn: Callable[[str], None] | None = None) -> None:
        self.path = Path(os.path.realpath(path))
        self.fault: DataFileError | None = None  # why nothing more is accepted
        self._graph, self._warn = graph, warn
        self._lock = threading.Lock()
        with ExitStack() as stack:
            if self.path.exists():
                check_regular(self.path)
            stack.enter_context(lock_file(self.path))
            with _readable(self.path):
                if not self.path.exists():
                    _create(self.path, graph)
                self._file = os.open(self.path, os.O_RDONLY)
                stack.callback(os.close, self._file)
                self._database = stack.enter_context(closing(_connect(self.path)))
                self._seen = self._state()
                events, lost = _read(self._database, self.path, graph)
                if (names := os.fstat(self._file).st_nlink) > 1:
                    raise DataFileError(
                        f"{self.path} has {names} names (hard links), under which two servers could write to it.",
                        "Copy it, and name the copy with --log.",
                    )
                if not lost:
                    self._database.execute("PRAGMA journal_mode = DELETE")
            self._events = {event.id: event for event in events}
            if lost:
                self._stop(_damaged(self.path, lost))
            self._open = stack.pop_all()

    @property
    def events(self) -> list[Event]:
        """All events so far."""
        with self._lock:
            return list(self._events.values())

    def append(self, who: str, kind: str, *, id: str | None = None, **content: str) -> Event:
        """Write an event and wait until it is on disk.

        id : random, chosen by the caller, so that a repeated request is written once.
        """
        with self._lock:
            self._check()
            clock, now = len(self._events) + 1, datetime.now(UTC).isoformat(timespec="milliseconds")
            values = {"clock": clock, "id": id or secrets.token_hex(16), "who": who, "time": now, "kind": kind}
            event = make_event({**values, **content})
            if known := self._events.get(event.id):
                if replace(event, clock=known.clock, time=known.time, data=known.data) != known:  # data: of the server
                    raise DccgcnError("This event has the id of another one.", "Reload the page.")
                return known
            with _readable(self.path):
                self._database.execute("BEGIN IMMEDIATE")  # until it ends no other program writes
                try:
                    self._check()
                    _insert(self._database, self._graph, event)
                    self._database.execute("COMMIT")
                except BaseException:
                    self._database.rollback()
                    raise
                self._seen = self._state()
            self._check()  # again: before it is acknowledged
            self._events[event.id] = event
            return event

    def close(self) -> None:
        with self._lock:
            self.fault = self.fault or DataFileError(f"{self.path} was closed.", "Start the command again.")
            self._open.close()

    def _state(self) -> tuple[int, int]:
        found = os.fstat(self._file)
        return found.st_size, found.st_mtime_ns

    def _check(self) -> None:
        """Raise a DataFileError unless the path leads to the file that was opened, as this process left it."""
        if self.fault:
            raise self.fault
        try:
            is_there = os.path.samestat(os.stat(self.path), os.fstat(self._file))
        except OSError:
            is_there = False
        if not is_there:
            self._stop(DataFileError(f"{self.path} was deleted, moved or replaced by another program.", _CHANGED))
        elif (state := self._state()) != self._seen:
            try:
                with _readable(self.path), closing(_connect(self.path)) as database:
                    is_same = _read(database, self.path, self._graph) == ([*self._events.values()], [])
                    database.execute("PRAGMA journal_mode = DELETE")  # with another one the file alone is not the log
            except DataFileError:
                is_same = False
            if not is_same:
                self._stop(DataFileError(f"{self.path} was changed by another program.", _CHANGED))
            self._seen = state
        if self.fault:
            raise self.fault

    def _stop(self, fault: DataFileError) -> None:
        self.fault = fault
        if self._warn is None:
            raise fault
        self._warn(str(fault))


def read_events(path: Path, graph: str) -> list[Event]:
    """The events of a log, which is not changed."""
    if not path.is_file():
        raise DataFileError(f"There is no file {path}.", "Give the path of a log that dccgcn label wrote.")
    with _readable(path), closing(_connect(path)) as database:
        events, lost = _read(database, path, graph)
    if lost:
        raise _damaged(path, lost)
    return events


def repair(path: Path, graph: str) -> tuple[Path | None, list[str]]:
    """Write what can be read of a damaged log to a new file beside it: its path, and a sentence for each loss.

    None if nothing is damaged. The damaged file is left as it is.
    """
    path = Path(os.path.realpath(path))
    check_regular(path)
    with lock_file(path), _readable(path):
        try:
            with closing(_connect(path)) as database:
                events, lost = _read(database, path, graph, is_partial=True)
        except sqlite3.Error:  # nothing of a file that was cut is read until it has its length again
            with _lengthened(path) as copy, closing(_connect(copy)) as database:
                events, lost = _read(database, path, graph, is_partial=True)
    if not lost:
        return None, []
    target = path.with_suffix(f".repaired{path.suffix}")
    with lock_file(target), _readable(target):
        if os.path.lexists(target):
            raise DataFileError(f"{target} exists.", "Move it away; it may hold labels.")
        _create(target, graph, events)
    return target, lost


@contextmanager
def _lengthened(path: Path) -> Iterator[Path]:
    """A temporary copy of a database that was cut, with zeros up to the length that its header states."""
    copy = temporary_path(path.parent)
    try:
        shutil.copyfile(path, copy)
        head = path.read_bytes()[:100]
        stated = int.from_bytes(head[16:18]) * int.from_bytes(head[28:32])  # size of a page, and their number
        os.truncate(copy, max(path.stat().st_size, min(stated, _LONGEST)))
        yield copy
    finally:
        copy.unlink(missing_ok=True)


def make_event(values: Mapping[str, Any]) -> Event:
    """The event of these fields, checked; a DccgcnError if it is none."""
    try:
        return Event(**values)
    except ValidationError as error:
        first = error.errors()[0]
        raise DccgcnError(f"The {first['loc'][0]} of an event is wrong: {first['msg']}.", "Reload the page.") from None


def _connect(path: Path, mode: str = "rw") -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    database = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    database.text_factory = lambda text: text.decode(errors="replace")  # a damaged text has another checksum
    for setting in _SAFETY:
        database.execute(f"PRAGMA {setting}")
    return database


def _create(path: Path, graph: str, events: Iterable[Event] = ()) -> None:
    """A new log, whole or not at all; its events are numbered anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_path(path.parent)
    try:
        with closing(_connect(temporary, "rwc")) as database:
            database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA}")
            database.execute("INSERT INTO about VALUES (?)", (graph,))
            for number, event in enumerate(events, 1):
                _insert(database, graph, replace(event, clock=number))
            database.execute("COMMIT")
        os.rename(temporary, path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _insert(database: sqlite3.Connection, graph: str, event: Event) -> None:
    row = astuple(event)
    marks = ", ".join("?" * (len(row) + 1))
    database.execute(f"INSERT INTO events VALUES ({marks})", (*row, _checksum(graph, row)))


def _checksum(graph: str, values: Sequence[Any]) -> str:
    return hashlib.blake2b(json.dumps([graph, *values]).encode(), digest_size=16).hexdigest()


def _read(database: sqlite3.Connection, path: Path, graph: str, is_partial: bool = False) -> _Contents:
    """The events that can be read, and a sentence for each thing that is damaged.

    is_partial : also of a file in which only the table of events is as it should be.
    """
    fault, lost = _fault(database, path, graph), []
    if fault and not (is_partial and _objects(database, "events") == [o for o in _OBJECTS if o[1] == "events"]):
        raise fault
    try:
        lost += [text for (text,) in database.execute("PRAGMA quick_check(1)") if text != "ok"]
    except _UNREADABLE as error:
        lost.append(str(error))
    events: dict[str, Event] = {}
    for *row, checksum in _rows(database, lost):
        values = dict(zip(_COLUMNS, row, strict=True))
        try:
            event = make_event(values)
            if event.id in events or checksum != _checksum(graph, row):
                raise DataFileError("It was altered.")
            events[event.id] = event
        except DccgcnError:
            text = ", ".join(f"{name} {values[name]!r}" for name in ("kind", "node", "label", "who"))
            lost.append(f"event {values['clock']} was altered: {truncate(printable(text), 200)}")
    clocks = [event.clock for event in events.values()]
    pairs = zip([0, *clocks], clocks, strict=False)
    lost += [f"events {before + 1} to {after - 1} cannot be read" for before, after in pairs if after > before + 1]
    if fault and not events:
        raise fault
    return [*events.values()], [*([fault.what] if fault else []), *lost]


def _rows(database: sqlite3.Connection, lost: list[str]) -> list[tuple[Any, ...]]:
    """All rows of events in their order; where some cannot be read, the others."""
    try:
        return database.execute("SELECT * FROM events ORDER BY clock").fetchall()
    except _UNREADABLE as error:
        lost.append(f"some events cannot be read ({error})")
        rows: list[tuple[Any, ...]] = []
    pages, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    for clock in range(1, pages * size // _LEAST_ROW):
        with suppress(*_UNREADABLE):
            rows += database.execute("SELECT * FROM events WHERE clock = ?", (clock,)).fetchall()
    return rows


def _fault(database: sqlite3.Connection, path: Path, graph: str) -> DataFileError | None:
    """Why a file is no log of this graph, if it is none."""

    def pragma(name: str) -> Any:
        return database.execute(f"PRAGMA {name}").fetchone()[0]

    if pragma("application_id") != _APPLICATION:
        return DataFileError(f"{path} is not a log of labels.", "Give another path; nothing was changed.")
    if (version := pragma("user_version")) != FORMAT:
        return DataFileError(
            f"{path} is of format {version}; this version of dccgcn reads format {FORMAT}. Nothing was changed.",
            "Write the labels to a table with the version that made the log (dccgcn label … --export labels.csv), give "
            "the table with --labels, and name a new log with --log.",
        )
    if _objects(database) != _OBJECTS:
        return DataFileError(
            f"{path} has other tables, views or triggers than dccgcn writes; nothing was changed.",
            "Write its labels to a new file with --repair, or name another one with --log.",
        )
    if database.execute("SELECT graph FROM about LIMIT 2").fetchall() != [(graph,)]:
        return DataFileError(
            f"{path} holds labels of other nodes, or of nodes in another order.",
            "Give the tables that were labelled, or another path with --log.",
        )
    return None


def _objects(database: sqlite3.Connection, name: str = "%") -> list[tuple[Any, ...]]:
    """What the schema of a file consists of, word by word."""
    listed = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name LIKE ? ORDER BY name"
    return database.execute(listed, (name,)).fetchall()


with closing(sqlite3.connect(":memory:")) as _new:
    _new.executescript(_SCHEMA)
    _OBJECTS = _objects(_new)


def _damaged(path: Path, lost: Sequence[str]) -> DataFileError:
    more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
    return DataFileError(
        f"{path} is damaged ({lost[0]}{more}).",
        "Nothing more is written to it. Write what can be saved to a new file: repeat the command with --repair.",
    )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system report into a DataFileError."""
    try:
        yield
    except (*_UNREADABLE, OSError) as error:
        raise DataFileError(
            f"{path} cannot be read or written ({error}).",
            "Check the disk and the permissions. Of a damaged log --repair writes what can be read to a new file.",
        ) from error
