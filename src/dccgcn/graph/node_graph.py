"""NodeGraph: the one data object. It is checked when it is built; everything after may trust it."""

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import validation
from dccgcn.text import first_few

Features: TypeAlias = Any  # sp.csr_array | np.ndarray, which SciPy does not type


class NodeGraph:
    """Nodes with features, undirected edges between them, and labels on some of them.

    Parameters
    ----------
    features : (n, d) NumPy array or SciPy sparse matrix, finite.
    edges : (E, 2) integer node positions, or a sparse (n, n) adjacency matrix. Direction, duplicates
        and self-loops are dropped, each with a finding.
    labels : n labels of any kind. -1, None, NaN and "" mean unlabelled; omitted: all unlabelled.
    ids : n unique node ids, given back unchanged; omitted: 0 to n-1.
    classes : class names in the order of the probability columns; omitted: the sorted labels.
    edge_weights : E positive weights; omitted: all one. Of duplicate edges the largest counts.
    unlabelled : further label values that mean unlabelled.
    impute : "error" refuses NaN and infinite features, "zero" and "mean" replace them.
    featureless : accept features that are the same for all nodes, as where only the edges are known.
    findings : what was already odd about the tables or files that the graph was read from.

    Attributes
    ----------
    features : (n, d) float32, ``csr_array`` or ``ndarray`` as given.
    edges : (E, 2) int64, unique, ``edges[:, 0] < edges[:, 1]``, sorted.
    weights : (E,) float32.
    labels : (n,) int64 positions in ``classes``, -1 for unlabelled.
    findings : what was odd and what was done about it.
    """

    def __init__(
        self,
        features: Any,
        edges: Any,
        labels: Any = None,
        *,
        ids: Any = None,
        classes: Sequence[Any] | None = None,
        edge_weights: Any = None,
        unlabelled: Sequence[Any] = (),
        impute: Literal["error", "zero", "mean"] = "error",
        featureless: bool = False,
        name: str = "graph",
        findings: Sequence[Finding] = (),
    ) -> None:
        found: list[Finding] = list(findings)
        self.name = name
        n = validation.row_count(features)
        self.ids: np.ndarray = validation.ids(ids, n)
        self.features: Features = validation.features(features, self.ids, impute, featureless, found)
        self.edges, self.weights = validation.edges(edges, edge_weights, self.ids, found)
        self.labels, self.classes = validation.labels(labels, classes, unlabelled, n)
        self.findings = tuple(found)
        self._derived: dict[Any, Any] = {}
        for array in (self.ids, self.edges, self.weights, self.labels):
            array.setflags(write=False)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.ids)

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])

    @property
    def c(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def labelled(self) -> np.ndarray:
        """Positions of the nodes whose label is known."""
        return np.flatnonzero(self.labels >= 0)

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """A: symmetric, weighted, without self-loops, column indices sorted."""
        u, v = self.edges.T
        rows, cols = np.concatenate([u, v]), np.concatenate([v, u])
        values = np.concatenate([self.weights, self.weights])
        adjacency = sp.csr_array((values, (rows, cols)), shape=(self.n, self.n))
        adjacency.sort_indices()
        return adjacency

    @cached_property
    def degree(self) -> np.ndarray:
        """Number of neighbours of each node."""
        return np.bincount(self.edges.ravel(), minlength=self.n)

    @cached_property
    def component(self) -> np.ndarray:
        """Number of the connected component that each node belongs to."""
        return np.asarray(connected_components(self.adjacency, directed=False)[1])

    @cached_property
    def described(self) -> np.ndarray:
        """(n,) whether a node has features, and such that could tell it from others."""
        if validation.is_constant(self.features):
            return np.zeros(self.n, dtype=bool)
        return np.asarray(abs(self.features).sum(axis=1)).reshape(-1) > 0

    @cached_property
    def homophily(self) -> float:
        """Share of the edges between labelled nodes that join two of one class."""
        a, b = self.labels[self.edges].T
        known = (a >= 0) & (b >= 0)
        return float((a == b)[known].mean()) if known.any() else float("nan")

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """What follows from features and edges (a view, say), made once: a graph never changes."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def with_classes(self, kept: np.ndarray) -> "NodeGraph":
        """The same nodes and edges with only these classes (positions); nodes of the others become unlabelled."""
        code = np.full(self.c + 1, -1)  # the last entry serves the label -1
        code[kept] = np.arange(len(kept))
        return self._relabelled(code[self.labels], tuple(self.classes[k] for k in kept))

    def with_labels(
        self, labels: Any, *, classes: Sequence[Any] | None = None, unlabelled: Sequence[Any] = ()
    ) -> "NodeGraph":
        """The same nodes and edges with other labels, given and checked as for a new graph."""
        return self._relabelled(*validation.labels(labels, classes, unlabelled, self.n))

    def with_features(self, features: Any) -> "NodeGraph":
        """The same nodes, edges and labels with other features, which are not checked again."""
        other = copy(self)
        other.features, other._derived = features, {}
        other.__dict__.pop("described", None)
        return other

    def _relabelled(self, labels: np.ndarray, classes: tuple[Any, ...]) -> "NodeGraph":
        other = copy(self)  # shares what was derived
        other.labels, other.classes = labels, classes
        other.labels.setflags(write=False)
        other.__dict__.pop("homophily", None)
        return other

    def positions(self, ids: Any) -> np.ndarray:
        """Where the nodes of these ids stand."""
        wanted = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        found = np.array([self._position.get(i, -1) for i in wanted], dtype=np.int64)
        if (found < 0).any():
            unknown = [i for i, position in zip(wanted, found, strict=True) if position < 0]
            raise GraphError(
                f"{len(unknown)} ids are no nodes of {self.name!r}: {first_few(unknown)}.",
                f"Its ids are {first_few(self.ids.tolist(), 3)}.",
            )
        return found

    @cached_property
    def _position(self) -> dict[Any, int]:
        return {i: position for position, i in enumerate(self.ids.tolist())}

    def __deepcopy__(self, memo: Any) -> "NodeGraph":
        return self  # it never changes; scikit-learn copies the parameters of an estimator for every fold

    def __repr__(self) -> str:
        return (
            f"NodeGraph({self.name!r}: {self.n} nodes, {len(self.edges)} edges, {self.d} features, "
            f"{self.c} classes, {len(self.labelled)} labelled)"
        )
