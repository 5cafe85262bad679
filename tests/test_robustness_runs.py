"""Rows 46, 47, 49, 53, 61 and 63: stored runs, threads, equal settings, bombs, lost disks and the order of rows."""

import errno
import gzip
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dccgcn import NodeGraph, read_tables, run
from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.methods.base import ENTRIES, get_method
from dccgcn.runtime import device, memory
from dccgcn.workflow import runner
from dccgcn.workflow.jobs import Job
from dccgcn.workflow.runner import run_jobs
from helpers.command import dccgcn, paper, refused
from helpers.paper_rows import make_row
from helpers.runs import toy
from paper.runs import packed

ROOT = Path(__file__).parents[1]
JOBS = [Job("cora", "rate", 0.005, seed, "lp", seed) for seed in range(3)]


def test_row_46_pages_of_a_copied_store_are_made_without_its_own_runs(tmp_path):
    (tmp_path / "runs").mkdir()
    rows = {job.key(): make_row(job) for job in JOBS}
    (tmp_path / "runs" / "runs.parquet").write_bytes(packed(rows, ()))
    done = paper("overview", "--stored", "--store", tmp_path / "runs", "--out", tmp_path / "pages")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "pages").iterdir()} == {"overview.md", "runs.parquet"}


def test_row_46_a_copied_store_of_another_form_is_refused_with_its_line(tmp_path):
    runner.append(tmp_path / "runs.jsonl", make_row(JOBS[0]))
    first = (tmp_path / "runs.jsonl").read_text()
    for other in ('{"version": 1, "dataset": "cora"}\n', '{"job": 1}\n', "[]\n", "no json\n"):
        (tmp_path / "runs.jsonl").write_text(first + other)
        refused(paper("overview", "--stored", "--store", tmp_path, "--out", tmp_path), "line 2")
    (tmp_path / "runs.jsonl").unlink()
    (tmp_path / "runs.parquet").write_bytes(packed({"a": make_row(JOBS[0])}, ())[:-9])
    refused(paper("overview", "--stored", "--store", tmp_path, "--out", tmp_path), "complete Parquet")


def test_row_47_python_uses_the_threads_of_the_command_line(monkeypatch):
    monkeypatch.setattr(device, "_chosen", None)
    monkeypatch.setattr(device, "_get_threads", lambda: (4, None))  # as many as the caller's libraries would use
    set_to = []
    monkeypatch.setattr(device, "_set_threads", lambda *count: set_to.append(count))
    for limit, expected in (("1", 1), ("3", min(3, len(device.os.sched_getaffinity(0))))):
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
        assert run(toy(), method="lp").threads == expected
        assert set_to[0] == (expected, expected)
        set_to.clear()
        assert device.use_threads(None) == expected  # what every command calls
        set_to.clear()
        monkeypatch.setattr(device, "_chosen", None)


@pytest.mark.parametrize("method", ["concord", "ssgc", "knn-gcn"])
def test_row_49_defaults_that_are_written_out_give_the_same_bits(method):
    graph, settings = toy(n=24), get_method(method).settings
    few = {"epochs": 3} if "epochs" in settings.model_fields else {}
    written = {**settings().model_dump(), **few}
    assert settings.of(written) == settings.of(few)
    given = (few, written, settings.of(few), settings.of(written))
    first, *others = (run(graph, method=method, settings=one) for one in given)
    for other in others:
        assert other.settings == first.settings
        assert other.prediction.probabilities.tobytes() == first.prediction.probabilities.tobytes()


@pytest.mark.parametrize("method", sorted(ENTRIES))
def test_row_49_no_settings_remember_how_they_were_given(method):
    settings = get_method(method).settings
    assert settings() == settings.of(settings().model_dump())
    written = get_method(method).published_settings("cora").model_dump()
    job = Job("cora", "rate", 0.1, 0, method, 0)
    assert job.key() == replace(job, options=written).key()


@pytest.fixture
def small_machine(monkeypatch):
    """One gigabyte of memory."""
    monkeypatch.delenv("DCCGCN_TABLE_GB", raising=False)
    monkeypatch.setattr(memory, "available_memory", lambda: (5e8, 1e9))


def test_row_53_a_gzip_bomb_is_refused_before_it_has_filled_the_memory(tmp_path, small_machine):
    member = gzip.compress(b"id,topic,x\n" + b"a,b,1\n" * 2 * 10**6, 9)
    bomb = tmp_path / "nodes.csv.gz"
    bomb.write_bytes(member * 200)  # 2.4 GB
    assert bomb.stat().st_size < 4e6
    tracemalloc.start()
    try:
        with pytest.raises(DccgcnError, match=r"unpacks to more than 0\.0833 GB|needs about [\d.]+ GB of memory"):
            read_tables(bomb, bomb)
        assert tracemalloc.get_traced_memory()[1] < 5e8  # half of the machine
    finally:
        tracemalloc.stop()


def test_row_53_a_parquet_bomb_is_refused_before_a_row_is_read(tmp_path, small_machine):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    part = pa.table({"id": np.zeros(3 * 10**6, np.int8)})
    bomb = tmp_path / "nodes.parquet"
    with parquet.ParquetWriter(bomb, part.schema) as writer:
        for _ in range(5):  # 15 million rows
            writer.write_table(part)
    assert bomb.stat().st_size < 1e6
    with pytest.raises(DataFileError, match=r"unpacks to more than 0\.0833 GB"):
        read_tables(bomb, bomb)


def test_row_61_a_full_disk_in_compare_is_a_sentence_and_loses_no_finished_run(tmp_path, monkeypatch):
    kept = tmp_path / "runs.jsonl"
    real = runner.os.fsync
    calls = iter(range(9))

    def full(descriptor):
        if next(calls) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(runner.os, "fsync", full)
    with pytest.raises(DataFileError, match=r"No space left on device.*finished runs are kept"):
        run_jobs(JOBS, kept, 1)
    with kept.open("rb+") as file:
        file.truncate(kept.stat().st_size - 20)  # what a full disk leaves
    rows, _ = run_jobs(JOBS, kept, 1)
    assert len(rows) == 3
    assert runner.read_store(kept, repair=False) == rows
    calls = iter([1])
    done = dccgcn("compare", "cora", "--methods", "lp", "--splits", "1", "--jobs", "1", cwd=tmp_path)
    refused(done, "No space left on device")


def test_row_63_the_order_of_rows_matters_only_as_the_documentation_says(tmp_path):
    graph = toy(n=90)
    order = np.random.default_rng(0).permutation(graph.n)
    place = np.argsort(order)
    known = np.arange(graph.n) % 5 == 0
    names = np.array([graph.classes[k] for k in graph.labels], dtype=object)
    labels = np.where(known, names, None)
    features = np.asarray(graph.features)
    first = run(NodeGraph(features, graph.edges, labels, ids=graph.ids))
    second = run(NodeGraph(features[order], place[graph.edges], labels[order], ids=graph.ids[order]))
    assert (first.prediction.y_pred[order] == second.prediction.y_pred).mean() > 0.95
    page = " ".join((ROOT / "docs" / "reliability.md").read_text(encoding="utf-8").split())
    assert "order of the rows" in page


def test_row_63_the_order_of_edges_and_of_their_ends_does_not_matter():
    graph, rng = toy(n=40), np.random.default_rng(0)
    names = [graph.classes[k] if i % 4 == 0 else None for i, k in enumerate(graph.labels)]
    other = rng.permutation(np.asarray(graph.edges))[:, ::-1]
    first, second = (run(NodeGraph(np.asarray(graph.features), e, names)) for e in (graph.edges, other))
    assert first.prediction.probabilities.tobytes() == second.prediction.probabilities.tobytes()
