"""The file of events: what was acknowledged is there, and what is not as it was written is noticed."""

import os
import re
import shutil
import sqlite3
import threading
from contextlib import closing

import numpy as np
import pytest

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.label import log as log_module
from dccgcn.label.events import MAX_NAME
from dccgcn.label.log import EventLog, read_events, repair


@pytest.fixture
def path(tmp_path):
    """A closed log of three events."""
    with closing(EventLog(tmp_path / "log.sqlite", "graph")) as log:
        log.append("Ann", "label", id="one", node="1", label="a")
        log.append("Bo", "label", id="two", node="2", label="b")
        log.append("Ann", "skip", id="three", node="3")
    return tmp_path / "log.sqlite"


def change(path, *statements):
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


def test_events_are_there_after_opening_again(tmp_path):
    log = EventLog(tmp_path / "log", "graph")
    first = log.append("Ann", "label", node="1", label="a")
    assert log.append("Ann", "label", id=first.id, node="1", label="a") is first  # a repeated request
    second = log.append("Bo", "skip", node="2")
    assert second.clock == first.clock + 1
    assert read_events(tmp_path / "log", "graph") == [first, second]  # without closing: it is on disk
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log", "log.lock"]  # in one file
    assert log._database.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
    log.close()
    with closing(EventLog(tmp_path / "log", "graph")) as again:
        assert again.events == [first, second]


def test_threads_may_append_at_once(tmp_path):
    log = EventLog(tmp_path / "log", "graph")
    threads = [threading.Thread(target=lambda: [log.append("Ann", "skip", node="1") for _ in range(20)]) for _ in "123"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.clock for event in read_events(tmp_path / "log", "graph")] == list(range(1, 61))


def test_other_files_are_refused_and_left_alone(path, tmp_path):
    with pytest.raises(DataFileError, match="other nodes"):
        EventLog(path, "another graph")
    with pytest.raises(DataFileError, match="no file"):
        read_events(tmp_path / "none", "graph")
    (tmp_path / "text").write_text("a,b\n" * 1000)
    with pytest.raises(DataFileError, match="cannot be read"):
        EventLog(tmp_path / "text", "graph")
    assert (tmp_path / "text").read_text() == "a,b\n" * 1000
    (tmp_path / "empty").touch()  # perhaps a log that was cut to nothing
    change(tmp_path / "database", "CREATE TABLE t (x)")
    for name in ("empty", "database"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(DataFileError, match="not a log"):
            EventLog(tmp_path / name, "graph")
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(DataFileError, match="not a regular file"):
        EventLog(tmp_path, "graph")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW more AS SELECT * FROM events",
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END",
        "CREATE TABLE other (x)",
        "CREATE INDEX i ON events (node)",
    ],
)
def test_a_schema_that_is_not_exact_is_refused_and_its_labels_can_be_saved(path, statement):
    change(path, statement)
    for read in (EventLog, read_events):
        with pytest.raises(DataFileError, match="tables, views or triggers"):
            read(path, "graph")
    target, lost = repair(path, "graph")
    assert len(lost) == 1
    assert [event.id for event in read_events(target, "graph")] == ["one", "two", "three"]


def test_a_view_in_the_place_of_the_events_is_never_read(path):
    change(path, "ALTER TABLE events RENAME TO kept", "CREATE VIEW events AS SELECT * FROM kept")
    for read in (EventLog, repair):
        with pytest.raises(DataFileError, match="tables, views or triggers"):
            read(path, "graph")


@pytest.mark.parametrize("version", [1, 3])
def test_a_log_of_another_format_is_refused_with_what_to_do(path, version):
    change(path, f"PRAGMA user_version = {version}")
    for read in (EventLog, read_events):
        with pytest.raises(DataFileError, match=rf"of format {version}; .* reads format 2.*--export.*--labels"):
            read(path, "graph")


def test_events_are_checked_before_they_are_written(path):
    log = EventLog(path, "graph")
    for wrong in ({"kind": "delete"}, {"kind": "label", "label": "x" * (MAX_NAME + 1)}):
        with pytest.raises(DccgcnError):
            log.append("Ann", **wrong)
    assert len(read_events(path, "graph")) == 3


@pytest.mark.parametrize("other", [{"node": "2"}, {"label": "b"}, {"kind": "decide"}, {"who": "Bo"}])
def test_an_event_with_the_id_of_another_one_is_not_acknowledged(path, other):
    log = EventLog(path, "graph")
    with pytest.raises(DccgcnError, match="id of another"):
        log.append(**{"who": "Ann", "kind": "label", "id": "one", "node": "1", "label": "a", **other})
    assert log.append("Ann", "label", id="one", node="1", label="a").clock == 1


def test_every_flipped_bit_is_found_or_changes_nothing(path, tmp_path):
    events, content, rng = read_events(path, "graph"), path.read_bytes(), np.random.default_rng(0)
    used = np.flatnonzero(np.frombuffer(content, np.uint8))  # most of a small file is zeros
    found = 0
    for place, bit in zip(rng.permutation(used)[:800], rng.integers(0, 8, 800), strict=False):
        changed = bytearray(content)
        changed[place] ^= 1 << bit
        (tmp_path / "changed").write_bytes(changed)
        try:
            assert read_events(tmp_path / "changed", "graph") == events, place
        except DataFileError:
            found += 1
    assert found > 0.9 * min(len(used), 800)


@pytest.mark.parametrize(
    ("statement", "loss", "kept"),
    [
        ("UPDATE events SET label = 'c' WHERE clock = 2", "event 2 was altered: .*'c'", ["one", "three"]),
        ("UPDATE events SET who = 'Cy' WHERE clock = 3", "event 3 was altered", ["one", "two"]),
        ("UPDATE events SET clock = 9 WHERE clock = 3", "event 9 was altered", ["one", "two"]),
        ("DELETE FROM events WHERE clock = 2", "events 2 to 2 cannot be read", ["one", "three"]),
        ("INSERT INTO events SELECT 4, id, who, time, kind, node, label, target, data, checksum FROM events "
         "WHERE clock = 1", "event 4 was altered", ["one", "two", "three"]),
        ("UPDATE about SET graph = 'grapf'", "other nodes", ["one", "two", "three"]),
    ],
)  # fmt: skip
def test_what_is_lost_is_told_and_the_rest_is_saved_to_a_new_file(path, statement, loss, kept):
    change(path, statement)
    before = path.read_bytes()
    for read in (EventLog, read_events):
        with pytest.raises(DataFileError, match=loss):
            read(path, "graph")
    target, lost = repair(path, "graph")
    assert any(re.search(loss, text) for text in lost)
    assert [(event.clock, event.id) for event in read_events(target, "graph")] == [*enumerate(kept, 1)]
    assert path.read_bytes() == before
    with pytest.raises(DataFileError, match="exists"):
        repair(path, "graph")
    assert repair(target, "graph") == (None, [])


def test_a_damaged_log_is_shown_but_nothing_is_added(path):
    change(path, "UPDATE events SET label = 'c' WHERE clock = 2")
    told = []
    log = EventLog(path, "graph", told.append)
    assert [event.id for event in log.events] == ["one", "three"]
    with pytest.raises(DataFileError, match="--repair"):
        log.append("Ann", "label", id="four", node="1", label="a")
    assert len(told) == 1
    assert "is damaged (event 2" in told[0]


def test_events_of_pages_that_can_be_read_are_saved(tmp_path):
    path = tmp_path / "log.sqlite"
    with closing(EventLog(path, "graph")) as log:
        for number in range(200):
            log.append("Ann", "label", node=str(number), label="a")
    content = bytearray(path.read_bytes())
    place = content.index(b"labels") if b"labels" in content else content.index(b"label99a")
    page = place // 4096 * 4096
    content[page : page + 4096] = bytes(4096)
    path.write_bytes(content)
    target, lost = repair(path, "graph")
    assert 100 < len(read_events(target, "graph")) < 200
    assert any("cannot be read" in text for text in lost)


def test_a_cut_log_gives_what_is_left(tmp_path):
    path = tmp_path / "log.sqlite"
    with closing(EventLog(path, "graph")) as log:
        written = [log.append("Ann", "label", node=str(i), label="a" * 400) for i in range(60)]
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(DataFileError, match="--repair"):
        EventLog(path, "graph")
    saved, lost = repair(path, "graph")
    kept = {event.id: event.label for event in read_events(saved, "graph")}
    assert 10 < len(kept) < 60
    assert kept.items() <= {event.id: event.label for event in written}.items()
    assert lost
    assert {entry.suffix for entry in tmp_path.iterdir()} == {".sqlite", ".lock"}


def replace(path):
    os.replace(shutil.copy(path, path.with_suffix(".copy")), path)


INSERT = "INSERT INTO events SELECT 5, 'x', who, time, kind, node, label, target, data, '' FROM events LIMIT 1"
ACTS = {
    "delete": lambda path: path.unlink(),
    "replace": replace,
    "move": lambda path: path.rename(path.with_suffix(".moved")),
    "cut": lambda path: os.truncate(path, 0),
    "overwrite": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "alter": lambda path: change(path, "UPDATE events SET label = 'c' WHERE clock = 2"),
    "add": lambda path: change(path, INSERT),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_nothing_is_acknowledged_once_the_file_is_not_what_was_opened(path, act):
    told = []
    log = EventLog(path, "graph", told.append)
    log.append("Ann", "label", id="four", node="1", label="a")
    act(path)
    for _ in range(2):
        with pytest.raises(DataFileError, match="by another program"):
            log.append("Ann", "label", id="five", node="1", label="a")
    with pytest.raises(DataFileError, match="by another program"):
        log.append("Ann", "label", id="four", node="1", label="a")  # nor what was acknowledged before
    assert len(told) == 1
    assert "Download the labels" in told[0]
    assert len(log.events) == 4  # in memory, to be downloaded


def test_no_other_program_writes_between_the_check_and_the_event(path, monkeypatch):
    real = log_module._insert

    def insert(*given):
        with (
            pytest.raises(sqlite3.OperationalError, match="locked"),
            closing(sqlite3.connect(path, timeout=0)) as other,
        ):
            other.execute("DELETE FROM events")
        real(*given)

    monkeypatch.setattr(log_module, "_insert", insert)
    with closing(EventLog(path, "graph")) as log:
        log.append("Ann", "label", node="1", label="a")
    assert len(read_events(path, "graph")) == 4


def test_the_file_alone_is_the_log_also_if_another_program_changes_its_journal(path):
    with closing(EventLog(path, "graph")) as log:
        change(path, "PRAGMA journal_mode = WAL")
        log.append("Ann", "label", node="1", label="a")
        assert len(read_events(shutil.copy(path, path.with_suffix(".copy")), "graph")) == 4


def test_a_new_time_of_the_same_content_is_no_fault(path):
    log = EventLog(path, "graph")
    os.utime(path, (0, 0))
    assert log.append("Ann", "label", node="1", label="a").clock == 4
    assert log.append("Ann", "label", node="2", label="a").clock == 5


def test_a_log_is_written_by_one_process_also_under_another_name(path, tmp_path):
    (tmp_path / "link.sqlite").symlink_to(path)
    os.link(path, tmp_path / "hard.sqlite")
    with pytest.raises(DataFileError, match="2 names"):
        EventLog(path, "graph")
    (tmp_path / "hard.sqlite").unlink()
    with closing(EventLog(tmp_path / "link.sqlite", "graph")) as log:
        for name in ("log.sqlite", "link.sqlite"):
            with pytest.raises(DataFileError, match="Another process"):
                EventLog(tmp_path / name, "graph")
        log.append("Ann", "label", node="1", label="a")
    assert len(read_events(path, "graph")) == 4
