"""The report in a real browser: opened from disk, clicked through, compared with the run's files."""

import csv
import io
import re

import numpy as np
import pytest

from dccgcn.api import run
from dccgcn.artifacts.report import data as report
from dccgcn.artifacts.report.data import report_data
from dccgcn.artifacts.report.page import render
from dccgcn.artifacts.report.store import load_data, to_json
from dccgcn.graph.splits import per_class
from dccgcn.models.base import Method
from dccgcn.models.prediction import Prediction
from dccgcn.settings import Settings
from helpers.browser import Visit, chromium
from helpers.command import dccgcn
from helpers.runs import QUICK, dual, toy


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run on Cora, by the command line."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "MAX_EMBEDDED", 200)  # t-SNE is the slowest part
        done = dccgcn("fit", "cora", "--method", "dcc-gcn", *QUICK, "--out", str(folder), "--report")
    assert done.returncode == 0, done.stderr
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
    assert page.locator("#class-list li").count() == 7
    assert page.locator("#matrix tbody tr").count() == 7
    assert page.locator("#pairs li").count() >= 3
    assert page.locator("#embedding-list canvas").count() == 3
    assert page.locator("#charts circle").count() >= 5
    assert page.locator("#charts path.curve").count() == 1
    assert page.locator("#next-list li").count() == 20
    assert page.locator("#table-body tr").count() == 25
    assert "tie at neighbour 6 of the feature graph" in visit.text("#findings")
    assert "dccgcn fit cora --method dcc-gcn" in visit.text("#run")
    page.click("#run summary")
    assert page.locator(".settings tr:has-text('hidden1') td").first.inner_text() == "16"
    for selector in (
        "#canvas",
        "#embedding-list figure:nth-child(1) canvas",
        "#embedding-list figure:nth-child(3) canvas",
    ):
        assert visit.colours(selector) > 50


def test_a_node_is_found_by_its_id(visit, rows):
    row = next(row for row in rows if row["role"] == "test" and not row["agree"])
    visit.page.fill("#search", row["node_id"])
    visit.page.keyboard.press("Enter")
    panel = visit.text("#panel")
    assert f"Node {row['node_id']}" in panel
    assert visit.text("#panel .prediction") == row["prediction"]
    for channel in ("topology", "features"):
        assert row[f"{channel} class"] in visit.text(f"#panel .channel-predictions li:has-text('{channel}')")
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
    page.click("#embedding-list figure:nth-child(1) canvas", position={"x": 2, "y": 2})  # where no dot is
    assert "No node selected" in visit.text("#panel")
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
    before = page.locator("#embedding-list canvas").first.screenshot()
    cell.click()
    assert f"{len(wanted)} node" in visit.text("#filter")
    assert f"of {len(wanted)} node" in visit.text("#table-status")
    counts = [int(b.inner_text()) for b in page.locator("#class-list .class-counts b").all()]
    assert sum(counts) == len(wanted)
    shown = [b.inner_text() for b in page.locator("#table-body td:first-child").all()]
    assert shown == [row["node_id"] for row in wanted[:25]]
    assert page.locator("#embedding-list canvas").first.screenshot() != before
    part = list(csv.DictReader(io.StringIO(visit.download("#download-part").decode())))
    assert part == [{name: row[name] for name in part[0]} for row in wanted]
    page.keyboard.press("Escape")
    assert visit.text("#filter") == ""
    assert "of 2,708 nodes" in visit.text("#table-status")


def test_a_class_and_a_status_filter_too(visit, rows):
    page = visit.page
    name = visit.text("#class-list li:nth-child(2) .class-name").strip()
    page.click("#class-list li:nth-child(2) .class-name")
    expected = sum(row["prediction"] == name for row in rows)
    assert f"of {expected:,} nodes" in visit.text("#table-status")
    page.click("#filter button")
    page.click("#share .hatched")
    doubtful = sum(not row["agree"] and row["role"] != "train" for row in rows)
    assert f"of {doubtful:,} nodes" in visit.text("#table-status")


def test_the_download_is_the_runs_own_file(visit, folder):
    assert visit.download("#download") == (folder / "predictions.csv").read_bytes()


def test_the_table_is_sorted_searched_and_paged(visit, rows):
    page = visit.page
    page.click("#table-head th:nth-child(3) button")
    page.click("#table-head th:nth-child(3) button")
    assert page.locator("#table-head th:nth-child(3)").get_attribute("aria-sort") == "descending"
    surest = max(float(row["probability"]) for row in rows)
    top = float(visit.text("#table-body tr:nth-child(1) td:nth-child(3)").split()[0])
    assert top == pytest.approx(100 * surest, abs=0.6)
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
    before = visit.page.locator("#embedding-list canvas").first.screenshot()
    for choice in ("confidence", "topology", "features"):
        visit.page.select_option("#colour-by", choice)
        after = visit.page.locator("#embedding-list canvas").first.screenshot()
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
    assert visit.faults() == ""
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
    assert [line["node_id"] for line in lines] == ids[20:40]
    listed = list(csv.DictReader(io.StringIO(visit.download("#next-download").decode(), newline="")))
    assert [line["node_id"] for line in listed] == [suggestion.id for suggestion in data.label_next]
    page.click("#next-copy")
    page.locator("#next-status:has-text('Copied')").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(suggestion.id for suggestion in data.label_next)
    assert visit.faults() == ""
    visit.is_quiet()
    visit.close()


def test_thirty_classes_and_a_method_with_nothing_but_probabilities(browser, tmp_path):
    graph = toy(240, 30)
    result = run(graph, per_class(graph, 3, seed=0), "lp")
    for name, made in (("plain", result), ("dual", dual(result))):
        path = tmp_path / f"{name}.html"
        path.write_text(render(report_data(made)), encoding="utf-8")
        visit = Visit(browser, path)
        assert visit.page.locator("#class-list li").count() == 30
        assert visit.page.locator("#matrix").count() == (name == "dual")
        assert visit.faults() == ""
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
        patch.setattr(report, "MAX_EMBEDDED", 50)
        patch.setattr(report, "MAX_MAP_NODES", 1000)
        patch.setattr(report, "findings", lambda _: [])  # a few sentences, for which all neighbours are searched
        data = report_data(dual(result))
    assert len(data.nodes.id) == n
    assert len(to_json(data)) + 400_000 < 12_000_000
