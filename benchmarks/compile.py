"""What a first fit compiles: every kernel with its seconds, and the fit again with the kernels from the cache."""

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from numba.core.event import Event, Listener, install_listener

from dccgcn.datasets import load
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import per_class
from dccgcn.kernel_cache import VARIABLE
from dccgcn.report import write_report
from dccgcn.runtime.process_guard import exit_with_parent
from dccgcn.workflow.fitting import run

GRAPHS = ("cora", "measurements")


def bench_compile(dataset: str, method: str) -> dict[str, Any]:
    """Fit and report one of GRAPHS in two processes that share an empty cache; all times are CPU seconds.

    The embedded Cora has sparse features, a small table of measurements dense ones. kernels: seconds that each took to
    compile, with the functions that it calls; first_s, second_s: fit and report without imports, without and with the
    cache.
    """
    with TemporaryDirectory() as cache, _environment(VARIABLE, cache):
        (kernels, first), (_, second) = (_in_new_process(dataset, method) for _ in range(2))
    return {
        "dataset": dataset,
        "kernels": kernels,
        "compile_s": sum(kernels.values()),
        "first_s": first,
        "second_s": second,
        "ratio": first / second,
    }


def measure(dataset: str, method: str) -> tuple[dict[str, float], float]:
    """Seconds of each kernel that this process compiles, and of fit and report together."""
    graph = load("cora").graph if dataset == "cora" else _measurements()
    split = per_class(graph, 2, seed=0)
    start = process_time()
    with install_listener("numba:compile", _Kernels()) as kernels:
        write_report(run(graph, split, method))
    return kernels.seconds, process_time() - start


class _Kernels(Listener):
    """Keeps the seconds that each kernel took to compile."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._started: list[float] = []  # of the kernel, and of a function that it calls

    def on_start(self, event: Event) -> None:
        self._started.append(process_time())

    def on_end(self, event: Event) -> None:
        seconds = process_time() - self._started.pop()
        if not self._started:
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds


def _measurements() -> NodeGraph:
    """Sixty nodes of three classes with five dense features, in rings."""
    rng = np.random.default_rng(0)
    classes = np.arange(60) % 3
    features = rng.normal(size=(3, 5))[classes] + rng.normal(size=(60, 5))
    return NodeGraph(features, [(i, (i + 3) % 60) for i in range(60)], [f"class {c}" for c in classes])


def _in_new_process(dataset: str, method: str) -> tuple[dict[str, float], float]:
    with multiprocessing.get_context("spawn").Pool(1, exit_with_parent, (os.getpid(),)) as pool:
        return pool.apply(measure, (dataset, method))


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name) if before is None else os.environ.update({name: before})
