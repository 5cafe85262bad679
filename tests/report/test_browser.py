"""The report in a real browser: opened from disk, clicked through, compared with the run's files."""

import csv
import io
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dccgcn.graph.splits import per_class
from dccgcn.methods.base import Method
from dccgcn.methods.prediction import Prediction
from dccgcn.report import data as report
from dccgcn.report.data import report_data
from dccgcn.report.page import render
from dccgcn.report.store import load_data
from dccgcn.settings import Settings
from dccgcn.workflow.fitting import run
from helpers.browser import Visit, chromium
from helpers.command import success
from helpers.runs import QUICK, dual, toy


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run on Cora, by the command line."""
    folder = tmp_path_factory.mktemp("run")
    success("fit", "cora", "--method", "dcc-gcn", *QUICK, "--out", folder, "--report")
    return folder


@pytest.fixture(scope="module")
def opened(browser, folder):
    visit = Visit(browser, folder / "report.html")
    yield visit
    visit.is_quiet()
    visit.close()


@pytest.fixture
def visit(opened):
    """The open page, reset to its initial state."""
    opened.page.evaluate("document.activeElement.blur()")
    opened.page.keyboard.press("Escape")
    opened.page.fill("#table-search", "")
    opened.page.select_option("#colour-by", "class")
    return opened


@pytest.fixture(scope="module")
def rows(folder):
    """predictions.csv, with each channel's prediction and whether they agree, from report.json."""
    rows = list(csv.DictReader(io.StringIO((folder / "predictions.csv").read_text())))
    data = load_data(folder)
    for channel in ("topology", "features"):
        top = np.array(data.nodes.class_probabilities[channel].classes).reshape(len(rows), -1)[:, 0]
        for row, k in zip(rows, top, strict=True):
            row[f"{channel} class"] = data.classes[k].name
    for row in rows:
        row["agree"] = row["topology class"] == row["features class"]
    return rows


def test_it_opens_from_disk_and_loads_nothing_else(visit, folder):
    assert (folder / "report.html").stat().st_size < 3_000_000
    visit.is_quiet()


def test_every_part_is_there(visit):
    page = visit.page
    assert "2,694 nodes of cora were classified from 14 labels in 7 classes." in visit.text(".verdict")
    assert page.locator("#class-list tr").count() == 7
    counts = [int(b.inner_text().split()[-1].replace(",", "")) for b in page.locator("#class-list .counts").all()]
    assert counts == sorted(counts, reverse=True)
    assert page.locator("#communities li").count() == 8  # the others are folded
    page.locator(".map-name").first.wait_for()  # drawn after the map
    assert 3 < page.locator(".map-name").count() <= 14
    assert page.locator("#matrix tbody tr").count() == 7
    assert page.locator("#pairs li").count() >= 3
    assert page.locator("#charts circle").count() >= 5
    assert page.locator("#charts path.curve").count() == 1
    assert page.locator("#next-list li").count() == 8
    page.click("#next-more")
    assert page.locator("#next-list li").count() == 20
    assert page.locator("#table-body tr").count() == 25
    page.click("#findings summary")  # the notes are folded below the warnings
    assert "the 6 most similar ones are not clear" in visit.text("#findings")
    assert "dccgcn fit cora --method dcc-gcn" in visit.text("#run")
    page.click("#run summary")
    assert page.locator(".settings tr:has-text('hidden1') td").first.inner_text() == "16"
    assert visit.colours("#canvas") > 50


def test_a_node_is_found_by_its_id(visit, rows):
    row = next(row for row in rows if row["role"] == "test" and not row["agree"])
    visit.page.fill("#search", row["node_id"])
    visit.page.keyboard.press("Enter")
    panel = visit.text("#panel")
    assert f"Node {row['node_id']}" in panel
    assert visit.text("#panel .prediction") == row["prediction"]
    for title, channel in (("edges", "topology"), ("similar features", "features")):
        assert row[f"{channel} class"] in visit.text(f"#panel .sides li:has-text('{title}')")
    assert f"the true class is {row['label']}" in re.sub(r"\s+", " ", panel)
    assert ("✓ Right" in panel) == (row["prediction"] == row["label"])
    assert "Doubtful: the channels disagree." in panel
    visit.page.fill("#search", "no such id")
    assert "No node" in visit.text("#search-status")


def test_suggestions_can_be_reached_by_keyboard(visit, rows):
    wanted = rows[5]["node_id"]
    visit.page.fill("#search", wanted[:3])
    assert visit.page.locator("#suggestions li").count() > 1
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("ArrowDown")
    second = visit.page.locator("#suggestions li[aria-selected=true] bdi").inner_text()
    visit.page.keyboard.press("Enter")
    assert f"Node {second}" in visit.text("#panel")
    assert visit.page.locator("#suggestions").is_hidden()


def test_a_node_is_selected_on_the_map(visit, rows):
    page = visit.page
    page.fill("#search", rows[0]["node_id"])
    page.keyboard.press("Enter")  # the map goes there, so that the node is in its middle
    page.locator("#canvas").scroll_into_view_if_needed()
    box = page.locator("#canvas").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.wait_for_function("document.getElementById('canvas').style.cursor === 'pointer'")  # the map has seen it
    page.mouse.click(*middle)
    page.locator("#panel .prediction").wait_for()
    assert f"Node {rows[0]['node_id']}" in visit.text("#panel")
    near = page.locator("#panel .neighbours button").first
    name = near.inner_text()
    near.click()
    assert f"Node {name}" in visit.text("#panel")
    page.click("#zoom-reset")


def test_the_matrix_filters_every_other_part(visit, rows):
    page = visit.page
    classes = [th.inner_text() for th in page.locator("#matrix tbody th").all()]
    cell = page.locator("#matrix td.differ button").first
    i, j = map(int, cell.get_attribute("data-pair").split("-"))
    wanted = [
        row for row in rows
        if (row["topology class"], row["features class"]) == (classes[i], classes[j]) and row["role"] != "train"
    ]  # fmt: skip
    before = page.locator("#canvas").screenshot()
    cell.click()
    assert f"{len(wanted)} node" in visit.text("#filter")
    assert f"of {len(wanted)} node" in visit.text("#table-status")
    counts = [int(cell.inner_text().split()[-1]) for cell in page.locator("#class-list .counts").all()]
    assert sum(counts) == len(wanted)
    shown = [b.inner_text() for b in page.locator("#table-body td:first-child").all()]
    assert set(shown) <= {row["node_id"] for row in wanted}
    assert page.locator("#canvas").screenshot() != before
    part = list(csv.DictReader(io.StringIO(visit.download("#download-part").decode())))
    by_id = {row["node_id"]: row for row in wanted}
    assert sorted(row["node_id"] for row in part) == sorted(by_id)
    assert all(row == {name: by_id[row["node_id"]][name] for name in row} for row in part)
    confidence = [float(row["probability"]) for row in part]
    assert confidence == pytest.approx(sorted(confidence), abs=1e-3)  # the least trusted first
    page.keyboard.press("Escape")
    assert visit.text("#filter") == ""
    assert "of 2,708 nodes" in visit.text("#table-status")


def test_a_class_and_a_status_filter_too(visit, rows):
    page = visit.page
    name = visit.text("#class-list tr:nth-child(2) .class-name").strip()
    page.click("#class-list tr:nth-child(2) .class-name")
    expected = sum(row["prediction"] == name for row in rows)
    assert f"of {expected:,} nodes" in visit.text("#table-status")
    page.click("#filter button")
    page.click("#share-doubtful")
    doubtful = sum(not row["agree"] and row["role"] != "train" for row in rows)
    assert f"of {doubtful:,} nodes" in visit.text("#table-status")


def test_the_download_is_the_runs_own_file(visit, folder):
    assert visit.download("#download") == (folder / "predictions.csv").read_bytes()


def test_the_table_is_sorted_searched_and_paged(visit, rows):
    page = visit.page
    predicted = [float(row["probability"]) for row in rows if row["role"] != "train"]
    top = float(visit.text("#table-body tr:nth-child(1) td:nth-child(3)").split()[0])
    assert top == pytest.approx(100 * min(predicted), abs=0.6)  # the least trusted first
    page.click("#table-head th:nth-child(3) button")
    assert page.locator("#table-head th:nth-child(3)").get_attribute("aria-sort") == "descending"
    assert visit.text("#table-body tr:nth-child(1) td:nth-child(4)") == "training label"
    page.click("#table-head th:nth-child(3) button")  # as listed again
    first = visit.text("#table-body tr:nth-child(1) td:nth-child(1)")
    assert first == rows[0]["node_id"]
    page.click("#table-next")
    assert "26 to 50 of 2,708" in visit.text("#table-status")
    page.fill("#table-search", rows[30]["node_id"])
    assert rows[30]["node_id"] in visit.text("#table-body")
    page.fill("#table-search", "nothing like it")
    assert "No node matches" in visit.text("#table-status")


def test_colours_follow_the_choice(visit):
    before = visit.page.locator("#canvas").screenshot()
    for choice in ("confidence", "topology", "features"):
        visit.page.select_option("#colour-by", choice)
        after = visit.page.locator("#canvas").screenshot()
        assert after != before
        before = after
    visit.page.select_option("#colour-by", "confidence")
    assert "80 %" in visit.text("#legend")


@pytest.mark.parametrize(
    "options", [{}, {"color_scheme": "dark"}, {"width": 390, "height": 844}], ids=["light", "dark", "narrow"]
)
def test_it_is_accessible(browser, folder, options):
    visit = Visit(browser, folder / "report.html", **options)
    background = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) < 150) == ("color_scheme" in options)
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    visit.page.click("#pairs button")
    assert visit.faults() == []
    visit.page.click("#theme")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") != background
    visit.is_quiet()
    visit.close()


def test_it_prints_with_the_map_in_it(browser, folder):
    drawn = """() => {
        const copy = document.getElementById("print-map");
        const {data} = copy.getContext("2d").getImageData(0, 0, copy.width, copy.height);
        return {colours: new Set(new Uint32Array(data.buffer)).size, ink: data.reduce((sum, part) => sum + part)};
    }"""
    printed = []
    for scheme in ("light", "dark"):
        visit = Visit(browser, folder / "report.html", color_scheme=scheme)
        visit.page.wait_for_timeout(300)
        before = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert len(visit.page.pdf()) > 50_000
        printed.append(visit.page.evaluate(drawn))
        assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == before
        visit.close()
    assert printed[0]["colours"] > 50
    assert printed[0] == printed[1]  # paper is light, whatever the screen was


def test_hostile_names_do_no_harm(browser, tmp_path):
    names = ["<img src=x onerror=alert(1)>", "\u202eright to left \u05d0\u05d1", "=HYPERLINK(1)" + "x" * 10_000]
    ids = [f"<script>alert({i})</script>" for i in range(20)]
    ids += [f'line\nbreak, "quoted" {i}' for i in range(20)]
    ids += [f"{i}" + "\u0634" * 10_000 for i in range(20)]
    graph = toy(names=names, ids=ids)
    result = dual(run(graph, per_class(graph, 3, seed=0), "lp"))
    data = report_data(result)
    (tmp_path / "report.html").write_text(render(data), encoding="utf-8")
    visit = Visit(browser, tmp_path / "report.html", permissions=["clipboard-read", "clipboard-write"])
    page = visit.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("img, main script").count() == 0
    assert names[0] in visit.text("#class-list")
    for i in (0, 20, 40):
        page.fill("#search", ids[i].split("\n")[0][:60])
        page.keyboard.press("Enter")
        assert len(visit.text("#panel h3")) < 100
    result.save(tmp_path / "run")
    assert visit.download("#download") == (tmp_path / "run" / "predictions.csv").read_bytes()
    page.fill("#table-search", "quoted")
    lines = list(csv.DictReader(io.StringIO(visit.download("#download-part").decode(), newline="")))
    assert sorted(line["node_id"] for line in lines) == sorted(ids[20:40])
    listed = list(csv.DictReader(io.StringIO(visit.download("#next-download").decode(), newline="")))
    assert [line["node_id"] for line in listed] == [suggestion.id for suggestion in data.label_next]
    page.click("#next-copy")
    page.locator("#next-status:has-text('Copied')").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(suggestion.id for suggestion in data.label_next)
    assert visit.faults() == []
    visit.is_quiet()
    visit.close()


def test_thirty_classes_and_a_method_with_nothing_but_probabilities(browser, tmp_path):
    fields = ("Agricultural", "Environmental", "Industrial")
    kinds = ("Social", "Legal", "Cultural", "Economic", "Public")
    names = [f"Department of {a} and {b} Affairs, Office {i}" for a in fields for b in kinds for i in (1, 2)]
    graph = toy(240, 30, names=names)
    result = run(graph, per_class(graph, 3, seed=0), "lp")
    for name, made in (("plain", result), ("dual", dual(result))):
        path = tmp_path / f"{name}.html"
        path.write_text(render(report_data(made)), encoding="utf-8")
        visit = Visit(browser, path)
        assert visit.page.locator("#class-list tr").count() == 12
        visit.page.click("#class-more")
        assert visit.page.locator("#class-list tr").count() == 30
        legend = visit.page.locator("#legend bdi").all_inner_texts()
        assert len(set(legend)) == len(legend) > 10
        assert visit.page.locator("#matrix").count() == (name == "dual")
        assert visit.faults() == []
        visit.is_quiet()
        visit.close()


@pytest.fixture(scope="module")
def own_table(tmp_path_factory):
    """A report on a user's table: long class names that begin alike, one of them never predicted."""
    kinds = ("north", "south", "archive")
    names = [f"Department of Environmental Monitoring and Sustainability: {kind} office" for kind in kinds]
    graph = toy(names=names, ids=[f"record of the proceedings {i}" for i in range(60)])
    result = run(graph, per_class(graph, 3, seed=0), "lp")
    p = result.prediction.probabilities.copy()
    p[:, 1] += 0.9 * p[:, 2]
    p[:, 2] *= 0.1
    rows = pd.DataFrame({"id": graph.ids, "about": [f"Person number {i}" for i in range(60)], "page": "https://x.org/"})
    path = tmp_path_factory.mktemp("own") / "report.html"
    tables = SimpleNamespace(rows=rows, columns=SimpleNamespace(label="office"))
    made = replace(result, prediction=Prediction(p.astype(np.float32)), tables=tables)
    path.write_text(render(report_data(made)), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1280, 390])
def test_own_rows_and_long_names_and_a_class_that_is_never_predicted(browser, own_table, width):
    visit = Visit(browser, own_table, width=width, height=844)
    page = visit.page
    assert "archive office” is never predicted." in visit.text("#warnings")
    assert "office" in visit.text(".eyebrow")
    warned, headline = (page.locator(part).bounding_box()["y"] for part in ("#warnings", "h1"))
    assert warned < headline
    assert "never predicted" in visit.text("#class-list tr:last-child")
    assert page.locator("#rankings .ranked li").count() == 20
    page.fill("#search", "person number 7")
    page.keyboard.press("Enter")
    assert "Person number 7" in visit.text("#panel .own")
    assert page.locator("#panel .own a").get_attribute("href") == "https://x.org/"
    shown = {page.locator("#legend bdi").nth(k).inner_text() for k in range(3)}
    assert len(shown) == 3  # shortened, and still different
    page.fill("#table-search", "person number 7")
    assert "of 1 node" in visit.text("#table-status")
    assert page.locator("#table-body .node").bounding_box()["height"] < 60, "broken letter by letter"
    page.click("nav a[href='#predictions']")
    page.locator("nav a[aria-current][href='#predictions']").wait_for()
    assert page.locator("nav").bounding_box()["y"] == 0  # it stays in view
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert visit.faults() == []
    visit.is_quiet()
    visit.close()


def test_twenty_thousand_nodes_stay_below_twelve_megabytes():
    rng = np.random.default_rng(0)
    n = 20_000
    graph = toy(n, 8)
    p = rng.dirichlet(np.ones(8), n).astype(np.float32)
    given = Method("given", Settings, lambda *_: Prediction(p))
    result = run(graph, per_class(graph, 20, seed=0), given)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "MAX_MAP_NODES", 1000)
        patch.setattr(report, "findings", lambda _: [])  # a few sentences, for which all neighbours are searched
        data = report_data(dual(result))
    assert len(data.nodes.id) == n
    assert len(data.to_json()) + 400_000 < 12_000_000
