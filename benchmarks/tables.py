"""Reading tables of a large graph from folders of Parquet and of CSV files, each in a process of its own."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.memory import in_own_process
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.graph.splits import per_class
from dccgcn.runtime.device import use_threads
from dccgcn.runtime.scratch import digest_of
from dccgcn.tables.read import read_tables

FORMS = ("parquet", "csv")
_N_FILES = 4  # of each table
_FEATURES, _LABELS_PER_CLASS = 500, 20


def bench_tables(nodes: int, edges_per_node: int, threads: int) -> list[dict[str, Any]]:
    """Write tables of a synthetic graph, with texts as ids, words and numbers, and read them."""
    with tempfile.TemporaryDirectory() as folder:
        in_own_process(write_synthetic, Path(folder), nodes, edges_per_node)
        return [_measure(Path(folder), form, threads) for form in FORMS]


def write_synthetic(folder: Path, nodes: int, edges_per_node: int) -> None:
    """Folders of files: a row per node with an id, words, a number and a label on a few; a row per edge."""
    graph = synthetic_graph(nodes, edges_per_node * nodes, _FEATURES)
    ids = np.array([f"paper-{i:09d}" for i in range(nodes)])
    x, words = graph.features.tocsr(), np.array([f"word{chr(97 + j % 26)}{j}" for j in range(_FEATURES)])
    titles = [" ".join(words[x.indices[a:b]]) for a, b in zip(x.indptr[:-1], x.indptr[1:], strict=True)]
    topics, train = np.full(nodes, "", dtype=object), per_class(graph, _LABELS_PER_CLASS, seed=0).train
    topics[train] = [f"class {j}" for j in graph.labels[train]]
    years = np.random.default_rng(0).normal(2000, 10, nodes).round(3)
    _write(folder, "nodes", pd.DataFrame({"id": ids, "title": titles, "year": years, "topic": topics}))
    _write(folder, "edges", pd.DataFrame({"source": ids[graph.edges[:, 0]], "target": ids[graph.edges[:, 1]]}))


def _write(folder: Path, name: str, frame: pd.DataFrame) -> None:
    for form in FORMS:
        (folder / form / name).mkdir(parents=True)
        for i, rows in enumerate(np.array_split(np.arange(len(frame)), _N_FILES)):
            part, path = frame.iloc[rows], folder / form / name / f"part-{i}.{form}"
            part.to_parquet(path, index=False) if form == "parquet" else part.to_csv(path, index=False)


def _measure(folder: Path, form: str, threads: int) -> dict[str, Any]:
    """One form of the same tables; anonymous_mb: the peak without pages of mapped files, sampled."""
    files = [path for path in (folder / form).rglob("*") if path.is_file()]
    (nodes, edges, seconds, cpu, graph), peak = in_own_process(read, folder / form, threads)
    size = sum(path.stat().st_size for path in files) / 1e6
    return {
        "form": form,
        "nodes": nodes,
        "edges": edges,
        "files_mb": size,
        "read_s": seconds,
        "cpu_s": cpu,
        "anonymous_mb": peak,
        "graph": graph,  # hash of what was read
    }


def read(folder: Path, threads: int) -> tuple[int, int, float, float, str]:
    """Nodes, edges, seconds, CPU seconds, and a hash of the graph."""
    use_threads(threads)
    start, cpu = perf_counter(), process_time()
    graph = read_tables(folder / "nodes", folder / "edges", label="topic").graph
    seconds, cpu = perf_counter() - start, process_time() - cpu
    return graph.n, len(graph.edges), seconds, cpu, digest_of(graph.ids, graph.features, graph.edges, graph.labels)


def all_equal(measured: Sequence[dict[str, Any]]) -> bool:
    """Whether every form gave the same graph."""
    return len({m["graph"] for m in measured}) == 1
