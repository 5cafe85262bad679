"""Bad inputs and faults: the table of what must happen, and the rows that concern more than one part.

Each row has a test that names it, ``test_row_07_…``, in the file of the part that deals with it; the rows here go
through all steps, from tables to predictions.
"""

import ast
import json
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dccgcn.errors import DataFileError, GraphError, SettingsError
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split
from dccgcn.methods import resources
from dccgcn.methods.base import ENTRIES, get_method
from dccgcn.runtime import memory
from dccgcn.runtime.files import lock_folder
from dccgcn.tables.read import read_tables
from dccgcn.workflow.fitting import run
from helpers.command import dccgcn, refused, success
from helpers.runs import short
from tools import kill

ROWS = {
    1: "NaN or infinite feature: error with count and ids; in tables imputed with a warning, or an error on request",
    2: "all-zero feature row: warning; no feature-graph edge but itself",
    3: "all rows zero or constant: error; featureless on request",
    4: "no feature columns: error",
    5: "isolated node: warning, self-loop only",
    6: "no edges at all: warning; the topology channel is an MLP",
    7: "self-loops: note; removed, then added once",
    8: "duplicate edges: note; merged",
    9: "directed edges: warning; made symmetric",
    10: "negative, NaN or zero edge weight: error",
    11: "edge to an unknown id: error with line numbers; drop on request",
    12: "string ids, 64-bit ids, gaps: given back unchanged",
    13: "1, '1' and 1.0 as ids in one file: error",
    14: "duplicate node id: error",
    15: "lengths that differ: error with both numbers",
    16: "label -1, empty, NaN, None: unlabelled",
    17: "a real class called '-1': error that asks",
    18: "no label at all: error",
    19: "one class only: error",
    20: "a class with one label: warning",
    21: "a listed class without labels: warning; probability 0",
    22: "string, bool, mixed labels: given back as given",
    23: "float labels like 1.5: error",
    24: "every node labelled: warning",
    25: "a component with no label: warning; uniform where nothing reaches it",
    26: "split asks for more per class than there are: error",
    27: "label rate that gives a class 0 nodes: warning, and at least one",
    28: "train and test overlap: error",
    29: "k >= n: error",
    30: "k = 0, m = 0, negative rates: error from the settings",
    31: "ties at the k-th neighbour: note with their share; fixed rule",
    32: "negative or zero cosine: ranked by similarity",
    33: "d_M = 0: stabilised",
    34: "no high-confidence neighbour: keeps its embedding, marked uncalibrated",
    35: "no disagreement, or nothing else: note or warning; calibration skipped",
    36: "loss NaN or exploding: error with the epoch",
    37: "more memory than is free: warning or error before the run",
    38: "truncated or altered download: error by hash",
    39: "malicious pickle: refused, global named",
    40: "checkpoint truncated, of another version or class order: error before any prediction",
    41: "kill -9, full disk, two processes: atomic files, a lock, resumes",
    42: "hostile names: escaped in HTML, safe in CSV",
    43: "model arrays altered, hashes recomputed: error at load",
    44: "denormal features, tiny edge weights: answered or refused",
    45: "--out names a folder with the user's files or an earlier run: refused",
    46: "pages of a copied run store: made, or a sentence",
    47: "Python uses the threads of the command line",
    48: "a feature or id too large: said so",
    49: "equal settings given in two ways: the same predictions",
    50: "checked arrays cannot be written to",
    51: "crafted CSR in a model: error at load, never memory corruption",
    52: "any single mutation of a model: refused or harmless",
    53: "gzip and Parquet bombs: error at a stated limit",
    54: "package folder and HOME read-only: works, said once",
    55: "--out . never replaces or deletes the user's files",
    56: "an older model survives until the new one is whole",
    57: "Ctrl-C of a comparison ends within seconds",
    58: "damage to a run store: error that names the line",
    59: "escape codes and markup are printed escaped",
    60: "ids that floats or mixed types would confuse: error",
    61: "altered report.json, YAML bomb, folder as a file: a sentence",
    62: "temporary files of killed commands are cleared",
    63: "order of the rows: documented",
}


def test_every_row_has_a_test_that_names_it():
    named = set()
    for file in Path(__file__).parent.rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and re.match(r"test_rows?_\d", node.name):
                named |= {int(number) for number in re.findall(r"(?<=_)\d\d(?=_)", node.name)}
    assert named == set(ROWS)


@pytest.fixture
def write(tmp_path):
    """Writes tables: for each node an id, a label and two numbers; a ring of edges unless others are given."""

    def write(labels, ids=None, edges=None):
        ids = ids or [f"n{i}" for i in range(len(labels))]
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=(2, len(ids)))
        nodes = pd.DataFrame({"id": ids, "label": labels, "a": a, "b": b})
        edges = edges if edges is not None else list(pairwise(ids))
        nodes.to_csv(tmp_path / "nodes.csv", index=False)
        pd.DataFrame(edges, columns=["source", "target"]).to_csv(tmp_path / "edges.csv", index=False)
        return ["--nodes", str(tmp_path / "nodes.csv"), "--edges", str(tmp_path / "edges.csv"), "--method", "ssgc"]

    return write


def test_rows_05_and_06_and_20_and_24_and_25_findings_are_printed_and_listed(write, tmp_path):
    done = success("fit", *write(["x", "y", "y", None, None], edges=[("n0", "n1")]), "--out", tmp_path / "out")
    for words in ("3 nodes have no edge", "one training label only: 'x'", "hold no training label"):
        assert words in done.stderr
    listed = {finding["code"] for finding in json.loads((tmp_path / "out" / "result.json").read_text())["findings"]}
    assert {"isolated-nodes", "single-label-classes", "unreached-components"} <= listed
    assert "nothing to predict" in dccgcn("fit", *write(["x", "y", "x", "y"])).stderr
    assert "no edges" in dccgcn("fit", *write(["x", "y", None], edges=[])).stderr


def test_rows_26_and_27_and_30_splits_of_ones_own_tables(write):
    tables = write(["x", "y", "x", "y", None, None])
    refused(dccgcn("fit", *tables, "--labels-per-class", "2", "--small-classes", "error"), "leave nothing to test")
    refused(dccgcn("fit", *tables, "--hold-out", "1.5"), "above 0 and below 1")
    measured = json.loads(dccgcn("fit", *tables, "--hold-out", "0.5", "--json").stdout)
    assert (measured["n_train"], measured["n_test"]) == (2, 2)
    refused(dccgcn("fit", *write(["x", "y", None]), "--hold-out", "0.5"), "none can be held out")


def test_rows_29_and_31_the_feature_graph_of_a_run():
    x = np.repeat(np.eye(3), 4, axis=0)
    graph = NodeGraph(x, [(i, i + 1) for i in range(11)], [0, 1, 2] + [None] * 9)
    result = run(graph, method="knn-gcn", settings=get_method("knn-gcn").settings(k=2, epochs=1))
    (ties,) = (finding for finding in result.findings if finding.code == "knn-ties")
    assert (ties.level, "Of 100.0% of the nodes the 2 most" in ties.text) == ("note", True)
    with pytest.raises(SettingsError, match="k = 12 nearest neighbours cannot be found among 12"):
        run(graph, method="knn-gcn", settings=get_method("knn-gcn").settings(k=12, epochs=1))


def estimate(graph, method="concord", **options):
    return get_method(method).cost(graph, get_method(method).settings(**options))


def test_row_37_memory_is_estimated_before_the_run(monkeypatch):
    graph = NodeGraph(np.eye(40), [(0, 1)], [0, 1] + [None] * 38)
    cost = estimate(graph)
    needed = cost.bytes
    monkeypatch.setattr(resources, "available_memory", lambda: (needed / 2, needed * 2))
    assert [finding.code for finding in resources.check_memory(cost)] == ["memory"]
    result = run(graph, method="ssgc")
    assert "memory" in {finding.code for finding in result.findings}
    monkeypatch.setattr(resources, "available_memory", lambda: (needed / 4, needed / 2))
    with pytest.raises(GraphError, match=r"memory will be needed.*SciPy sparse matrix"):
        run(graph, method="ssgc")


@pytest.mark.parametrize(
    ("method", "words"), [("concord", "n_components=32"), ("gcn", "hidden=4"), ("sgc", "more memory")]
)
def test_row_37_the_remedy_is_one_that_the_method_knows(method, words, monkeypatch):
    graph = NodeGraph(sp.csr_array(np.eye(40) + 1), [(0, 1)], [0, 1] + [None] * 38)
    monkeypatch.setattr(resources, "available_memory", lambda: (1, 1))
    with pytest.raises(GraphError) as caught:
        run(graph, method=method)
    assert words in caught.value.remedy


def test_row_37_the_estimate_grows_with_what_costs():
    small, large = (NodeGraph(sp.eye_array(n, format="csr"), [(0, 1)]) for n in (1000, 4000))
    dense = NodeGraph(np.random.default_rng(0).random((1000, 4000)), [(0, 1)])
    narrow, wide = ({"method": "dcc-gcn", "hidden1": width} for width in (256, 4096))
    assert estimate(small).bytes < estimate(large).bytes < estimate(dense).bytes
    assert estimate(small, **wide).bytes > estimate(small, **narrow).bytes + 4 * 1000 * 3800
    for options in ({}, narrow):
        assert estimate(small, **options).seconds < estimate(large, **options).seconds
        assert estimate(small, **options).seconds < estimate(dense, **options).seconds
    assert estimate(small, method="ssgc").bytes < min(estimate(small).bytes, estimate(small, **narrow).bytes)
    assert estimate(small).seconds < estimate(small, n_refits=9, n_steps_topology=64).seconds


def test_row_37_a_table_too_large_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    free, total = memory.available_memory()
    assert 0 < free <= total
    monkeypatch.setattr(memory, "available_memory", lambda: (1e3, 2e3))
    (tmp_path / "nodes.csv").write_text("id,f\n" + "a,1\n" * 100)
    with pytest.raises(GraphError, match=r"needs about .* sparse matrix"):
        read_tables(tmp_path / "nodes.csv", tmp_path / "nodes.csv")


def test_row_41_a_folder_is_held_by_one_process(tmp_path):
    code = f"""
from pathlib import Path
from dccgcn.runtime.files import lock_folder
with lock_folder(Path({str(tmp_path)!r})):
    print("held", flush=True)
    input()
"""
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(DataFileError, match="Another process is writing"), lock_folder(tmp_path):
            pass
    finally:
        other.send_signal(signal.SIGKILL)  # no process releases the lock: the system does
        other.communicate()
    left = tmp_path / ".0123456789abcdef.tmp"
    left.write_text("half")
    with lock_folder(tmp_path):
        assert not left.exists()


def test_row_41_kill_9_while_a_fit_writes(tmp_path):
    assert kill.fit(1, tmp_path, seed=0).total() == 1  # make kill does it fifty times, and to a comparison


# row 42

HOSTILE = [
    "<script>alert(1)</script>",
    "line\nbreak",
    "\u202egnp.exe",
    "x" * 10_000,
    "=1+1",
    "-2",
    "[bold]",
    "\x1b[31m",
]


def test_row_42_hostile_names_come_back_and_harm_nothing(write, tmp_path):
    labels = ["=cmd()", "<b>", "=cmd()", "<b>", None, None, None, None]
    done = success("fit", *write(labels, ids=HOSTILE), "--id", "id", "--label", "label", "--out", tmp_path / "out")
    assert "\x1b[31m" not in done.stdout + done.stderr
    raw = pd.read_csv(tmp_path / "out" / "predictions.csv", dtype=str, keep_default_na=False)
    for column in raw:
        assert not raw[column].str.startswith(tuple("=+-@\t\r")).any()
    edges = tmp_path / "edges.csv"
    again = read_tables(
        tmp_path / "out" / "predictions.csv", edges, id="node_id", label="prediction", features=["probability"]
    )
    assert again.graph.ids.tolist() == HOSTILE
    assert set(again.graph.classes) <= {"=cmd()", "<b>"}


LINEAR = ["sgc", "ssgc", "lp", "lp-series", "lp-absorption", "poisson"]


@st.composite
def any_graph(draw):
    """2 to 30 nodes of which at least two, of two classes, train."""
    n, classes = draw(st.integers(2, 30)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    x = rng.normal(size=(n, 4)) if draw(st.booleans()) else (rng.random((n, 6)) < 0.4).astype(float)
    x[0] = x[1] + 1  # features must differ
    labels = rng.integers(0, classes, n)
    train = rng.permutation(n)[: draw(st.integers(2, n))]
    labels[train[:2]] = 0, 1
    edges = rng.integers(0, n, (draw(st.integers(0, 3 * n)), 2))
    return x, edges, labels, train


def predict(x, edges, labels, train, method):
    graph = NodeGraph(x, edges, labels, classes=range(4))
    return run(graph, Split.from_parts(graph, "drawn", train, [], []), method).prediction


@pytest.mark.parametrize("method", LINEAR)
@settings(max_examples=8)
@given(any_graph())
def test_predictions_are_valid(method, drawn):
    predict(*drawn, method).check(len(drawn[0]), 4)


@pytest.mark.parametrize("method", LINEAR)
@settings(max_examples=5)
@given(any_graph(), st.integers(0, 2**16))
def test_permuting_the_nodes_permutes_the_predictions(method, drawn, seed):
    x, edges, labels, train = drawn
    order = np.random.default_rng(seed).permutation(len(x))  # new position → old position
    place = np.argsort(order)
    first = predict(x, edges, labels, train, method).probabilities
    second = predict(x[order], place[edges], labels[order], place[train], method).probabilities
    np.testing.assert_allclose(second, first[order], atol=2e-3)


@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (2, 3), (4, 5), (5, 5), (4, 5)], []], ids=["some", "none"])
@pytest.mark.parametrize("method", ENTRIES)
def test_every_method_on_a_graph_with_every_finding(method, edges):
    """Twins, a row of zeros, an isolated node, a component without a label, a class with one label."""
    x = np.array([[1, 0, 2], [1, 0, 2], [0, 0, 0], [0, 1, 0], [0, 2, 1], [3, 1, 0], [1, 1, 1], [0, 3, 0]], dtype=float)
    graph = NodeGraph(x, edges, [0, 1, None, 1, None, None, None, None])
    run(graph, method=method, settings=short(get_method(method), epochs=3, k=3)).prediction.check(graph.n, graph.c)
