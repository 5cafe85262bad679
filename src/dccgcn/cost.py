"""What a run will take, before it is started: memory, so that none is started that cannot end, and time."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import NodeGraph
from dccgcn.kernels.features import DENSE_ABOVE
from dccgcn.memory import memory, size
from dccgcn.settings import Settings

_PROCESS = 650e6  # Python, torch and numba themselves
_BLOCK = 512  # rows of similarities at a time
_PER_ENTRY = 60  # bytes for each entry of a normalised graph: pattern, transpose, weights, gradients
_PER_UNIT = 24  # bytes for each node and hidden unit: value, gradient, mask, in two channels

# orders of magnitude, for one core
_SIMILARITIES_PER_SECOND = 2e8
_PRODUCTS_PER_SECOND = 1e9


@dataclass(frozen=True)
class Cost:
    """Rough: enough to tell a minute from an hour, and what fits from what does not."""

    bytes: float  # at the peak, of the whole process
    seconds: float  # on one core


def estimate(graph: NodeGraph, settings: Settings | None = None) -> Cost:
    """What a dual-channel method needs on this graph; a simpler one needs less."""
    values = settings.model_dump() if settings else {}
    width = max((v for name, v in values.items() if name.startswith("hidden") and isinstance(v, int)), default=256)
    k, epochs = int(values.get("k") or 6), int(values.get("epochs", 200))  # GLP chooses k by itself
    n, d, x = graph.n, graph.d, graph.features
    filled = int(x.nnz) if sp.issparse(x) else int(np.count_nonzero(x))
    dense = filled > DENSE_ABOVE * n * d
    entries = 2 * len(graph.edges) + 2 * k * n + 2 * n  # of both views, with their self-loops
    features = 12 * filled if sp.issparse(x) else 4 * n * d
    similarity = 8 * n * d + 8 * _BLOCK * n if dense else 24 * filled
    activations = _PER_UNIT * n * width + _PER_UNIT * d * width
    with_word = np.bincount(x.indices, minlength=d) if sp.issparse(x) else np.full(d, n)
    comparisons = float(n) * n * d if dense else float((with_word.astype(np.float64) ** 2).sum())
    products = float(epochs) * width * (filled + entries)
    return Cost(
        _PROCESS + features + similarity + _PER_ENTRY * entries + activations,
        comparisons / _SIMILARITIES_PER_SECOND + products / _PRODUCTS_PER_SECOND,
    )


def check_memory(graph: NodeGraph, settings: Settings | None = None) -> list[Finding]:
    """An error if a run needs more memory than the machine has, a warning if more than is free."""
    needed = estimate(graph, settings).bytes
    free, total = memory()
    text = f"About {size(needed)} of memory will be needed; {size(free)} of {size(total)} are free."
    if needed > total:
        raise GraphError(text, _remedy(graph))
    return [Finding("warning", "memory", f"{text} {_remedy(graph)}")] if needed > free else []


def duration(seconds: float) -> str:
    """Seconds as people read them."""
    if seconds < 60:
        return "less than a minute"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.0f} hours"


def _remedy(graph: NodeGraph) -> str:
    x = graph.features
    if not sp.issparse(x) and np.count_nonzero(x) < DENSE_ABOVE * x.size:
        return "Most features are zero: pass them as a SciPy sparse matrix."
    return "Use fewer features or narrower layers (--set hidden1=64), or a method without layers such as ssgc."
