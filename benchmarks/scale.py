"""How Concord's time and memory grow with the graph, on synthetic graphs with ten edges for each node."""

import sys
from collections.abc import Sequence
from math import log10
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.alternatives import measure_alternatives
from benchmarks.memory import in_own_process, peak_mb, reset_peak
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.views import layout_of, view_specs
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.errors import Finding
from dccgcn.features.approximate_search import approximate_knn
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import per_class
from dccgcn.methods.base import get_method
from dccgcn.runtime.device import use_threads
from dccgcn.workflow.fitting import run


class PartClock:
    """A progress callback that takes the time and the peak memory of each part of a run of Concord."""

    def __init__(self, graph: NodeGraph, settings: ConcordSettings) -> None:
        layout = layout_of(graph)
        self._names = {
            "views": [f"view {spec.name}" for spec in view_specs(settings, graph.n, layout)],
            "channels": [f"channel {name}" for name in layout.channel_names(settings, graph.n)],
        }
        self.parts: dict[str, float] = {}
        self.peaks: dict[str, float] = {}
        self._start = perf_counter()
        reset_peak()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage in self._names:
            self.end(self._names[stage][done - 1])
        elif done == total:
            self.end(stage)

    def end(self, part: str) -> None:
        """Everything since the last call was this part."""
        now = perf_counter()
        self.parts[part], self._start = now - self._start, now
        self.peaks[part] = peak_mb()
        print(f"{part}: {self.parts[part]:.1f} s, {self.peaks[part]:.0f} MB", file=sys.stderr, flush=True)
        reset_peak()


def bench_scale(nodes: int, **options: Any) -> dict[str, Any]:
    """``measure`` in a fresh process, whose peak memory is its own.

    anonymous_mb: the peak without pages of mapped files, generating the graph included, sampled.
    """
    measured, peak = in_own_process(measure, nodes, **options)
    return {**measured, "anonymous_mb": peak}


def measure(
    nodes: int,
    *,
    edges_per_node: int,
    features: int,
    labels_per_class: int,
    threads: int,
    scratch: Path | None = None,
    alternatives: bool = False,
) -> dict[str, Any]:
    """Run Concord on a synthetic graph, and the alternatives if they are wanted.

    Training is everything except generating the graph; CPU seconds are of all threads, peaks include the graph. recall
    is that of the feature graph, None if it is exact.
    """
    use_threads(threads)
    settings = ConcordSettings.of({})
    _compile(features, labels_per_class)
    start = perf_counter()
    graph = synthetic_graph(nodes, edges_per_node * nodes, features)
    split = per_class(graph, labels_per_class, seed=0)
    generated = perf_counter()
    others = measure_alternatives(graph, split) if alternatives else []  # before views take memory
    clock, cpu = PartClock(graph, settings), process_time()
    result = run(graph, split, get_method("concord"), settings, seed=0, progress=clock, scratch=scratch)
    clock.end("measurement")
    cpu = process_time() - cpu
    return dict(
        nodes=graph.n,
        edges=len(graph.edges),
        features=graph.d,
        labels=len(split.train),
        threads=threads,
        generate_s=generated - start,
        train_s=sum(clock.parts.values()),
        cpu_s=cpu,
        peak_mb=max(clock.peaks.values()),
        recall=(found_recall(result.findings),),
        accuracy=result.accuracy or 0.0,
        parts=clock.parts,
        peaks=clock.peaks,
        alternatives=others,
    )


def per_node_ratios(measured: Sequence[dict[str, Any]], base: int = 100_000) -> dict[int, dict[str, float]]:
    """By number of nodes: seconds per node in all and of each part, over those of the run with ``base`` nodes."""
    found = next((m for m in measured if m["nodes"] == base), None)
    if found is None:
        return {}
    return {
        m["nodes"]: {
            part: seconds / m["nodes"] / (one / base)
            for part, seconds in {"train_s": m["train_s"], **m["parts"]}.items()
            if (one := {"train_s": found["train_s"], **found["parts"]}.get(part))
        }
        for m in measured
    }


def found_recall(findings: Sequence[Finding]) -> float | None:
    """The recall of the feature graph as its finding states it; None: the search was exact."""
    texts = [finding.text for finding in findings if finding.code == "knn-approximate"]
    return float(texts[0].split("nodes, ")[1].split("%")[0]) / 100 if texts else None


def growth(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """How much more the larger of two sizes takes, per tenfold number of nodes; an exponent of 1 is linear growth."""
    decades = log10(other["nodes"] / one["nodes"])
    exponent = log10(other["train_s"] / one["train_s"]) / decades
    memory = (other["peak_mb"] / one["peak_mb"]) ** (1 / decades)
    return {
        "from_nodes": one["nodes"],
        "to_nodes": other["nodes"],
        "seconds": 10**exponent,
        "memory": memory,
        "exponent": exponent,
    }


def _compile(features: int, labels_per_class: int) -> None:
    """A small run first, so that the smallest size does not pay for the kernels' compilation."""
    graph = synthetic_graph(2000, features=features)
    approximate_knn(graph.features, ConcordSettings().neighbours)
    run(graph, per_class(graph, labels_per_class, seed=0), get_method("concord"), ConcordSettings.of({}), seed=0)
