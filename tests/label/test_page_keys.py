"""Keys and late answers of the labelling page in a real browser, on a small graph."""

import sqlite3
from contextlib import closing, contextmanager

import pandas as pd
import pytest

from helpers.label_page import Person
from helpers.served import labelling, source_of


@contextmanager
def small_server(folder, classes):
    """A server on a small graph."""
    source, _ = source_of()
    frame = source.rows.assign(topic="")
    frame.to_csv(folder / "nodes.csv", index=False)
    pd.DataFrame(source.graph.edges, columns=["source", "target"]).to_csv(folder / "edges.csv", index=False)
    options = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--id", "id", "--label", "topic", "--featureless"]
    options += ["--method", "ssgc"]
    with labelling(*options, "--classes", ",".join(classes), cwd=folder) as server:
        yield server


@pytest.fixture
def small(browser, tmp_path):
    """A server on a small graph, a person at its page, and the true class of each node."""
    truth = source_of()[1]
    with small_server(tmp_path, sorted(set(truth.values()))) as server:
        ann = Person(browser, server.address, "Ann")
        yield server, ann, truth
        ann.close()


def test_classes_that_are_numbers_are_chosen_by_them(browser, tmp_path):
    with small_server(tmp_path, ["0", "1", "12"]) as server:
        ann = Person(browser, server.address, "Ann")
        truth = {}
        for count, typed in enumerate(["0", "12", "1"], start=1):
            truth[ann.node] = typed
            ann.page.keyboard.type(typed)
            ann.wait_for_labels(count)
        ann.close()
    with closing(sqlite3.connect(tmp_path / "nodes.labels.sqlite")) as log:
        assert dict(log.execute("SELECT node, label FROM events WHERE kind = 'label'")) == truth


def test_a_label_and_the_next_question_are_shown_at_once(small):
    """The stream may tell of a label before the server has answered the request that gave it."""
    _, ann, truth = small
    ann.slow("/api/event", after=1500)
    nodes = [ann.answer(truth) for _ in range(3)]
    assert len(set(nodes)) == 3


def test_a_late_answer_does_not_bring_a_question_back(small):
    _, ann, truth = small
    for _ in range(3):
        ann.answer(truth)
    ann.slow("/api/question", after=1500)
    last = ann.answer(truth)
    ann.wait_for_picture(4)  # the question is asked again, with its new evidence
    asked = ann.answer(truth)
    assert asked != last
    ann.page.wait_for_timeout(2000)
    assert ann.node != asked


def test_a_node_that_is_searched_for_comes_before_a_refreshed_question(small):
    _, ann, truth = small
    asked = [ann.answer(truth) for _ in range(4)]
    wanted = next(node for node in truth if node not in (*asked, ann.node))
    ann.slow("/api/picture", after=1500)  # the new picture arrives while the node is fetched
    ann.slow("/api/node", after=3000)
    ann.answer(truth)
    ann.search(wanted)
    assert ann.node == wanted


def test_a_key_is_heard_as_soon_as_the_next_question_is_shown(small):
    """A refreshed question may be answered before the label that was pressed meanwhile: it waits for that label."""
    _, ann, truth = small
    for _ in range(3):
        ann.answer(truth)
    ann.wait_for_picture(3)
    ann.slow("/api/question", before=500)  # the server is asked late for the refreshed question
    ann.slow("/api/event", after=1500)  # and tells late that the label is saved
    ann.answer(truth)
    ann.wait_for_request("/api/question")
    before = ann.node
    ann.page.keyboard.press("1")
    following = ann.wait_for_another_node(before)
    ann.page.keyboard.press("1")
    assert ann.wait_for_another_node(following) not in (before, following)


def test_only_a_proposal_that_changed_has_to_settle(small):
    """Enter for the next question is heard, however soon after the proposal of the one before has changed."""
    _, ann, truth = small
    for _ in range(4):
        ann.answer(truth)
    ann.wait_for_picture(4)
    # the refreshed question has another proposal; a digit answers it, then Enter the next one
    ann.page.evaluate(
        """async (names) => {
          const quick = window.fetch;
          const until = async (found) => { while (!found()) await new Promise((go) => setTimeout(go, 5)); };
          const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          const node = () => document.getElementById("question").dataset.node;
          const proposed = () => document.querySelector("#accept .class-label").textContent.trim();
          let other = "";
          window.fetch = async (url, init) => {
            const answer = await quick(url, init);
            if (!String(url).startsWith("/api/question")) return answer;
            const question = await answer.json();
            other = names.find((name) => name !== proposed());
            question.prediction.label = other;
            return new Response(JSON.stringify(question));
          };
          press("1");
          await until(() => other && proposed() === other);
          const asked = node();
          press("1");
          await until(() => node() !== asked);
          press("Enter");
        }""",
        sorted(set(truth.values())),
    )
    ann.wait_for_labels(7)
    assert ann.labels == 7


def test_what_cannot_be_downloaded_yet_is_said(small):
    ann = small[1]
    ann.page.click("a[href$='predictions.csv']")
    ann.page.wait_for_selector("#banner-text:has-text('Nothing is predicted yet')")
    ann.page.click("#get-report")
    ann.page.wait_for_selector("#banner-text:has-text('Nothing is predicted yet')")
    assert ann.download("a[href$='labels.csv']").startswith(b"node_id")
    ann.page.wait_for_selector("#banner", state="hidden")


def test_a_label_that_is_not_saved_is_told_beside_the_lost_connection(small):
    server, ann, truth = small
    ann.answer(truth)
    server.kill()
    ann.page.wait_for_selector("#offline")
    ann.page.keyboard.press("1")
    ann.page.wait_for_selector("#banner")
    boxes = "document.querySelector('#banner').getBoundingClientRect(), o = document.querySelector('#offline')"
    ann.page.wait_for_function(  # the second is hidden for a moment while the page tries to connect
        f"() => {{ const b = {boxes}; return o.offsetHeight > 0 && b.bottom <= o.getBoundingClientRect().top; }}"
    )
    ann.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    first, second = (ann.page.locator(name).bounding_box() for name in ("#banner", "#offline"))
    assert first["y"] >= 0
    assert first["y"] + first["height"] <= second["y"]


def test_a_screen_reader_is_told_what_enter_accepts(small):
    _, ann, truth = small
    for _ in range(4):
        ann.answer(truth)
    ann.wait_for_picture(4)
    ann.page.wait_for_selector("#accept")
    ann.answer(truth)
    shown = ann.page.locator("#accept .class-label").inner_text().strip()
    assert f"Enter accepts {shown}" in ann.page.locator("#live").inner_text()
