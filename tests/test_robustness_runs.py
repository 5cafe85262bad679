"""Rows 46, 47, 49, 53, 61 and 63: stored runs, threads, equal settings, bombs, lost disks and the order of rows."""

import errno
import gzip
import socket
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from dccgcn.experiments import ray_pool, runner, store
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.runner import run_jobs

from dccgcn import NodeGraph, read_tables, run
from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.models.registry import METHODS
from dccgcn.runtime import memory, threads
from helpers.command import dccgcn, refused
from helpers.paper_rows import make_row
from helpers.runs import toy

ROOT = Path(__file__).parents[1]
JOBS = [Job("cora", "rate", 0.005, seed, "lp", seed) for seed in range(3)]


@pytest.mark.parametrize(("what", "files"), [("overview", 1), ("systems", 2)])  # the second with the runs behind it
def test_row_46_pages_of_a_copied_store_are_made_without_its_own_runs(what, files, tmp_path):
    (tmp_path / "runs").mkdir()
    rows = [make_row(job) for job in JOBS]
    (tmp_path / "runs" / "runs.jsonl.gz").write_bytes(store.pack(rows))
    options = ["--store", tmp_path / "runs", "--out", tmp_path / "pages"]
    done = dccgcn("reproduce", what, "--stored", *options)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "pages").iterdir())) == files


def test_row_46_a_copied_store_of_another_form_is_refused_with_its_line(tmp_path):
    content = store.pack([make_row(JOBS[0])])
    for other in (b'{"version": 1, "dataset": "cora"}\n', b'{"job": 1}\n', b"[]\n", b"no json\n"):
        (tmp_path / "runs.jsonl.gz").write_bytes(gzip.compress(gzip.decompress(content) + other))
        refused(dccgcn("reproduce", "overview", "--stored", "--store", tmp_path, "--out", tmp_path), "line 2")
    (tmp_path / "runs.jsonl.gz").write_bytes(content[:-9])
    refused(dccgcn("reproduce", "overview", "--stored", "--store", tmp_path, "--out", tmp_path), "complete gzip")


def test_row_47_python_uses_the_threads_of_the_command_line(monkeypatch):
    monkeypatch.setattr(threads, "_chosen", None)
    monkeypatch.setattr(threads, "_get_threads", lambda: (4, None))  # as many as the caller's libraries would use
    set_to = []
    monkeypatch.setattr(threads, "_set_threads", lambda *count: set_to.append(count))
    for limit, expected in (("1", 1), ("3", min(3, len(threads.os.sched_getaffinity(0))))):
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
        assert run(toy(), method="lp").threads == expected
        assert set_to[0] == (expected, expected)
        set_to.clear()
        assert threads.use_threads(None) == expected  # what every command calls
        set_to.clear()
        monkeypatch.setattr(threads, "_chosen", None)


@pytest.mark.parametrize("method", ["concord", "ssgc", "knn-gcn"])
def test_row_49_defaults_that_are_written_out_give_the_same_bits(method):
    graph, settings = toy(n=24), METHODS[method].settings
    few = {"epochs": 3} if "epochs" in settings.model_fields else {}
    written = {**settings().model_dump(), **few}
    assert settings.of(written) == settings.of(few)
    assert hash(str(settings.of(written).model_dump())) == hash(str(settings.of(few).model_dump()))
    given = (few, written, settings.of(few), settings.of(written))
    first, *others = (run(graph, method=method, settings=one) for one in given)
    for other in others:
        assert other.settings == first.settings
        assert other.prediction.probabilities.tobytes() == first.prediction.probabilities.tobytes()


@pytest.mark.parametrize("method", sorted(METHODS))
def test_row_49_no_settings_remember_how_they_were_given(method):
    settings = METHODS[method].settings
    assert settings() == settings.of(settings().model_dump())
    assert (
        Job("cora", "rate", 0.1, 0, method, 0).key()
        == Job("cora", "rate", 0.1, 0, method, 0, METHODS[method].published_settings("cora").model_dump()).key()
    )


# row 53


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
        with pytest.raises(DataFileError, match=r"unpacks to more than 0\.0833 GB.*DCCGCN_TABLE_GB"):
            read_tables(bomb, bomb)
        assert tracemalloc.get_traced_memory()[1] < 2e8
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


# row 61


def test_row_61_a_full_disk_in_compare_is_a_sentence_and_loses_no_finished_run(tmp_path, monkeypatch):
    kept = tmp_path / "runs.jsonl"

    def pool(jobs):
        for job in jobs:
            yield make_row(job)

    real = store.os.fsync
    calls = iter(range(9))

    def full(descriptor):
        if next(calls) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(store.os, "fsync", full)
    with pytest.raises(DataFileError, match=r"No space left on device.*finished runs are kept"):
        run_jobs(JOBS, kept, pool)
    with kept.open("rb+") as file:
        file.truncate(kept.stat().st_size - 20)  # what a full disk leaves
    rows, _ = run_jobs(JOBS, kept, pool)
    assert len(rows) == 3
    assert store.read_store(kept, repair=False) == rows
    monkeypatch.setattr(runner, "local_pool", lambda *_: pool)
    monkeypatch.setattr(store.os, "fsync", lambda _: full(next(iter([0]))))
    calls = iter([1])
    refused(dccgcn("compare", "cora", "--methods", "lp", "--splits", "1", cwd=tmp_path), "No space left on device")


def test_row_61_a_lost_ray_head_is_a_sentence_and_finished_runs_are_kept(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    import ray

    head = socket.create_server(("127.0.0.1", 0))
    address = "{}:{}".format(*head.getsockname())

    def wait(pending, num_returns, timeout):
        if len(pending) == len(JOBS):
            return pending[:1], pending[1:]
        head.close()  # from here on nothing is finished, and Ray would wait
        return [], pending

    monkeypatch.setattr(ray, "init", lambda *_, **__: None)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    monkeypatch.setattr(ray, "remote", lambda **_: lambda _: SimpleNamespace(remote=lambda job: job))
    monkeypatch.setattr(ray, "get", make_row)
    monkeypatch.setattr(ray, "wait", wait)
    monkeypatch.setattr(ray, "get_runtime_context", lambda: SimpleNamespace(gcs_address=address))
    with pytest.raises(DccgcnError, match=r"head of the Ray cluster at .* is lost.*Finished runs are kept"):
        run_jobs(JOBS, tmp_path / "runs.jsonl", ray_pool.ray_pool(address))
    assert len(store.read_store(tmp_path / "runs.jsonl")) == 1


# row 63


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
