"""What a run will take, before it is started: memory, so that none is started that cannot end, and time."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import NodeGraph
from dccgcn.kernels import DENSE_ABOVE
from dccgcn.models.concord.ensemble import FOLDS
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import OVERSAMPLING, SEARCHES, rarity
from dccgcn.operators.approximate_knn import MOST_WORK
from dccgcn.operators.exact_knn import exact_work, is_dense
from dccgcn.runtime.memory import memory, size
from dccgcn.settings import Settings

_PROCESS = 650e6  # Python, torch and numba themselves
_BLOCK = 512  # rows of similarities at a time
_PER_ENTRY = 60  # bytes for each entry of a normalised graph: pattern, transpose, weights, gradients
_PER_LISTED = 1500  # bytes for each node of an approximate search: lists of nodes that share words
_PER_UNIT = 24  # bytes for each node and hidden unit: value, gradient, mask, in two channels

# in a second, on one core; measured on graphs of 2,000 to 20,000 nodes
_SIMILARITIES = 5e8
_PRODUCTS = 1e9  # of a training step, gradients included
_TRAVELS = 4e9  # products along edges without gradients
_TURNS = 2.5e10  # of an orthogonalisation
_ANSWERS = 1e9

_NEARLY = 1e-4  # seconds to find a node's neighbours approximately


@dataclass(frozen=True)
class Cost:
    """Rough: enough to tell a second from a minute and a minute from an hour, and what fits from what does not."""

    bytes: float  # at the peak, of the whole process
    seconds: float  # on one core


@dataclass(frozen=True)
class _Size:
    """What decides the cost of a graph."""

    n: int
    d: int
    c: int
    filled: int  # features that are not zero
    given: int  # entries of the normalised graph
    similar: int  # entries of the normalised feature graph
    bytes: float  # of features, similarities and both graphs
    searching: float  # seconds for the feature graph


def estimate(graph: NodeGraph, settings: Settings | None = None) -> Cost:
    """What a method with these settings needs on this graph; omitted: the default method."""
    settings = ConcordSettings() if settings is None else settings
    measured = _size(graph, settings.neighbours)
    return (
        _concord(measured, graph, settings) if isinstance(settings, ConcordSettings) else _network(measured, settings)
    )


def _size(graph: NodeGraph, k: int) -> _Size:
    n, d, x = graph.n, graph.d, graph.features
    filled = int(x.nnz) if sp.issparse(x) else int(np.count_nonzero(x))
    given, similar = 2 * len(graph.edges) + n, 2 * k * n + n if k else 0
    features = 12 * filled if sp.issparse(x) else 4 * n * d
    if k == 0:  # no feature graph
        searching, similarity = 0.0, 0
    elif (work := exact_work(x)) <= MOST_WORK:
        searching = work / _SIMILARITIES
        similarity = 8 * n * d + 8 * _BLOCK * n if is_dense(x) else 24 * filled
    else:  # an approximate search
        searching, similarity = n * _NEARLY, 8 * filled + _PER_LISTED * n
    return _Size(
        n, d, graph.c, filled, given, similar, features + similarity + _PER_ENTRY * (given + similar), searching
    )


def _network(s: _Size, settings: Settings) -> Cost:
    """A network of one or two channels; a method without hidden units is as wide as its answers."""
    width = max(_hidden(settings).values(), default=s.c)
    epochs = float(settings.model_dump().get("epochs", 200))
    products = epochs * width * (s.filled + s.given + s.similar)
    return Cost(_PROCESS + s.bytes + _PER_UNIT * (s.n + s.d) * width, s.searching + products / _PRODUCTS)


def _concord(s: _Size, graph: NodeGraph, settings: ConcordSettings) -> Cost:
    """Searches for the directions of each representation, then rounds in which the voices learn and answer."""
    counts = settings.rarity and rarity(graph.features) is not None
    feature_graphs = 1 + counts  # counts have one by their rarity, too
    representations = 2 + feature_graphs
    width = min(settings.rank + OVERSAMPLING, s.n, s.d)
    products = 2 * (SEARCHES + 1)  # of a search, and the representation itself
    along = 2 * s.given * settings.topology_steps + feature_graphs * s.similar * settings.feature_steps
    along += s.given  # what neighbours have, for the echo; what a node has of its own does not travel
    searched = representations + 2
    travels = products * width * (2 * searched * s.filled + along)
    turns = searched * SEARCHES * 4 * width**2 * (s.n + s.d)
    tied = min(settings.ties + OVERSAMPLING, s.n) if settings.ties else 0  # the search for who is joined to whom
    travels += products * tied * (2 * s.n + s.given * settings.topology_steps)
    turns += SEARCHES * 4 * tied**2 * 2 * s.n
    voices, times = representations + (settings.ties > 0) + 3, settings.rounds + 1 + FOLDS
    answers = times * voices * s.c * (s.n * 2 * settings.rank + settings.smoothing * (s.given + s.similar) / 2)
    seconds = feature_graphs * s.searching + travels / _TRAVELS + turns / _TURNS + answers / _ANSWERS
    per_node = max((8 + SEARCHES) * width, (8 + 2 * SEARCHES) * tied)
    per_node += 3 * (representations * settings.rank + settings.ties) + 2 * settings.rank + 3 * voices * s.c
    held_out = 4 * 4 * FOLDS * s.c  # four copies of what four voices on a graph say after each fold
    return Cost(_PROCESS + feature_graphs * s.bytes + 4 * (per_node + held_out) * s.n, seconds)


def _hidden(settings: Settings) -> dict[str, int]:
    """The widths of a method's layers."""
    values = settings.model_dump()
    return {name: v for name, v in values.items() if name.startswith("hidden") and isinstance(v, int)}


def check_memory(graph: NodeGraph, settings: Settings | None = None) -> list[Finding]:
    """An error if a run needs more memory than the machine has, a warning if more than is free."""
    settings = ConcordSettings() if settings is None else settings
    needed = estimate(graph, settings).bytes
    free, total = memory()
    text = f"About {size(needed)} of memory will be needed; {size(free)} of {size(total)} are free."
    if needed > total:
        raise GraphError(text, _remedy(graph, settings))
    return [Finding("warning", "memory", f"{text} {_remedy(graph, settings)}")] if needed > free else []


def duration(seconds: float) -> str:
    """Seconds as people read them.

    >>> [duration(seconds) for seconds in (0.4, 7.2, 100, 9000)]
    ['about a second', 'about 7 seconds', 'about 2 minutes', 'about 2 hours']
    """
    for length, unit in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * length:
            return f"about {seconds / length:.0f} {unit}"
    return f"about {seconds:.0f} seconds" if seconds >= 1.5 else "about a second"


def _remedy(graph: NodeGraph, settings: Settings) -> str:
    x = graph.features
    if not sp.issparse(x) and np.count_nonzero(x) < DENSE_ABOVE * x.size:
        return "Most features are zero: pass them as a SciPy sparse matrix."
    if isinstance(settings, ConcordSettings):
        return f"Use fewer features or directions (--set rank={settings.rank // 2}), or a simpler method such as ssgc."
    if hidden := _hidden(settings):
        name, width = max(hidden.items(), key=lambda item: item[1])
        return f"Use fewer features or narrower layers (--set {name}={width // 4}), or a method without any: ssgc."
    return "Use fewer features, or a machine with more memory."
