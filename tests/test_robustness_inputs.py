"""Rows 44, 48, 53, 57 to 61: extreme numbers, stores, interrupts, terminals, tables and settings."""

import gzip
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from dccgcn import NodeGraph, read_tables, run
from dccgcn.errors import DataFileError, DccgcnError, GraphError, SettingsError
from dccgcn.graph.splits import Split
from dccgcn.settings import read_yaml
from dccgcn.workflow.jobs import Job
from dccgcn.workflow.runner import append, read_store
from helpers.command import dccgcn, refused, success
from helpers.paper_rows import make_row
from helpers.processes import children

LABELS = ["a", "b"] * 4 + [None] * 4
EDGES = [(i, (i + 1) % 12) for i in range(12)]
HOSTILE = "\x1b[31mred[/x][bold]\x07"


@pytest.mark.parametrize("method", ["concord", "ssgc", "lp", "gcn"])
@pytest.mark.parametrize("scale", [1e-45, 1e-42, 1e-30, 1e-20, 1e-17])
def test_row_44_tiny_features_are_answered_or_refused(method, scale):
    features = (np.random.default_rng(0).random((12, 3)) * scale).astype(np.float32)
    try:
        graph = NodeGraph(features, EDGES, LABELS)
        probabilities = run(graph, method=method).prediction.probabilities
    except DccgcnError:
        return
    assert np.isfinite(probabilities).all()


@pytest.mark.parametrize("weight", [1e-45, 1e-30, 1e-12, 1e12, 1e30])
def test_row_44_extreme_edge_weights_are_answered_or_refused(weight):
    weights = np.ones(12)
    weights[::2] = weight
    features = np.random.default_rng(0).random((12, 3))
    if not 1e-18 <= weight <= 1e15:
        with pytest.raises(GraphError, match="Scale the weights"):
            NodeGraph(features, EDGES, LABELS, edge_weights=weights)
        return
    graph = NodeGraph(features, EDGES, LABELS, edge_weights=weights)
    assert np.isfinite(run(graph).prediction.probabilities).all()


def table(**columns):
    n = 8
    given = {"id": [f"n{i}" for i in range(n)], "topic": ["a", "b"] * 4, "x": range(n), **columns}
    return pd.DataFrame(given), pd.DataFrame({"source": given["id"][:-1], "target": given["id"][1:]})


def test_row_48_a_feature_that_is_too_large_is_not_called_missing():
    with pytest.raises(GraphError, match="too large") as refusal:
        read_tables(*table(x=[1e15] * 7 + [2e15]), label="topic", features=["x"], scale=False, impute="error")
    assert "missing" not in refusal.value.what


def test_row_53_the_limit_of_unpacked_tables_can_be_set(tmp_path, monkeypatch):
    nodes, edges = table()
    path = tmp_path / "nodes.csv.gz"
    nodes.to_csv(path, index=False)
    assert read_tables(path, edges, label="topic").graph.n == 8
    path.write_bytes(gzip.compress(b"id,topic,x\n" + b"a,b,1\n" * 2_000_000))
    for limit, file, words in (
        ("0.005", path, r"more than 0\.005 GB.*DCCGCN_TABLE_GB=0\.01"),
        ("0.005", "/dev/zero", "more than"),
        ("much", path, "not a number"),
    ):
        monkeypatch.setenv("DCCGCN_TABLE_GB", limit)
        with pytest.raises(DataFileError, match=words):
            read_tables(file, edges)


def test_row_57_ctrl_c_ends_a_comparison_without_waiting_for_its_runs(tmp_path):
    command = [sys.executable, "-m", "dccgcn", "compare", "cora", "--methods", "grand", "--splits", "20"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "start_new_session": True}
    process = subprocess.Popen([*command, "--jobs", "2"], cwd=tmp_path, **quiet)
    deadline = time.monotonic() + 120
    while sum(seconds > 1 for _, seconds in children(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)  # until both workers are busy
    assert process.poll() is None
    workers = [pid for pid, _ in children(process.pid)]
    os.kill(process.pid, signal.SIGINT)  # only to the command: the workers must end with it
    process.communicate(timeout=120)
    assert process.returncode == 130
    assert not any(read_store(path) for path in tmp_path.rglob("*.jsonl"))  # no run has ended
    deadline = time.monotonic() + 60
    while any(os.path.exists(f"/proc/{pid}") for pid in workers):
        assert time.monotonic() < deadline, "a worker has outlived its command"
        time.sleep(0.2)


def test_row_58_every_altered_byte_of_a_store_is_found_and_its_line_named(tmp_path):
    store = tmp_path / "runs.jsonl"
    for seed in range(3):
        append(store, make_row(Job("cora", "rate", 0.005, seed, "lp", 0)))
    whole = store.read_bytes()
    rows = read_store(store, repair=False)
    assert len(rows) == 3
    lines = whole.splitlines(keepends=True)
    rng = random.Random(0)
    for _ in range(500):
        place = rng.randrange(len(lines[0]), len(lines[0]) + len(lines[1]) - 1)
        other = bytearray(whole)
        other[place] = rng.choice([b for b in range(256) if b not in (other[place], 10, 13)])
        store.write_bytes(other)
        with pytest.raises(DataFileError, match=r"line [23]"):
            read_store(store, repair=False)
    for second in (lines[1][:-80] + b"}\n", lines[1].replace(b"0.005", b"0.006"), b"nonsense\n"):
        store.write_bytes(lines[0] + second + lines[2])
        with pytest.raises(DataFileError, match="line 2"):
            read_store(store, repair=False)
    bare = lines[0][: lines[0].index(b',"sha256"')] + b"}\n"
    store.write_bytes(lines[0] + bare)
    with pytest.raises(DataFileError, match="line 2: the line was altered: it has no checksum"):
        read_store(store, repair=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", HOSTILE],
        ["fit", "cora", "--method", HOSTILE],
        ["fit", "cora", "--set", f"{HOSTILE}=1"],
        ["fit", "cora", "--split", HOSTILE],
        ["fit", "--nodes", HOSTILE, "--edges", HOSTILE],
        ["doctor", HOSTILE],
        ["report", HOSTILE],
        ["predict", HOSTILE, "--nodes", HOSTILE],
        ["label-next", HOSTILE],
        ["compare", HOSTILE, "--methods", HOSTILE],
        ["methods", HOSTILE],
        [HOSTILE],
        ["fit", f"--{HOSTILE}"],
        ["fit", "cora", "--seed", HOSTILE],
    ],
    ids=str,
)
def test_row_59_escape_codes_and_markup_of_options_are_shown_as_text(arguments, tmp_path):
    done = dccgcn(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "\x1b" not in done.stderr + done.stdout
    assert "\x07" not in done.stderr + done.stdout


def test_row_59_escape_codes_and_markup_of_names_and_paths_are_shown_as_text(tmp_path):
    folder = tmp_path / HOSTILE.replace("/", "")
    folder.mkdir()
    names = [f"{'ab'[i % 2]}[/x]\x1b[31m" if i < 6 else "" for i in range(12)]
    ids = [f"\x1b{i}[/b]" for i in range(12)]
    pd.DataFrame({"id": ids, "topic": names, "x": np.arange(12) % 3}).to_csv(folder / "nodes[x].csv", index=False)
    pd.DataFrame({"source": ids, "target": ids[1:] + ids[:1]}).to_csv(folder / "edges.csv", index=False)
    tables = ["--nodes", folder / "nodes[x].csv", "--edges", folder / "edges.csv", "--label", "topic"]
    out = folder / "[/out]".replace("/", "")
    for arguments in (
        ["doctor", *tables],
        ["fit", *tables, "--method", "ssgc", "--out", out, "--report"],
        ["fit", *tables, "--method", "ssgc", "--hold-out", "0.4"],
        ["label-next", out],
        ["report", out],
    ):
        done = success(*arguments)
        assert "\x1b" not in done.stderr + done.stdout
        assert "\x07" not in done.stderr + done.stdout


STRANGE = {
    "three types": [1, "1", 1.0, *range(2, 7)],
    "lists": [[i, i] for i in range(8)],
    "dates": pd.date_range("2020-01-01", periods=8),
    "records": [{"a": i} for i in range(8)],
    "bytes": [b"a", b"b"] * 4,
}


@pytest.mark.parametrize("form", ["frame", "parquet"])
@pytest.mark.parametrize("column", ["id", "topic"])
@pytest.mark.parametrize("kind", STRANGE)
def test_row_60_ids_and_labels_of_other_types_are_refused(kind, column, form, tmp_path):
    if kind == "three types" and (form, column) != ("frame", "id"):
        pytest.skip("labels may be of several types, and Arrow has no such column")
    nodes, edges = table()
    nodes[column] = pd.Series(STRANGE[kind], dtype=object) if isinstance(STRANGE[kind], list) else STRANGE[kind]
    if column == "id" and form == "frame":
        edges = pd.DataFrame({"source": list(nodes["id"][:-1]), "target": list(nodes["id"][1:])})
    if form == "parquet":
        pytest.importorskip("pyarrow")
        nodes.to_parquet(tmp_path / "nodes.parquet")
        nodes = tmp_path / "nodes.parquet"
    with pytest.raises(GraphError):
        read_tables(nodes, edges, label="topic", id="id", features=["x"])


def test_row_60_float32_ids_that_are_not_exact_are_refused():
    ids = np.arange(2**24 + 1, 2**24 + 9)
    nodes, _ = table(id=ids)
    edges = pd.DataFrame({"source": ids[:-1].astype(np.float32), "target": ids[1:].astype(np.float32)})
    with pytest.raises(GraphError, match="too large to be exact"):
        read_tables(nodes, edges, label="topic", features=["x"])


def test_row_61_files_that_are_no_settings_split_or_report(tmp_path):
    bomb = tmp_path / "bomb.yaml"
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    bomb.write_text("\n".join(lines))
    for path in (bomb, tmp_path, tmp_path / "nowhere", "/dev/zero"):
        with pytest.raises(SettingsError):
            read_yaml(type(tmp_path)(path))
        refused(dccgcn("fit", "cora", "--settings", path), "Error")
    refused(dccgcn("fit", "cora", "--split", tmp_path), "not a")
    graph = NodeGraph(np.eye(12), EDGES, LABELS)
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 200_000)
    for path in (tmp_path, deep, "/dev/zero"):
        with pytest.raises(DataFileError):
            Split.load(path, graph)
    (tmp_path / "report.json").write_text('{"format": ' + "[" * 200_000)
    refused(dccgcn("report", tmp_path), "report.json")
