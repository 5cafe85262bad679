"""The labelling page in a real browser, on a part of Cora: by keyboard, killed, restarted, two people, an audit."""

import csv
import io
import re
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest

from dccgcn.labelling.events import replay
from helpers.browser import AXE, chromium, keep_messages
from helpers.command import dccgcn
from helpers.served import cora_tables, labelling, source_of

OPTIONS = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--id", "id", "--label", "topic"]
OPTIONS += ["--text", "title", "--text", "text"]
WAIT = 300_000  # milliseconds: the kernels may have to be compiled first, on a busy machine


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def tables(tmp_path_factory, small_cora):
    folder = tmp_path_factory.mktemp("cora")
    return folder, cora_tables(folder, small_cora)


class Person:
    """A browser of its own, with a name."""

    def __init__(self, browser, address, name, width=1280, height=900, **options):
        viewport = {"width": width, "height": height}
        self.context = browser.new_context(viewport=viewport, reduced_motion="reduce", **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT)
        self.messages = []
        keep_messages(self.page, self.messages)
        self.open(address)
        self.page.fill("#name", name)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(".choices")

    def open(self, address):
        self.page.goto(address)
        assert "token" not in self.page.url

    @property
    def node(self):
        return self.page.locator(".row dd").first.inner_text()

    @property
    def labels(self):
        return int(self.page.locator("#tiles .big").first.inner_text().replace(",", ""))

    @property
    def has_trusted(self):
        """Which nodes are asked for depends on how fast the fits are, and so does whether 30 labels are enough."""
        return self.page.locator("#start-audit").is_enabled()

    def classes(self):
        return [text.split("\n")[-1].strip() for text in self.page.locator(".choice:not(.plain)").all_inner_texts()]

    def wait_for_labels(self, count):
        self.page.wait_for_function("n => document.querySelector('#tiles .big')?.textContent === n", arg=str(count))

    def wait_for_picture(self, count):
        text = f"The picture is of all {count} label"
        script = "text => document.getElementById('age').textContent.startsWith(text)"
        self.page.wait_for_function(script, arg=text)

    def answer(self, truth):
        """By the digit of the right class."""
        node, before = self.node, self.labels
        self.page.keyboard.press(str(sorted(set(truth.values())).index(truth[node]) + 1))
        self.wait_for_labels(before + 1)
        return node

    def accept(self):
        """By Enter, again if the proposal has just changed."""
        labels = str(self.labels + 1)
        told = """n => document.querySelector('#tiles .big').textContent === n ? "saved"
            : document.getElementById("live").textContent.includes("again") ? "again" : "" """
        done = "again"
        while done == "again":
            self.page.evaluate("document.getElementById('live').textContent = ''")
            self.page.keyboard.press("Enter")
            done = self.page.wait_for_function(told, arg=labels).json_value()

    def search(self, node):
        """Find a node and wait until it is shown."""
        self.page.keyboard.press("/")
        self.page.fill("#search", node)
        self.page.wait_for_selector("#found button")
        self.page.keyboard.press("Enter")
        self.page.wait_for_function("node => document.querySelector('.row dd').textContent === node", arg=node)

    def check(self, truth, names, number):
        """Say what a drawn answer is."""
        drawn = self.page.locator("#accept .class-label").inner_text().strip()
        right = truth[self.node]
        self.page.keyboard.press("Enter" if right == drawn else str(names.index(right) + 1))
        script = "text => document.getElementById('audit-state').textContent.includes(text)"
        self.page.wait_for_function(script, arg=f"{number} check")

    def faults(self):
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            (f["id"], [n["html"][:150] for n in f["nodes"][:3]])
            for f in found
            if f["impact"] in ("serious", "critical")
        ]

    def download(self, name):
        with self.page.expect_download() as waiting:
            self.page.click(f"a[href$='{name}']")
        return Path(waiting.value.path()).read_bytes()


def test_a_whole_round(browser, tables):
    folder, truth = tables
    names = sorted(set(truth.values()))
    with labelling(*OPTIONS, "--classes", ",".join(names), cwd=folder) as server:
        ann = Person(browser, server.address, "Ann")
        assert ann.classes() == names
        assert ann.faults() == []
        asked = [ann.answer(truth) for _ in range(12)]
        assert len({truth[node] for node in asked}) >= 5  # the first questions cover the graph
        ann.wait_for_picture(12)

        # accept, undo, skip, search
        ann.accept()
        for count in (12, 11):
            ann.page.keyboard.press("u")
            ann.wait_for_labels(count)
        before = ann.node
        ann.page.keyboard.press("s")
        ann.page.wait_for_function("before => document.querySelector('.row dd').textContent !== before", arg=before)
        wanted = next(node for node in truth if node not in asked)
        ann.search(wanted)
        assert ann.answer(truth) == wanted
        ann.page.keyboard.press("?")
        assert ann.page.locator("#keys").is_visible()
        ann.page.keyboard.press("Escape")

        # a second person sees the labels, gets another question, and disagrees
        bo = Person(browser, server.address, "Bo", width=390, height=844, color_scheme="dark")
        assert bo.labels == 12
        assert bo.node != ann.node
        assert bo.faults() == []
        assert bo.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        bo.search(wanted)
        other = next(k for k, name in enumerate(names) if name != truth[wanted])
        bo.page.keyboard.press(str(other + 1))
        ann.page.wait_for_selector("#disagreement-list li")
        assert ann.labels == 11
        ann.page.click(f"#disagreement-list button:has-text('{truth[wanted]}')")
        bo.wait_for_labels(12)
        ann.page.wait_for_selector("#disagreements", state="hidden")
        bo.context.close()
        server.kill()
        ann.page.wait_for_selector("#offline")

    # killed and restarted: everything is there, also in the page that was open, once the new token is known
    with labelling(*OPTIONS, "--classes", ",".join(names), cwd=folder, port=urlsplit(server.address).port) as server:
        ann.page.evaluate("window.isOld = true")
        tab = ann.context.new_page()
        tab.goto(server.address)
        ann.page.wait_for_function("() => !window.isOld")  # the page has loaded itself again
        ann.page.wait_for_selector(".choices")
        tab.wait_for_selector(".choices", timeout=WAIT)  # nor is the name asked again
        assert tab.locator("#question").get_attribute("data-node") != ann.node
        tab.close()
        assert ann.labels == 12
        while ann.labels < 30 or not ann.has_trusted:
            ann.answer(truth)
            if ann.labels >= 30:
                ann.wait_for_picture(ann.labels)

        # check the answers
        ann.page.select_option("#bound", "0.1")
        ann.page.click("#start-audit")
        ann.page.wait_for_selector("text=Check 1 of")
        assert ann.page.evaluate("document.activeElement.id") == "h-question"  # Enter is for the question
        planned = int(re.search(r"Check 1 of (\d+)", ann.page.locator(".kind").inner_text())[1])
        assert planned <= 36  # fewer than with replacement
        first, count = ann.node, ann.labels
        ann.check(truth, names, 1)
        ann.page.keyboard.press("u")
        ann.page.wait_for_selector("text=Check 1 of")
        assert (ann.node, ann.labels) == (first, count)
        for number in range(1, planned + 1):
            ann.check(truth, names, number)
        assert "At most" in ann.page.locator("#audit-sentence").inner_text()
        ann.page.wait_for_selector("text=The planned checks are done")
        ann.page.click("#leave-audit")
        ann.page.wait_for_selector("text=Which class?")
        count = ann.labels
        ann.wait_for_picture(count)
        assert ann.faults() == []

        # out
        rows = list(csv.DictReader(io.StringIO(ann.download("labels.csv").decode())))
        assert len(rows) == count
        assert sum(truth[row["node_id"]] == row["label"] for row in rows) >= count - 1
        predictions = ann.download("predictions.csv")
        assert b'id="audit"' in ann.download("report.html")
        assert [text for text in ann.messages if "ERR_" not in text and "Failed to load" not in text] == []
        ann.context.close()

    # the log, the tables and the settings repeat the answers bit by bit without the page
    done = dccgcn("label", *OPTIONS, "--classes", ",".join(names), "--threads", 1, "--answers", "again.csv",
                  "--export", "labels.parquet", cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (folder / "again.csv").read_bytes() == predictions
    assert len(pd.read_parquet(folder / "labels.parquet")) == count


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
def small(tmp_path):
    """A server on a small graph, and the true class of each node."""
    truth = source_of()[1]
    with small_server(tmp_path, sorted(set(truth.values()))) as server:
        yield server, truth


def test_classes_that_are_numbers_are_chosen_by_them(browser, tmp_path):
    with small_server(tmp_path, ["0", "1", "12"]) as server:
        ann = Person(browser, server.address, "Ann")
        truth = {}
        for count, typed in enumerate(["0", "12", "1"], start=1):
            truth[ann.node] = typed
            ann.page.keyboard.type(typed)
            ann.wait_for_labels(count)
        ann.context.close()
    with closing(sqlite3.connect(tmp_path / "nodes.labels.sqlite")) as log:
        assert dict(log.execute("SELECT node, label FROM events WHERE kind = 'label'")) == truth


# the answers to some requests come late
SLOW = """([path, milliseconds]) => {
  const quick = window.fetch;
  window.fetch = async (url, init) => {
    const answer = await quick(url, init);
    if (String(url).startsWith(path)) await new Promise((go) => setTimeout(go, milliseconds));
    return answer;
  };
}"""


def test_a_label_and_the_next_question_are_shown_at_once(browser, small):
    """The stream may tell of a label before the server has answered the request that gave it."""
    server, truth = small
    ann = Person(browser, server.address, "Ann")
    ann.page.evaluate(SLOW, ["/api/event", 1500])
    nodes = [ann.answer(truth) for _ in range(3)]
    assert len(set(nodes)) == 3
    ann.context.close()


def test_a_late_answer_does_not_bring_a_question_back(browser, small):
    server, truth = small
    ann = Person(browser, server.address, "Ann")
    for _ in range(3):
        ann.answer(truth)
    ann.page.evaluate(SLOW, ["/api/question", 1500])
    last = ann.answer(truth)
    ann.wait_for_picture(4)  # the question is asked again, with its new evidence
    asked = ann.answer(truth)
    assert asked != last
    ann.page.wait_for_timeout(2000)
    assert ann.node != asked
    ann.context.close()


def test_a_node_that_is_searched_for_comes_before_a_refreshed_question(browser, small):
    server, truth = small
    ann = Person(browser, server.address, "Ann")
    asked = [ann.answer(truth) for _ in range(4)]
    wanted = next(node for node in truth if node not in (*asked, ann.node))
    for slow in (["/api/picture", 1500], ["/api/node", 3000]):  # the new picture arrives while the node is fetched
        ann.page.evaluate(SLOW, slow)
    ann.answer(truth)
    ann.search(wanted)
    ann.context.close()


def test_a_key_is_heard_as_soon_as_the_next_question_is_shown(browser, small):
    """A refreshed question may be answered before the label that was pressed meanwhile: it waits for that label."""
    server, truth = small
    ann = Person(browser, server.address, "Ann")
    for _ in range(3):
        ann.answer(truth)
    ann.wait_for_picture(3)
    # the server is asked late for the refreshed question, and tells late that the label is saved
    ann.page.evaluate(
        """() => {
          const quick = window.fetch, wait = (time) => new Promise((go) => setTimeout(go, time));
          window.fetch = async (url, init) => {
            const isQuestion = String(url).startsWith("/api/question");
            if (isQuestion) { window.isAsking = true; await wait(500); }
            const answer = await quick(url, init);
            if (String(url).startsWith("/api/event")) await wait(1500);
            return answer;
          };
        }"""
    )
    ann.answer(truth)
    ann.page.wait_for_function("() => window.isAsking")
    before = ann.node
    ann.page.keyboard.press("1")
    ann.page.wait_for_function("before => document.querySelector('.row dd').textContent !== before", arg=before)
    following = ann.node
    ann.page.keyboard.press("1")
    script = "before => document.querySelector('.row dd').textContent !== before"
    ann.page.wait_for_function(script, arg=following, timeout=10_000)
    ann.context.close()


def test_only_a_proposal_that_changed_has_to_settle(browser, small):
    """Enter for the next question is heard, however soon after the proposal of the one before has changed."""
    server, truth = small
    ann = Person(browser, server.address, "Ann")
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
    ann.context.close()


def test_undo_asks_again_what_was_undone(browser, small):
    server, truth = small
    ann = Person(browser, server.address, "Ann")
    ann.answer(truth)
    wrong = ann.answer(truth)
    ann.page.keyboard.press("u")
    ann.wait_for_labels(1)
    assert ann.node == wrong
    skipped = ann.node
    ann.page.keyboard.press("s")
    ann.page.wait_for_function("before => document.querySelector('.row dd').textContent !== before", arg=skipped)
    ann.page.keyboard.press("u")
    ann.page.wait_for_function("before => document.querySelector('.row dd').textContent === before", arg=skipped)
    ann.context.close()


def test_what_cannot_be_downloaded_yet_is_said(browser, small):
    ann = Person(browser, small[0].address, "Ann")
    ann.page.click("a[href$='predictions.csv']")
    ann.page.wait_for_selector("#banner-text:has-text('Nothing is predicted yet')")
    ann.page.click("#get-report")
    ann.page.wait_for_selector("#banner-text:has-text('Nothing is predicted yet')")
    assert ann.download("labels.csv").startswith(b"node_id")
    ann.page.wait_for_selector("#banner", state="hidden")
    ann.context.close()


def test_a_label_that_is_not_saved_is_told_beside_the_lost_connection(browser, small):
    server, truth = small
    ann = Person(browser, server.address, "Ann")
    ann.answer(truth)
    server.kill()
    ann.page.wait_for_selector("#offline")
    ann.page.keyboard.press("1")
    ann.page.wait_for_selector("#banner")
    first, second = (ann.page.locator(name).bounding_box() for name in ("#banner", "#offline"))
    assert first["y"] + first["height"] <= second["y"]
    ann.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    first, second = (ann.page.locator(name).bounding_box() for name in ("#banner", "#offline"))
    assert first["y"] >= 0
    assert first["y"] + first["height"] <= second["y"]
    ann.context.close()


def test_a_screen_reader_is_told_what_enter_accepts(browser, small):
    server, truth = small
    ann = Person(browser, server.address, "Ann")
    for _ in range(4):
        ann.answer(truth)
    ann.wait_for_picture(4)
    ann.page.wait_for_selector("#accept")
    ann.answer(truth)
    shown = ann.page.locator("#accept .class-label").inner_text().strip()
    assert f"Enter accepts {shown}" in ann.page.locator("#live").inner_text()
    ann.context.close()


def test_two_logs_merge_to_the_same_labels_in_any_order(tables, tmp_path):
    from dccgcn.labelling.log import EventLog, read_events
    from tools.kill_label import fingerprint

    folder, truth = tables
    names = sorted(set(truth.values()))
    if not (folder / "nodes.labels.sqlite").exists():
        pytest.skip("the round in the browser did not run")
    graph = fingerprint(folder)
    other = EventLog(folder / "other.sqlite", graph)
    for node in list(truth)[:3]:
        other.append("Cy", "label", node=node, label=names[0])
    other.close()
    for name, order in (("a", ("nodes.labels.sqlite", "other.sqlite")), ("b", ("other.sqlite", "nodes.labels.sqlite"))):
        merges = [part for log in order for part in ("--merge", log)]
        done = dccgcn("label", *OPTIONS, "--log", f"{name}.sqlite", *merges, "--export", f"{name}.csv", cwd=folder)
        assert done.returncode == 0, done.stderr
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    assert replay(read_events(folder / "a.sqlite", graph)) == replay(read_events(folder / "b.sqlite", graph))
    assert re.search("Cy", (folder / "a.csv").read_text())
