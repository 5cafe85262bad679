"""A labelling server in a process of its own, as users start it."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn.label.source import Source
from helpers.runs import toy


@contextmanager
def labelling(*arguments, cwd=None, port=0):
    """``dccgcn label``; yields the process with its ``address``. Ended by Ctrl-C unless it was killed."""
    command = [sys.executable, "-m", "dccgcn", "label", *map(str, arguments), "--no-open", "--port", str(port)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.address = process.stdout.readline().strip()
        if not process.address:
            raise AssertionError(process.stderr.read())
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()


def cora_tables(folder: Path, cora, words=60):
    """Cora's tables without labels, with a text column; the true class of each node."""
    graph = cora.graph
    x = graph.features.tocsr()
    texts = [
        " ".join(f"word{j}" for j in x.indices[a:b][:words]) for a, b in zip(x.indptr[:-1], x.indptr[1:], strict=True)
    ]
    ids = [f"p{i}" for i in graph.ids]
    titles = [f"Paper number {i}" for i in range(graph.n)]
    pd.DataFrame({"id": ids, "title": titles, "text": texts, "topic": ""}).to_csv(folder / "nodes.csv", index=False)
    ends = [[ids[u], ids[v]] for u, v in graph.edges]
    pd.DataFrame(ends, columns=["source", "target"]).to_csv(folder / "edges.csv", index=False)
    return {i: str(graph.classes[k]) for i, k in zip(ids, graph.labels, strict=True)}


def source_of(n=60, **given):
    """A toy graph without labels, and the true class of each node."""
    graph = toy(n)
    truth = {str(node): graph.classes[k] for node, k in enumerate(graph.labels)}
    rows = pd.DataFrame({"id": range(n), "title": [f"the paper of {node}" for node in range(n)], "size": 0.5})
    return Source.from_graph(graph, np.array([], dtype=int), rows=rows, method="ssgc", **given), truth
