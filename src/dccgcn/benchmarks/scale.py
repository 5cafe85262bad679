"""How Concord's time and memory grow with the graph, on synthetic graphs with ten edges for each node."""

import multiprocessing
import os
from dataclasses import asdict, dataclass
from math import log10
from time import perf_counter
from typing import Any

from dccgcn.api import run
from dccgcn.benchmarks.concord import build_concord_operators
from dccgcn.benchmarks.memory import peak_mb
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.graph.splits import per_class
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.views import FEATURES, precompute
from dccgcn.models.registry import METHODS
from dccgcn.operators.approximate_knn import approximate_knn
from dccgcn.runtime.process_guard import exit_with_parent
from dccgcn.runtime.threads import use_threads


@dataclass(frozen=True)
class ScaleBenchmark:
    """One size, measured in a process of its own. Seconds of the parts in their order."""

    nodes: int
    edges: int
    features: int
    labels: int
    threads: int
    generate_s: float
    graphs_s: float  # the given edges and the feature graph, recall included
    embeddings_s: float  # embeddings and leave-one-out regressors
    heads_s: float  # members, weights, refit and confidence
    peak_mb: float  # of the whole process, generation included
    recall: tuple[float | None, ...]  # of the feature graph; None: exact
    accuracy: float  # on all nodes but the labelled ones

    @property
    def train_s(self) -> float:
        """Everything except generating the graph."""
        return self.graphs_s + self.embeddings_s + self.heads_s

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"train_s": self.train_s}


@dataclass(frozen=True)
class Growth:
    """From one size to the next, per tenfold number of nodes. An exponent of 1 is linear growth."""

    from_nodes: int
    to_nodes: int
    seconds: float  # factor of train_s
    memory: float
    exponent: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def bench_scale(nodes: int, edges_per_node: int, features: int, labels_per_class: int, threads: int) -> ScaleBenchmark:
    """Measure one size in a fresh process, whose peak memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1, exit_with_parent, (os.getpid(),)) as pool:
        return pool.apply(measure, (nodes, edges_per_node, features, labels_per_class, threads))


def measure(nodes: int, edges_per_node: int, features: int, labels_per_class: int, threads: int) -> ScaleBenchmark:
    """The same in this process."""
    use_threads(threads)
    settings = ConcordSettings.of({})
    _compile(features, labels_per_class)
    start = perf_counter()
    graph = synthetic_graph(nodes, edges_per_node * nodes, features)
    split = per_class(graph, labels_per_class, seed=0)
    generated = perf_counter()
    build_concord_operators(graph, settings)
    built = perf_counter()
    inputs = precompute(graph, settings)
    embedded = perf_counter()
    result = run(graph, split, METHODS["concord"], settings, seed=0)
    return ScaleBenchmark(
        nodes=graph.n,
        edges=len(graph.edges),
        features=graph.d,
        labels=len(split.train),
        threads=threads,
        generate_s=generated - start,
        graphs_s=built - generated,
        embeddings_s=embedded - built,
        heads_s=result.seconds,
        peak_mb=peak_mb(),
        recall=(inputs.operators[FEATURES].recall,),
        accuracy=result.accuracy or 0.0,
    )


def growth(one: ScaleBenchmark, other: ScaleBenchmark) -> Growth:
    """How much more the larger of two sizes takes, per tenfold number of nodes."""
    decades = log10(other.nodes / one.nodes)
    exponent = log10(other.train_s / one.train_s) / decades
    memory = (other.peak_mb / one.peak_mb) ** (1 / decades)
    return Growth(one.nodes, other.nodes, 10**exponent, memory, exponent)


def _compile(features: int, labels_per_class: int) -> None:
    """A small run first, so that the smallest size does not pay for the kernels' compilation."""
    graph = synthetic_graph(2000, features=features)
    approximate_knn(graph.features, ConcordSettings().neighbours)
    run(graph, per_class(graph, labels_per_class, seed=0), METHODS["concord"], ConcordSettings.of({}), seed=0)
