"""The event log: durable, merged in any order, replayed to the same labels."""

import sqlite3
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.labelling.events import TABLE, Draw, Event, replay
from dccgcn.labelling.log import EventLog, read_events

NODES, NAMES, PEOPLE = ["1", "2", "3"], ["a", "b", "c"], ["Ann", "Bo"]
DRAW = Draw(9, 2, 0.95, "trust ≥ 80 %", ("2", "1", "3"), ("a", "b", "a"))


@st.composite
def logs(draw, most=14):
    """Events with unique ids, some of them concurrent (of equal clock)."""
    events = []
    for number in range(draw(st.integers(0, most))):
        kind = draw(st.sampled_from(["label", "label", "skip", "undo", "class", "rename", "decide", "audit", "check"]))
        earlier = st.sampled_from([event.id for event in events] or [""])
        events.append(
            Event(
                clock=draw(st.integers(1, 6)),
                id=f"{draw(st.integers(0, 99)):02}-{number}",
                who=draw(st.sampled_from(PEOPLE)),
                time="",
                kind=kind,
                node=draw(st.sampled_from(NODES)),
                label=draw(st.sampled_from(["", *NAMES] if kind == "check" else NAMES)),
                target=draw(st.sampled_from(NAMES) if kind == "rename" else earlier),
                data=DRAW.to_json() if kind == "audit" else "",
            )
        )
    return events


@given(logs(), st.randoms())
def test_the_order_of_reading_does_not_matter(events, random):
    shuffled = events.copy()
    random.shuffle(shuffled)
    assert replay(shuffled, NAMES[:1], {"3": "a"}) == replay(events, NAMES[:1], {"3": "a"})


@given(logs())
def test_labels_are_of_known_classes(events):
    labels = replay(events, ["a"], {"3": "a"})
    assert len(set(labels.classes)) == len(labels.classes)
    used = {label for answers in labels.given.values() for label in answers.values()}
    for audit in labels.audits:
        used |= {*audit.predictions.values()} | {name for a in audit.answers.values() for name in a.values() if name}
    assert used | {*labels.decided.values()} <= set(labels.classes)
    assert not labels.labels.keys() & labels.disagreements.keys()


@given(logs())
def test_undoing_the_last_event_is_as_if_it_had_not_been(events):
    if events:
        last = max(events)
        undo = Event(last.clock + 1, "undo", "Ann", "", "undo", target=last.id)
        if last.kind != "undo":
            assert replay([*events, undo]) == replay([event for event in events if event is not last])


@settings(max_examples=8)
@given(parts=st.lists(logs(6), min_size=3, max_size=3))
def test_merging_commutes_and_is_associative_and_idempotent(parts, tmp_path_factory):
    def distinct(number):
        return [Event(**{**vars(event), "id": f"{number}-{event.id}"}) for event in parts[number]]

    folder = tmp_path_factory.mktemp("logs")
    logs = [EventLog(folder / f"{number}", "graph") for number in range(6)]
    for number in range(3):
        logs[number]._write(distinct(number))
    for target, order in ((3, (0, 1, 2)), (4, (2, 1, 0)), (5, (1, 0, 1, 2, 1))):
        for number in order:
            logs[target].merge(folder / f"{number}", "graph")
    merged = [replay(log.events) for log in logs[3:]]
    assert merged[0] == merged[1] == merged[2]
    assert [sorted(EventLog(folder / f"{n}", "graph").events) for n in (3, 4)] == [sorted(logs[5].events)] * 2


def made(*events):
    """Events of (who, kind, fields), one after the other."""
    return [Event(n, f"e{n}", who, "", kind, **given) for n, (who, kind, given) in enumerate(events)]


def test_people_who_disagree_are_listed_until_one_decides():
    two = [("Ann", "label", {"node": "1", "label": "a"}), ("Bo", "label", {"node": "1", "label": "b"})]
    labels = replay(made(*two))
    assert labels.labels == {}
    assert labels.disagreements == {"1": {"Ann": "a", "Bo": "b"}}
    decided = replay(made(*two, ("Cy", "decide", {"node": "1", "label": "b"})))
    assert decided.labels == {"1": "b"}
    assert decided.disagreements == {}
    again = replay(made(*two, ("Cy", "decide", {"node": "1", "label": "b"}), *two[:1]))
    assert again.disagreements == {"1": {"Ann": "a", "Bo": "b", "Cy": "b"}}


def test_a_label_of_the_table_is_not_overwritten_either():
    labels = replay(made(("Ann", "label", {"node": "1", "label": "b"})), ["a"], {"1": "a", "2": "a"})
    assert labels.disagreements == {"1": {TABLE: "a", "Ann": "b"}}
    assert labels.labels == {"2": "a"}


def test_a_person_may_change_her_mind():
    events = made(*(("Ann", "label", {"node": "1", "label": name}) for name in "ab"))
    assert replay(events).labels == {"1": "b"}


def test_classes_are_renamed_merged_and_used_again():
    label = ("Ann", "label", {"node": "1", "label": "a"})
    rename = ("Ann", "rename", {"target": "a", "label": "b"})
    assert replay(made(label, rename), ["a", "c"]).classes == ["b", "c"]
    assert replay(made(label, rename), ["a", "b"]).classes == ["b"]  # merged
    late = replay(made(label, rename, ("Bo", "label", {"node": "2", "label": "a"})))
    assert late.labels == {"1": "b", "2": "b"}  # Bo had not seen the new name
    new = replay(made(label, rename, ("Bo", "class", {"label": "a"}), ("Bo", "label", {"node": "2", "label": "a"})))
    assert new.labels == {"1": "b", "2": "a"}
    back = replay(made(label, rename, ("Ann", "rename", {"target": "b", "label": "a"})), ["a"])
    assert (back.classes, back.labels) == (["a"], {"1": "a"})


def test_an_audit_counts_in_the_order_of_the_draw():
    start = ("Ann", "audit", {"data": DRAW.to_json()})

    def checks(*answers):
        given = [("Ann", "check", {"target": "e0", "node": node, "label": name}) for node, name in answers]
        return replay(made(start, *given))

    assert checks().audits[0].checked == []
    assert checks(("1", "b")).audits[0].checked == []  # the first of the draw is still open
    assert checks(("1", "b"), ("2", "a")).audits[0].checked == [False, False]
    assert checks(("2", "b")).audits[0].checked == [True]
    assert checks(("2", "")).audits[0].checked == [True]  # cannot be told
    assert checks(("2", "b"), ("1", "")).labels == {"2": "b"}  # a check is a label too
    first = ("Ann", "check", {"target": "e0", "node": "2", "label": "a"})
    others = replay(made(start, first, ("Bo", "check", {"target": "e0", "node": "2", "label": "b"})))
    assert others.audits[0].checked == [True]  # people who disagree count as an error
    renamed = made(start, first)
    renamed += [Event(9, "r", "Ann", "", "rename", target="a", label="z")]
    assert replay(renamed).audits[0].checked == [False]


@pytest.mark.parametrize(
    "change", [{"planned": 4}, {"planned": 0}, {"population": 2}, {"nodes": ["1", "1", "2"]}, {"x": 1}]
)
def test_a_draw_is_checked(change):
    import json

    with pytest.raises(DataFileError):
        Draw.from_json(json.dumps({**json.loads(DRAW.to_json()), **change}))
    assert Draw.from_json(DRAW.to_json()) == DRAW


# the file


def test_events_are_there_after_opening_again(tmp_path):
    log = EventLog(tmp_path / "log", "graph")
    first = log.append("Ann", "label", node="1", label="a")
    assert log.append("Ann", "label", id=first.id, node="1", label="a") is first  # a repeated request
    second = log.append("Bo", "skip", node="2")
    assert second.clock == first.clock + 1
    assert read_events(tmp_path / "log", "graph") == [first, second]  # without closing: it is on disk
    log.add_history(1, 0.5, 0.75)
    log.close()
    again = EventLog(tmp_path / "log", "graph")
    assert again.events == [first, second]
    assert again.history == [(1, 0.5, 0.75)]
    assert again._database.execute("PRAGMA synchronous").fetchone() == (2,)
    assert again._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_threads_may_append_at_once(tmp_path):
    log = EventLog(tmp_path / "log", "graph")
    threads = [threading.Thread(target=lambda: [log.append("Ann", "skip", node="1") for _ in range(20)]) for _ in "123"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(event.clock for event in read_events(tmp_path / "log", "graph")) == list(range(1, 61))


def test_other_files_are_refused_and_left_alone(tmp_path):
    EventLog(tmp_path / "log", "graph").close()
    with pytest.raises(DataFileError, match="other nodes"):
        EventLog(tmp_path / "log", "another graph")
    with pytest.raises(DataFileError, match="no file"):
        read_events(tmp_path / "none", "graph")
    (tmp_path / "text").write_text("a,b\n" * 1000)
    with pytest.raises(DataFileError, match="cannot be read"):
        EventLog(tmp_path / "text", "graph")
    assert (tmp_path / "text").read_text() == "a,b\n" * 1000
    with sqlite3.connect(tmp_path / "database") as database:
        database.execute("CREATE TABLE t (x)")
    before = (tmp_path / "database").read_bytes()
    with pytest.raises(DataFileError, match="not a log"):
        EventLog(tmp_path / "database", "graph")
    assert (tmp_path / "database").read_bytes() == before
    with pytest.raises(DataFileError):
        EventLog(tmp_path, "graph")


def test_events_are_checked(tmp_path):
    log = EventLog(tmp_path / "log", "graph")
    for wrong in ({"kind": "delete"}, {"kind": "label", "label": "x" * 201}):
        with pytest.raises(DccgcnError):
            log.append("Ann", **wrong)
    assert log.events == []
    with sqlite3.connect(tmp_path / "log") as database:
        database.execute("UPDATE about SET graph = 'graph'")
        database.execute("INSERT INTO events VALUES (1, 'x', '', '', 'delete', '', '', '', '')")
    with pytest.raises(DataFileError, match=r"log, event 'x': The kind of an event is wrong.*--log"):
        read_events(tmp_path / "log", "graph")


def test_a_log_of_a_later_version_is_refused(tmp_path):
    EventLog(tmp_path / "log", "graph").close()
    with sqlite3.connect(tmp_path / "log") as database:
        database.execute("PRAGMA user_version = 2")
    for read in (EventLog, read_events):
        with pytest.raises(DataFileError, match=r"of format 2; .* reads format 1\. Update dccgcn"):
            read(tmp_path / "log", "graph")
