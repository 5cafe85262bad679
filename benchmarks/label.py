"""The labelling page in a real browser: from the key to the painted click, and to the repainted graph."""

import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from dccgcn import datasets
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.errors import DccgcnError
from dccgcn.graph import NodeGraph
from dccgcn.label.doors import new_token
from dccgcn.label.log import EventLog
from dccgcn.label.server import application
from dccgcn.label.serving import SWITCH, Server, listen
from dccgcn.label.session import Session
from dccgcn.label.source import Source

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# WebGL without a graphics card; root may not use Chromium's sandbox
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WAIT = 600_000  # milliseconds for the slowest fit
READING = 1000  # milliseconds in which a person reads the next question, and the pulse of changed nodes ends
EDGES_PER_NODE, FEATURES, CLASSES = 10, 500, 10  # of a synthetic graph

_MEASURED = "name => performance.getEntriesByName(name).length > 0"
_DURATION = "name => performance.getEntriesByName(name)[0].duration"


def bench_label(name: str, count: int, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Label this many nodes by keyboard, each a second after the graph was repainted.

    Clicks are from the key to the next question, the label being on disk; graph times from the key to the map
    repainted with all labels.

    name : a benchmark graph, or a number of nodes of a synthetic one.
    """
    graph = _graph(name)
    truth = [str(graph.classes[k]) for k in graph.labels]
    source = Source.from_graph(graph, np.array([], dtype=np.int64))
    with tempfile.TemporaryDirectory() as folder:
        session = Session(source, EventLog(Path(folder) / "log", source.fingerprint))
        with _served(session) as address, _page() as page:
            clicks, repaints = _label(page, address, session, truth, count, progress)
    click, graph_seconds = np.array(clicks), np.array(repaints) / 1000
    return {
        "dataset": name,
        "nodes": graph.n,
        "labels": count,
        "click_median_ms": float(np.median(click)),
        "click_p95_ms": float(np.percentile(click, 95)),
        "graph_median_s": float(np.median(graph_seconds)),
        "graph_p95_s": float(np.percentile(graph_seconds, 95)),
    }


def _label(
    page: Any, address: str, session: Session, truth: list[str], count: int, progress: Callable[[int, int], None] | None
) -> tuple[list[float], list[float]]:
    """Milliseconds to the click and to the repainted graph of each label after the first predictions."""
    page.goto(address)
    page.fill("#name", "Ann")
    page.keyboard.press("Enter")
    page.wait_for_selector(".choices", timeout=WAIT)
    clicks: list[float] = []
    repaints: list[float] = []
    number = 0
    while len(clicks) < count:
        number += 1
        node = page.locator("#question").get_attribute("data-node")
        key = session.labels.classes.index(truth[session.source.position[node]]) + 1
        for digit in str(key):
            page.keyboard.press(digit)
        page.wait_for_function(_MEASURED, arg=f"saved {number}", timeout=WAIT)
        page.wait_for_function(_MEASURED, arg=f"repainted {number}", timeout=WAIT)
        page.wait_for_timeout(READING)
        if session.picture is not None and session.picture.result is not None:
            clicks.append(page.evaluate(_DURATION, f"saved {number}"))
            repaints.append(page.evaluate(_DURATION, f"repainted {number}"))
            if progress:
                progress(len(clicks), count)
    return clicks, repaints


def _graph(name: str) -> NodeGraph:
    if not name.isdecimal():
        return datasets.load(name).graph
    n = int(name)
    return synthetic_graph(n, EDGES_PER_NODE * n, FEATURES, CLASSES)


@contextmanager
def _served(session: Session) -> Iterator[str]:
    """A server in a thread of this process; its address."""
    listening, token = listen("127.0.0.1", 0), new_token()
    port = int(listening.getsockname()[1])
    app = application(session, "127.0.0.1", port, token)
    server = Server(session, app)
    thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)  # as in serve
    session.start()
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/?token={token}"
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        session.close()
        sys.setswitchinterval(before)


@contextmanager
def _page() -> Iterator[Any]:
    """A page of the system's Chromium."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise DccgcnError("No Chromium is installed.", "On Debian: apt-get install chromium.")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=ARGUMENTS)
        try:
            yield browser.new_page(viewport={"width": 1280, "height": 900})
        finally:
            browser.close()
