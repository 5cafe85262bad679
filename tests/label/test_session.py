"""The state of labelling: refits, questions, leases, disagreements, audits, and the evidence for a node."""

import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dccgcn.errors import DataFileError, DccgcnError, Finding
from dccgcn.label import audits
from dccgcn.label.events import MAX_NAME
from dccgcn.label.evidence import authors, evidence, search
from dccgcn.label.export import labels_frame
from dccgcn.label.log import EventLog
from dccgcn.label.server import state
from dccgcn.label.session import Session
from dccgcn.label.source import Source, class_name
from dccgcn.workflow.active_learning import suggest_labels
from dccgcn.workflow.fitting import run
from helpers.runs import toy
from helpers.served import source_of

CLASSES = ["class 0", "class 1", "class 2"]


@pytest.fixture
def session(tmp_path):
    source, truth = source_of()
    session = Session(source, EventLog(tmp_path / "log", source.fingerprint))
    session.truth = truth
    session.start()
    session.wait()
    yield session
    session.close()


def answer(session, count=1, who="Ann", client="one"):
    asked = []
    for _ in range(count):
        node, _ = session.next_question(client, who)
        name = session.source.ids[node]
        session.record(who, "label", {"node": name, "label": session.truth[name]})
        asked.append(name)
    return asked


def label(session, count):
    """Answer so many questions, and wait for the picture that follows."""
    answer(session, count)
    session.wait()


def test_without_labels_the_questions_cover_the_graph(session):
    assert session.picture.result is None
    assert len({session.truth[name] for name in answer(session, 3)}) == 3  # one of each community
    session.wait()
    assert session.picture.result is not None
    assert session.picture.n_labels == 3
    assert session.labels.curve[-1][0] == 3


def test_the_answers_are_those_of_a_run_without_the_page(session):
    label(session, 8)
    graph = toy()
    labels = [session.labels.labels.get(str(node)) for node in range(graph.n)]
    alone = run(graph.with_labels(labels, classes=CLASSES), None, "ssgc")
    np.testing.assert_array_equal(session.picture.result.prediction.probabilities, alone.prediction.probabilities)


def test_labelling_goes_on_while_a_fit_runs_and_the_picture_knows_its_labels(session, monkeypatch):
    label(session, 4)
    fit, go_on = session._fit, threading.Event()

    def slowly(labels):
        assert go_on.wait(60)
        return fit(labels)

    monkeypatch.setattr(session, "_fit", slowly)
    answer(session, 4)
    with session._changed:
        assert session._changed.wait_for(lambda: session.refitting, 60)
    assert len(session.labels.labels) == 8
    assert session.picture.n_labels == 4
    go_on.set()
    session.wait()
    assert session.picture.n_labels == 8


def test_answers_are_shown_before_the_next_questions_are_chosen(session, monkeypatch):
    label(session, 4)
    chosen, go_on = session.picture.queue, threading.Event()

    def slowly(*given):
        assert go_on.wait(60)
        return suggest_labels(*given)

    monkeypatch.setattr("dccgcn.label.session.suggest_labels", slowly)
    answer(session)
    with session._changed:
        assert session._changed.wait_for(lambda: session.picture.n_labels == 5, 60)
    assert not session.refitting
    assert session.picture.queue == chosen
    answer(session)  # from the earlier questions
    go_on.set()
    session.wait()
    assert session.picture.n_labels == 6
    assert not {session.source.ids[node] for node, _ in session.picture.queue} & set(session.labels.answers)


def test_two_people_never_get_the_same_question(session):
    first, second = session.next_question("one", "Ann"), session.next_question("two", "Bo")
    assert first[0] != second[0]
    assert session.next_question("one", "Ann") == first  # a reloaded page keeps its question
    answer(session, 4, "Cy", "three")
    session.wait()
    assert session.next_question("one", "Ann")[0] == first[0]  # also after a fit with another order of questions
    session._leases = {asked: (client, 0.0) for asked, (client, _) in session._leases.items()}
    session.record("Bo", "skip", {"node": session.source.ids[second[0]]})
    taken = session.source.ids[first[0]]
    asked = ("label", taken)
    session.renew_lease("one")  # a page that is open keeps its question
    assert not session._lease(asked, "two")
    session._leases[asked] = ("one", 1.0)  # long ago
    session.renew_lease("two")
    assert session._lease(asked, "two")  # after a while it is given to others


def test_a_picture_says_why_nothing_is_trusted(session):
    label(session, 3)
    assert session.picture.warning is None
    result = session.picture.result
    doubtful = replace(result.prediction, findings=(Finding("warning", "too-few-labels", "Too few."),))
    assert replace(session.picture, result=replace(result, prediction=doubtful)).warning == "Too few."


def test_questions_of_a_large_graph_are_chosen_among_some_nodes(session, monkeypatch):
    monkeypatch.setattr("dccgcn.label.session.CANDIDATES", 20)
    label(session, 4)
    assert len(session.picture.queue) == 20
    assert not {session.source.ids[node] for node, _ in session.picture.queue} & set(session.labels.answers)


def test_skips_are_not_asked_again_of_the_same_person(session):
    node, _ = session.next_question("one", "Ann")
    event = session.record("Ann", "skip", {"node": session.source.ids[node]})
    assert session.next_question("one", "Ann")[0] != node
    assert session.next_question("two", "Bo")[0] == node
    session._leases.clear()
    session.record("Ann", "undo", {"target": event.id})
    assert session.next_question("one", "Ann")[0] == node


def test_a_disagreement_trains_nothing_until_it_is_decided(session):
    for who, name in (("Ann", CLASSES[0]), ("Bo", CLASSES[1])):
        session.record(who, "label", {"node": "5", "label": name})
    assert session.labels.disagreements == {"5": {"Ann": CLASSES[0], "Bo": CLASSES[1]}}
    assert session.source.labelled_graph(session.labels).labels[5] == -1
    session.record("Cy", "decide", {"node": "5", "label": CLASSES[0]})
    assert session.source.labelled_graph(session.labels).labels[5] == 0
    assert authors(session.labels) == {"Ann": 1, "Bo": 1, "Cy": 1}


def test_classes_can_be_added_renamed_and_merged(session):
    answer(session, 6)
    session.record("Ann", "class", {"label": " new\tone "})
    session.record("Ann", "rename", {"target": CLASSES[0], "label": CLASSES[1]})
    session.wait()
    assert session.labels.classes == [*CLASSES[1:], "new one"]
    for wrong in ("", "-1", "None"):
        with pytest.raises(DccgcnError):
            class_name(wrong)
    assert session.picture.result.graph.classes == tuple(session.labels.classes)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("label", {"node": "999", "label": CLASSES[0]}),
        ("label", {"node": "1", "label": "none such"}),
        ("label", {"node": "1", "label": ""}),
        ("label", {"node": "1"}),
        ("class", {"label": "  "}),
        ("class", {"label": "nan"}),
        ("class", {"label": "x" * 61}),
        ("rename", {"target": "none such", "label": "x"}),
        ("undo", {"target": "none such"}),
        ("check", {"target": "none such", "node": "1", "label": ""}),
        ("audit", {"data": "{}"}),
    ],
)
def test_wrong_events_are_refused_and_not_written(session, kind, given):
    with pytest.raises(DccgcnError):
        session.record("Ann", kind, given)
    assert session.log.events == []


def test_nobody_undoes_the_events_of_others_or_the_draw_of_an_audit(session):
    """To draw again until the answers please would break the bound; and the checks of others hang on it."""
    label(session, 15)
    with pytest.raises(DccgcnError, match="own"):
        session.record("Bo", "undo", {"target": session.log.events[0].id})
    for who in ("", " \n"):
        with pytest.raises(DccgcnError, match="name is empty"):
            session.start_audit(who, 0.3)
    event = session.start_audit("Ann", 0.3)
    with pytest.raises(DccgcnError, match="nothing to undo"):
        session.record("Ann", "undo", {"target": event.id})
    assert "audit" not in {event.kind for event in session.labels.undoable["Ann"]}


def test_a_restarted_session_has_the_same_labels_and_answers(session, tmp_path):
    label(session, 5)
    session.close()
    again = Session(session.source, EventLog(tmp_path / "log", session.source.fingerprint))
    again.start()
    again.wait()
    assert again.labels == session.labels
    assert len(again.labels.curve) > 0
    np.testing.assert_array_equal(
        again.picture.result.prediction.probabilities, session.picture.result.prediction.probabilities
    )
    again.close()


def test_an_audit_is_drawn_from_trusted_predictions_and_checked_in_order(session):
    label(session, 15)
    result = session.picture.result
    event = session.start_audit("Ann", 0.3)
    audit = session.labels.audits[-1]
    trusted = {session.source.ids[i] for i in np.flatnonzero(result.trusted.is_trusted & result.is_predicted)}
    assert set(audit.draw.nodes) == trusted  # a random order of all of them
    assert audits.status(audit)["any_time"] == 1
    while audits.next_check(audit) and not audits.status(audit)["done"]:
        _, node = session.next_check("one")
        name = session.source.ids[node]
        session.record("Ann", "check", {"target": event.id, "node": name, "label": audit.predictions[name]})
        audit = session.labels.audits[-1]
    summary = audits.summarise(audit)
    assert (summary.kind, summary.errors, summary.checked) == ("fixed", 0, audit.draw.planned)
    assert summary.share_at_most <= 0.3
    assert "At most" in summary.sentence()
    assert len(session.labels.labels) == 15 + audit.draw.planned  # audited labels train like any others


def test_what_was_undone_is_asked_again(session):
    node = answer(session, 2)[-1]
    asked = session.source.position[node]
    following = session.next_question("one", "Ann")[0]
    for is_skipped in (False, True):
        event = session.record("Ann", "skip", {"node": node}) if is_skipped else session.labels.undoable["Ann"][-1]
        session.record("Ann", "undo", {"target": event.id})
        session.ask_again("one", event.id)
        assert session.next_question("one", "Ann")[0] == asked != following
    session.record("Bo", "label", {"node": node, "label": "class 1"})
    session.ask_again("one", event.id)
    assert session.next_question("one", "Ann")[0] != asked  # somebody else has labelled it meanwhile


def test_an_audit_checks_in_order_what_others_are_asked_to_label(session):
    """Checks count from the first of the draw on: one that were left out would keep all later ones from counting."""
    label(session, 15)
    event = session.start_audit("Ann", 0.3)
    first, second, third, *_ = session.labels.audits[-1].draw.nodes
    session._leases = {("label", first): ("two", float("inf"))}
    position = session.source.position

    def check(node):
        session.record("Ann", "check", {"target": event.id, "node": node, "label": ""})
        return [audits.status(session.labels.audits[-1])[name] for name in ("checked", "waiting")]

    assert session.next_check("one")[1] == position[first]
    assert check(first) == [1, 0]
    assert session.next_check("one")[1] == position[second]
    assert session.next_check("three")[1] == position[third]  # nobody checks what another one is checking
    assert check(third) == [1, 1]
    assert check(second) == [3, 0]


def test_a_failed_fit_is_told_and_the_next_label_is_another_try(session, monkeypatch):
    def fail(labels):
        raise DccgcnError("No memory.", "Buy some.")

    with monkeypatch.context() as patch:
        patch.setattr(Source, "fit", lambda self, labels: fail(labels))
        answer(session)
        session.wait()
        assert session.error == "No memory. Buy some."
    label(session, 1)
    assert session.error is None


def test_a_deleted_log_is_told_to_everybody_and_the_labels_stay_in_memory(tmp_path):
    source, _ = source_of()
    told = []
    session = Session(source, EventLog(tmp_path / "log", source.fingerprint, told.append))
    session.record("Ann", "label", {"node": "1", "label": CLASSES[0]})
    (tmp_path / "log").unlink()
    before = session.revision
    with pytest.raises(DataFileError, match="deleted"):
        session.record("Ann", "label", {"node": "2", "label": CLASSES[0]})
    assert session.revision > before  # pages that are open fetch the state
    assert told == [state(session, "Bo")["error"]]
    assert session.labels.labels == {"1": CLASSES[0]}
    assert len(labels_frame(source, session.labels)) == 1
    session.close()


def test_the_end_does_not_wait_for_a_fit(session, monkeypatch):
    """A fit cannot be interrupted; its labels are in the log."""
    begun, go_on = threading.Event(), threading.Event()
    monkeypatch.setattr(session, "_fit", lambda labels: begun.set() or go_on.wait(60))
    monkeypatch.setattr("dccgcn.label.session.PATIENCE", 0.1)
    session.record("Ann", "label", {"node": "1", "label": CLASSES[0]})
    assert begun.wait(60)
    end = threading.Thread(target=session.close)
    end.start()
    end.join(20)
    assert not end.is_alive()
    assert session._worker.is_alive()
    go_on.set()
    session._worker.join(60)


@pytest.mark.parametrize("length", [61, 201, MAX_NAME])
def test_a_long_class_name_of_a_table_can_be_chosen_renamed_and_audited(tmp_path, length):
    long = "x" * length
    graph = toy()
    graph = graph.with_labels([long if k == 0 else f"class {k}" for k in graph.labels])
    source = Source.from_graph(graph, np.arange(0, 60, 4), method="ssgc")
    session = Session(source, EventLog(tmp_path / "log", source.fingerprint))
    session.start()
    session.record("Ann", "label", {"node": "1", "label": long})
    session.wait()
    start = session.start_audit("Ann", 0.3)
    assert long in session.labels.audits[0].draw.predictions
    node = session.labels.audits[0].draw.nodes[0]
    session.record("Ann", "check", {"target": start.id, "node": node, "label": long})
    session.record("Ann", "rename", {"target": "class 1", "label": long})  # merges the two
    session.record("Ann", "rename", {"target": long, "label": "short"})
    assert "short" in session.labels.classes
    assert long not in session.labels.classes
    session.close()
    with pytest.raises(DccgcnError, match="10,001 characters"):
        Source.from_graph(graph.with_labels(["x" * (MAX_NAME + 1)] * 60), np.arange(9))


def test_evidence_is_the_row_the_prediction_and_the_neighbours(session):
    label(session, 6)
    picture = session.picture
    node = next(i for i in range(60) if str(i) not in session.labels.answers)
    shown = evidence(session.source, session.labels, node, picture.result)
    assert shown["row"] == [("id", str(node)), ("title", f"the paper of {node}"), ("size", "0.5")]
    assert shown["prediction"]["label"] in CLASSES
    assert len(shown["neighbours"]) == shown["degree"] == 4
    labelled = [bool(neighbour["label"]) for neighbour in shown["neighbours"]]
    assert labelled == sorted(labelled, reverse=True)
    assert evidence(session.source, session.labels, node, None)["prediction"] is None


def test_search_finds_ids_first_then_texts(session):
    assert [found["node"] for found in search(session.source, "5")][:2] == ["5", "50"]
    assert [found["node"] for found in search(session.source, "Paper of 17")] == ["17"]
    assert search(session.source, " ") == search(session.source, "no such") == []
    named = replace(session.source, graph=session.source.graph.with_names([f"Ann{node}" for node in range(60)]))
    assert named.title(7) == "Ann7"
    assert search(named, "ann17") == [{"node": "17", "title": "Ann17"}]


def test_long_rows_are_cut_to_what_is_not_zero():
    wide = pd.DataFrame(np.eye(60, dtype=int), columns=[f"w{j}" for j in range(60)]).assign(text="x" * 3000)
    source, _ = source_of()
    cells, more = Source(source.graph, rows=wide).row(7)
    assert [name for name, _ in cells] == ["w7", "text"]
    assert len(cells[1][1]) == 2000
    assert more == 59
    cells, more = Source(source.graph).row(7)  # without a table: the features
    assert {name for name, _ in cells} == {"feature 0", "feature 1", "feature 2"}
