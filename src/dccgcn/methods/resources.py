"""Estimated memory and time of a run, so that none is started that cannot finish."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError
from dccgcn.features import MOST_WORK, exact_work, is_dense
from dccgcn.graph import NodeGraph
from dccgcn.kernels import DENSE_ABOVE
from dccgcn.runtime import available_memory, format_bytes
from dccgcn.settings import Settings

PROCESS_BYTES = 650e6  # Python, torch and numba
_BLOCK_ROWS = 512  # rows of similarities at a time
_BYTES_PER_ENTRY = 60  # of an operator: pattern, transpose, weights, gradients
_BYTES_PER_CANDIDATES = 1000  # of each node in the approximate kNN search
_BYTES_PER_UNIT = 24  # of each node and hidden unit: value, gradient and mask in two channels

# per second on one core; measured on graphs of 2,000 to 20,000 nodes
_SIMILARITIES = 5e8
_TRAINING = 1e9  # multiply-adds of a training step, gradients included
_APPROXIMATE_SECONDS = 1e-4  # per node of the approximate kNN search


@dataclass(frozen=True)
class Cost:
    """An estimate within an order of magnitude."""

    bytes: float  # peak of the whole process
    seconds: float  # on one core
    remedy: str  # how to use less memory


@dataclass(frozen=True)
class GraphSize:
    """The numbers that determine the cost of a graph."""

    n: int
    d: int
    c: int
    nnz: int  # nonzero features
    nnz_topology: int  # entries of the topology operator
    nnz_features: int  # entries of the kNN operator, 0 without one
    bytes: float  # of features, similarities and both operators
    knn_seconds: float
    knn_bytes: float  # part of bytes: of the search alone


def graph_size(graph: NodeGraph, k: int) -> GraphSize:
    """k: neighbours in the feature graph; 0: there is none."""
    n, d, x = graph.n, graph.d, graph.features
    nnz = int(x.nnz) if sp.issparse(x) else int(np.count_nonzero(x))
    nnz_topology, nnz_features = 2 * len(graph.edges) + n, 2 * k * n + n if k else 0
    feature_bytes = 12 * nnz if sp.issparse(x) else 4 * n * d
    if k == 0:
        knn_seconds, knn_bytes = 0.0, 0
    elif (work := exact_work(x)) <= MOST_WORK:
        knn_seconds = work / _SIMILARITIES
        knn_bytes = 8 * n * d + 8 * _BLOCK_ROWS * n if is_dense(x) else 24 * nnz
    else:
        knn_seconds, knn_bytes = n * _APPROXIMATE_SECONDS, 8 * nnz + _BYTES_PER_CANDIDATES * n
    n_bytes = feature_bytes + knn_bytes + _BYTES_PER_ENTRY * (nnz_topology + nnz_features)
    return GraphSize(n, d, graph.c, nnz, nnz_topology, nnz_features, n_bytes, knn_seconds, knn_bytes)


def network_cost(graph: NodeGraph, settings: Settings) -> Cost:
    """The cost of a network of one or two channels; a method without hidden units is as wide as its output."""
    s, values = graph_size(graph, settings.neighbours), settings.model_dump()
    hidden = {name: v for name, v in values.items() if name.startswith("hidden") and isinstance(v, int)}
    width = max(hidden.values(), default=s.c)
    multiply_adds = float(values.get("epochs", 200)) * width * (s.nnz + s.nnz_topology + s.nnz_features)
    remedy = "Use fewer features, or a machine with more memory."
    if hidden:
        name, widest = max(hidden.items(), key=lambda item: item[1])
        remedy = f"Use fewer features or narrower layers (--set {name}={widest // 4}), or a method without any: ssgc."
    return Cost(
        PROCESS_BYTES + s.bytes + _BYTES_PER_UNIT * (s.n + s.d) * width,
        s.knn_seconds + multiply_adds / _TRAINING,
        sparse_remedy(graph) or remedy,
    )


def sparse_remedy(graph: NodeGraph) -> str:
    """The advice for dense features that are mostly zero, else nothing."""
    x = graph.features
    mostly_zero = not sp.issparse(x) and np.count_nonzero(x) < DENSE_ABOVE * x.size
    return "Most features are zero: pass them as a SciPy sparse matrix." if mostly_zero else ""


def check_memory(cost: Cost) -> list[Finding]:
    """An error if a run needs more memory than the machine has, a warning if more than is free."""
    free, total = available_memory()
    needed = f"About {format_bytes(cost.bytes)} of memory will be needed"
    text = f"{needed}; {format_bytes(free)} of {format_bytes(total)} are free."
    if cost.bytes > total:
        raise GraphError(text, cost.remedy)
    return [Finding("warning", "memory", f"{text} {cost.remedy}")] if cost.bytes > free else []


def duration(seconds: float) -> str:
    """Seconds as readable text.

    >>> [duration(seconds) for seconds in (0.4, 7.2, 100, 9000)]
    ['about a second', 'about 7 seconds', 'about 2 minutes', 'about 2 hours']
    """
    for length, unit in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * length:
            return f"about {seconds / length:.0f} {unit}"
    return f"about {seconds:.0f} seconds" if seconds >= 1.5 else "about a second"
