"""The labelling page in a real browser, on a part of Cora: by keyboard, killed, restarted, two people, an audit."""

import csv
import io
import re
from urllib.parse import urlsplit

import pandas as pd
import pytest

from helpers.command import dccgcn
from helpers.label_page import WAIT, Person
from helpers.served import cora_tables, labelling

OPTIONS = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--id", "id", "--label", "topic"]
OPTIONS += ["--text", "title", "--text", "text"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory, small_cora):
    folder = tmp_path_factory.mktemp("cora")
    return folder, cora_tables(folder, small_cora)


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
        bo.close()
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
        rows = list(csv.DictReader(io.StringIO(ann.download("a[href$='labels.csv']").decode())))
        assert len(rows) == count
        assert sum(truth[row["node_id"]] == row["label"] for row in rows) >= count - 1
        predictions = ann.download("a[href$='predictions.csv']")
        assert b'id="audit"' in ann.download("a[href$='report.html']")
        assert [text for text in ann.messages if "ERR_" not in text and "Failed to load" not in text] == []
        ann.close()

    # the log, the tables and the settings repeat the answers bit by bit without the page
    done = dccgcn("label", *OPTIONS, "--classes", ",".join(names), "--threads", 1, "--answers", "again.csv",
                  "--export", "labels.parquet", cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (folder / "again.csv").read_bytes() == predictions
    assert len(pd.read_parquet(folder / "labels.parquet")) == count
