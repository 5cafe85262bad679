"""Operator: a graph as the matrix that propagation multiplies by, A + I with normalised weights."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding
from dccgcn.features.approximate_search import neighbours
from dccgcn.features.columns import entry_blocks, weight_columns
from dccgcn.features.exact_search import Neighbours
from dccgcn.graph import NodeGraph
from dccgcn.progress import Progress
from dccgcn.text import first_few

Normalisation = Literal["symmetric", "row", "none"]

_GOOD_RECALL = 0.8  # below, a warning: the feature graph differs much from the exact one

_MANY_TIES = 0.01  # share of the nodes; fewer are not worth a sentence


@dataclass(frozen=True, eq=False)
class Operator:
    """A graph without and with self-loops; the latter is normalised."""

    adjacency: sp.csr_array  # A, without self-loops
    matrix: sp.csr_array  # Â = normalised A + I, (n, n) float32
    findings: tuple[Finding, ...] = ()
    recall: float | None = None  # of the neighbours, if they were searched approximately
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        adjacency: sp.csr_array,
        how: Normalisation,
        findings: tuple[Finding, ...] = (),
        recall: float | None = None,
    ) -> "Operator":
        """The operator of any adjacency matrix."""
        return cls(adjacency, normalise(adjacency, how), findings, recall)

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """What follows from the matrix (its tensors on a device), computed once."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]


def normalise(adjacency: sp.csr_array, how: Normalisation) -> sp.csr_array:
    """Â: D̃^-1/2 (A+I) D̃^-1/2, or D̃^-1 (A+I), or A+I itself."""
    with_loops = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0], dtype=np.float32, format="csr"))
    with_loops.sort_indices()
    if how == "none":
        return with_loops
    degree = np.asarray(with_loops.sum(axis=1)).reshape(-1)
    for entries, rows in entry_blocks(with_loops.indptr):
        if how == "row":
            with_loops.data[entries] /= degree[rows]
        else:
            with_loops.data[entries] /= np.sqrt(degree[rows] * degree[with_loops.indices[entries]])
    return with_loops


def topology_operator(graph: NodeGraph, how: Normalisation) -> Operator:
    """The first channel's graph G = (A, X)."""
    return graph.cached(("topology", how), lambda: Operator.of(graph.adjacency, how))


def mean_operator(graph: NodeGraph) -> sp.csr_array:
    """D^-1 A of the given edges."""
    return graph.cached(("mean",), lambda: neighbour_mean(graph.adjacency))


def neighbour_mean(adjacency: sp.csr_array) -> sp.csr_array:
    """D^-1 A: the weighted mean over the neighbours, without the node itself; rows of isolated nodes are 0."""
    degree = np.asarray(adjacency.sum(axis=1), dtype=np.float64).reshape(-1)
    inverse = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
    values = np.empty(adjacency.nnz, np.float32)
    for entries, rows in entry_blocks(adjacency.indptr):
        values[entries] = adjacency.data[entries] * inverse[rows]
    pattern = (np.require(array, requirements="W") for array in (adjacency.indices, adjacency.indptr))  # for numba
    return sp.csr_array((values, *pattern), shape=adjacency.shape)


def knn_operator(
    graph: NodeGraph,
    k: int,
    how: Normalisation,
    progress: Progress | None = None,
    weights: np.ndarray | None = None,
) -> Operator:
    """The second channel's graph G' = (A', X): u and v are adjacent if either is among the other's k nearest.

    weights: a factor for each feature before the cosine, (d,).
    """
    weights_key = None if weights is None else weights.tobytes()

    def build() -> Operator:
        adjacency, findings, recall = graph.cached(
            ("knn", k, weights_key), lambda: _feature_adjacency(graph, k, progress, weights)
        )
        return Operator.of(adjacency, how, findings, recall)

    return graph.cached(("feature", k, how, weights_key), build)


def _feature_adjacency(
    graph: NodeGraph, k: int, progress: Progress | None, weights: np.ndarray | None
) -> tuple[sp.csr_array, tuple[Finding, ...], float | None]:
    search_progress = partial(progress, "feature graph") if progress else None
    found = neighbours(weight_columns(graph.features, weights), k, search_progress)
    exists = found.indices >= 0
    start = np.zeros(graph.n + 1, np.int32 if 2 * exists.size < 2**31 else np.int64)
    np.cumsum(exists.sum(axis=1), out=start[1:])
    ones = np.ones(start[-1], np.float32)
    directed = sp.csr_array((ones, found.indices[exists], start), shape=(graph.n, graph.n))
    directed.sort_indices()
    adjacency = sp.csr_array(directed.maximum(directed.T.tocsr()))
    return adjacency, tuple(_findings(graph, found)), found.recall


def _findings(graph: NodeGraph, found: Neighbours) -> Iterator[Finding]:
    k = found.indices.shape[1]
    if found.recall is not None:
        yield Finding(
            "note" if found.recall >= _GOOD_RECALL else "warning",
            "knn-approximate",
            f"The feature graph of {graph.n} nodes is approximate: on a sample of nodes, "
            f"{found.recall:.1%} of the neighbours are at least as similar as the exact k-th one.",
        )
    if found.tied.mean() >= _MANY_TIES:
        yield Finding(
            "note",
            "knn-ties",
            f"Of {found.tied.mean():.1%} of the nodes the {k} most similar ones are not clear, as others are equally "
            "similar; those that come first in the table count. Nothing needs to be done.",
        )
    few = np.flatnonzero((found.indices < 0).any(axis=1) & (found.indices >= 0).any(axis=1))
    if len(few):
        yield Finding(
            "note",
            "knn-few",
            f"{len(few)} nodes have fewer than {k} others with features: {first_few(graph.ids[few])}.",
        )
