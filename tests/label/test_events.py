"""Labels that follow from events."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dccgcn.errors import DataFileError
from dccgcn.label.events import TABLE, Draw, Event, point_json, replay
from helpers.served import source_of

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
    used = {label for answers in labels.answers.values() for label in answers.values()}
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
    changed = replay(made(two[0], ("Ann", "label", {"node": "1", "label": "b"})))
    assert changed.labels == {"1": "b"}  # of a person who has changed her mind
    table = replay(made(two[1]), ["a"], {"1": "a", "2": "a"})  # whose labels are not overwritten either
    assert (table.disagreements, table.labels) == ({"1": {TABLE: "a", "Bo": "b"}}, {"2": "a"})


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
    with pytest.raises(DataFileError):
        Draw.from_json(json.dumps({**json.loads(DRAW.to_json()), **change}))
    assert Draw.from_json(DRAW.to_json()) == DRAW


@pytest.mark.parametrize("population", [61, 10**12])
def test_an_audit_of_more_predictions_than_nodes_is_refused(population):
    """Bounds are computed for every number of wrong predictions, so that a large one would take all memory."""
    source, _ = source_of(60)
    change = f'"population":{population}'
    data = Draw(60, 2, 0.95, "all", ("2", "1"), ("a", "b")).to_json().replace('"population":60', change)
    with pytest.raises(DataFileError, match=r"--log"):
        source.replay(made(("Ann", "audit", {"data": data})))


@pytest.mark.parametrize("data", ["[1e300, 0, 0]", "[1, 2, 0]", "[1, NaN, 0]", "{}"])
def test_a_point_of_the_curve_is_checked(data):
    with pytest.raises(DataFileError, match="A fit"):
        replay(made(("", "fit", {"data": data})))
    assert replay(made(("", "fit", {"data": point_json(3, 0.5, 1.0000001)}))).curve == [(3, 0.5, 1.0)]
    with pytest.raises(DataFileError):  # what could not be read is not written
        point_json(3, 0.5, float("nan"))
