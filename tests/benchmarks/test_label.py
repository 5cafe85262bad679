"""``python -m benchmarks label`` in a real browser, on a small synthetic graph."""

import json

from helpers.browser import chromium
from helpers.command import benchmarks


def test_it_times_the_click_and_the_repainted_graph():
    with chromium():  # a skip where there is none
        pass
    done = benchmarks("label", "--graphs", "300", "--labels", "1", "--json")
    assert done.returncode == 0, done.stderr
    (measured,) = json.loads(done.stdout)
    assert (measured["nodes"], measured["labels"]) == (300, 1)
    assert 0 < measured["click_median_ms"] <= 1000 * measured["graph_median_s"]
