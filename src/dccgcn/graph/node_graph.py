"""NodeGraph: features, edges and labels of one graph, checked once when it is built and never changed after."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import validation
from dccgcn.graph.relations import EDGE_FINDINGS, relation_matrices, union
from dccgcn.text import counted, first_few

Features: TypeAlias = Any  # sp.csr_array | np.ndarray, which SciPy does not type


class NodeGraph:
    """An immutable graph: nodes with features, undirected weighted edges, and labels on some of the nodes.

    Attributes cannot be assigned and their arrays are read-only. The arrays passed in are copied and stay writable.
    ``with_labels``, ``with_classes``, ``with_features``, ``with_relations`` and ``with_findings`` return copies.

    Parameters
    ----------
    features : (n, d) array or SciPy sparse matrix, or None
        Finite numbers. None: only the edges are known; the nodes are counted by their ids, labels or edges.
    edges : (E, 2) array of int, or (n, n) sparse matrix
        Node positions, or the adjacency matrix. Direction, duplicates and self-loops are dropped, each with a finding.
    labels : sequence of n labels, optional
        Of any kind. -1, None, NaN and "" mean unlabelled. Default: all nodes are unlabelled.
    ids : sequence of n ids, optional
        Unique, text or whole numbers of any size. Default: 0 to n-1.
    classes : sequence, optional
        Class names in the order of the probability columns. Default: the sorted labels.
    edge_weights : sequence of E numbers, optional
        Positive. Of duplicate edges the largest weight is kept. Default: all 1.
    unlabelled : sequence, default ()
        Further label values that mean unlabelled.
    impute : {"error", "zero", "mean"}, default "error"
        NaN and infinite features are refused, or replaced by zero or by the mean of their column.
    featureless : bool, default False
        Accept features that are the same for all nodes, for graphs of which only the edges are known.
    name : str, default "graph"
        Shown in messages and reports.
    findings : sequence of Finding, default ()
        Findings about the files that the graph was read from; they precede its own.

    Attributes
    ----------
    features : (n, d) float32 ``csr_array`` or ``ndarray``, as given
    edges : (E, 2) int64, unique and sorted, ``edges[:, 0] < edges[:, 1]``
    weights : (E,) float32
    labels : (n,) int64, positions in ``classes``, -1 for unlabelled
    ids : (n,)
    classes : tuple
    names : (n,) array of str, or None
        What to show beside the ids; see ``with_names``.
    vectors : (n, width) float32 array, or None
        What the texts of the nodes mean; see ``with_vectors``.
    targets : (n,) array of bool, or None
        The nodes to classify; None: all. See ``with_targets``.
    findings : tuple of Finding
    relations : dict of str to ``csr_array`` of shape (n, n)
        Several kinds of edges by name, of which ``edges`` is the union; empty for one kind. See ``with_relations``.
    directed : bool
        Whether relations have a direction.

    Raises
    ------
    GraphError
        If the arguments do not fit together. The message says where and how to fix it.

    Examples
    --------
    >>> graph = NodeGraph([[1, 0], [1, 1], [0, 1]], [(0, 1), (1, 2)], ["theory", None, "methods"])
    >>> graph
    NodeGraph('graph': 3 nodes, 2 edges, 2 features, 2 classes, 2 labelled)
    >>> graph.classes, graph.labels.tolist()
    (('methods', 'theory'), [1, -1, 0])
    """

    name: str
    ids: np.ndarray
    features: Features
    edges: np.ndarray
    weights: np.ndarray
    labels: np.ndarray
    classes: tuple[Any, ...]
    names: np.ndarray | None
    vectors: np.ndarray | None
    targets: np.ndarray | None
    findings: tuple[Finding, ...]
    relations: dict[str, sp.csr_array]
    directed: bool
    cache: dict[Any, Any]

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
        if features is None:
            features, featureless = np.ones((validation.node_count(edges, labels, ids), 1)), True
        n = validation.feature_rows(features)
        node_ids = validation.ids(ids, n)
        checked = validation.features(features, node_ids, impute, featureless, found)
        pairs, weights = validation.edges(edges, edge_weights, node_ids, found)
        codes, names = validation.labels(labels, classes, unlabelled, n)
        self._assign(name=name, ids=node_ids, features=checked, edges=pairs, weights=weights)
        self._assign(
            labels=codes, classes=names, names=None, vectors=None, targets=None, findings=tuple(found), cache={}
        )
        self._assign(relations={}, directed=False)

    @classmethod
    def from_codes(cls, features: Any, edges: Any, codes: Any, classes: Sequence[Any], **options: Any) -> "NodeGraph":
        """A graph with labels as positions in ``classes``, -1 for unlabelled; ``options`` as for NodeGraph."""
        return cls(features, edges, **options).with_codes(codes, classes)

    def _assign(self, **attributes: Any) -> None:
        self.__dict__.update({name: _read_only(value) for name, value in attributes.items()})

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"NodeGraph is immutable, so {name} cannot be set. Use with_labels, with_features, ….")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"NodeGraph is immutable, so {name} cannot be deleted.")

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

    @property
    def relation_sizes(self) -> dict[str, int]:
        """Number of edges of each relation, by its name."""
        return {name: matrix.nnz // (1 if self.directed else 2) for name, matrix in self.relations.items()}

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """A: symmetric, weighted, without self-loops, column indices sorted."""
        return self.cached(("adjacency",), partial(_symmetric, self.edges, self.weights, self.n))

    @cached_property
    def degree(self) -> np.ndarray:
        """Number of neighbours of each node."""
        return _read_only(np.bincount(self.edges.ravel(), minlength=self.n))

    @cached_property
    def component(self) -> np.ndarray:
        """Number of the connected component that each node belongs to."""
        return _read_only(np.asarray(connected_components(self.adjacency, directed=False)[1]))

    @cached_property
    def has_features(self) -> np.ndarray:
        """(n,) whether a node has a non-zero feature; False everywhere if all nodes have the same features."""
        if validation.is_constant(self.features):
            return _read_only(np.zeros(self.n, dtype=bool))
        return _read_only(np.asarray(abs(self.features).sum(axis=1)).reshape(-1) > 0)

    @cached_property
    def homophily(self) -> float:
        """Share of the edges between labelled nodes that connect two nodes of the same class."""
        a, b = self.labels[self.edges].T
        known = (a >= 0) & (b >= 0)
        return float((a == b)[known].mean()) if known.any() else float("nan")

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """The value that ``make`` computes from features and edges, computed once for each key.

        Values must not depend on the labels: ``with_labels``, ``with_classes`` and ``with_findings`` share the cache,
        ``with_features`` starts an empty one.
        """
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]

    def with_classes(self, kept: np.ndarray) -> "NodeGraph":
        """This graph with only these classes (positions); nodes of the other classes become unlabelled."""
        code = np.full(self.c + 1, -1)  # the last entry is for the label -1
        code[kept] = np.arange(len(kept))
        return self.with_codes(code[self.labels], tuple(self.classes[k] for k in kept))

    def with_labels(
        self, labels: Any, *, classes: Sequence[Any] | None = None, unlabelled: Sequence[Any] = ()
    ) -> "NodeGraph":
        """This graph with other labels, given and checked as for a new graph."""
        return self.with_codes(*validation.labels(labels, classes, unlabelled, self.n))

    def with_codes(self, codes: Any, classes: Sequence[Any] | None = None) -> "NodeGraph":
        """This graph with labels as positions in ``classes``, -1 for unlabelled. Default: its own classes."""
        names = self.classes if classes is None else tuple(classes)
        return self._copy({"homophily"}, labels=validation.codes(codes, len(names), self.n), classes=names)

    def with_features(self, features: Any, cache: dict[Any, Any] | None = None) -> "NodeGraph":
        """This graph with other features, which are not checked, and a cache of its own."""
        return self._copy({"has_features"}, features=features, cache={} if cache is None else cache)

    def with_cache(self, cache: dict[Any, Any]) -> "NodeGraph":
        """This graph, whose values of ``cached`` are kept in this mapping."""
        return self._copy({"adjacency"}, cache=cache)

    def with_relations(self, relations: Mapping[str, Any], directed: bool = False) -> "NodeGraph":
        """The nodes of this graph with several kinds of edges, in place of its own.

        Parameters
        ----------
        relations : mapping of str to (E, 2) array of int, or to (n, n) sparse matrix with weights
            Edges of each kind. ``edges`` and ``adjacency`` become their union, without direction.
        directed : bool
            Whether edges lead from the first node of a pair (the row) to the second. Concord then averages over
            outgoing and incoming neighbours apart.

        Examples
        --------
        >>> graph = NodeGraph([[1, 0], [1, 1], [0, 1]], [], ["a", None, "b"])
        >>> graph.with_relations({"cites": [(0, 1)], "co-author": [(0, 1), (1, 2)]}).edges.tolist()
        [[0, 1], [1, 2]]
        """
        found = [finding for finding in self.findings if finding.code not in EDGE_FINDINGS]
        matrices = relation_matrices(relations, self.ids, directed, found)
        edges, weights = validation.edges(*union(matrices.values(), self.n), self.ids, found)
        outdated = {"adjacency", "degree", "component", "homophily"}
        kept = {name: _read_only(matrix) for name, matrix in matrices.items()}
        changed = self._copy(outdated, relations=kept, directed=directed, edges=edges, weights=weights, cache={})
        return changed.with_findings(found)

    def with_findings(self, findings: Sequence[Finding]) -> "NodeGraph":
        """This graph with these findings in place of its own."""
        return self._copy(set(), findings=tuple(findings))

    def with_names(self, names: Any) -> "NodeGraph":
        """This graph with a name to show for each node, or without names (None)."""
        return self._copy(set(), names=None if names is None else validation.names(names, self.n))

    def with_vectors(self, vectors: Any) -> "NodeGraph":
        """This graph with a vector for the meaning of each node's texts, beside its features, or without (None)."""
        checked = None if vectors is None else validation.vectors(vectors, self.n)
        return self._copy(set(), vectors=checked, cache={})

    def with_targets(self, targets: np.ndarray | None) -> "NodeGraph":
        """This graph, of which only some nodes ((n,) bool) are to be classified, or all of them (None)."""
        return self._copy(set(), targets=targets)

    def _copy(self, outdated: set[str], **changed: Any) -> "NodeGraph":
        """A copy that shares everything but the changed attributes and the outdated cached properties."""
        other = object.__new__(NodeGraph)
        other.__dict__.update({name: value for name, value in self.__dict__.items() if name not in outdated})
        other._assign(**changed)
        return other

    def positions(self, ids: Any) -> np.ndarray:
        """Positions of the nodes with these ids; a GraphError names ids that are not in the graph."""
        wanted = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        found = np.array([self._position.get(i, -1) for i in wanted], dtype=np.int64)
        if (found < 0).any():
            unknown = [i for i, position in zip(wanted, found, strict=True) if position < 0]
            raise GraphError(
                f"{len(unknown)} ids are not in {self.name!r}: {first_few(unknown)}.",
                f"Its ids are {first_few(self.ids.tolist(), 3)}.",
            )
        return found

    @cached_property
    def _position(self) -> dict[Any, int]:
        return {i: position for position, i in enumerate(self.ids.tolist())}

    def __deepcopy__(self, memo: Any) -> "NodeGraph":
        return self  # immutable; scikit-learn copies the parameters of an estimator for every fold

    def __repr__(self) -> str:
        features = counted(self.d if self.has_features.any() else 0, "feature")
        return (
            f"NodeGraph({self.name!r}: {self.n:,} nodes, {len(self.edges):,} edges, {features}, "
            f"{self.c} classes, {len(self.labelled):,} labelled)"
        )


def _symmetric(edges: np.ndarray, weights: np.ndarray, n: int) -> sp.csr_array:
    """A of sorted edges."""
    u, v = edges.T
    start = np.zeros(n + 1, np.int32 if 2 * len(u) < 2**31 else np.int64)
    np.cumsum(np.bincount(u, minlength=n), out=start[1:])
    upper = sp.csr_array((weights, v.astype(np.int32), start), shape=(n, n))
    return sp.csr_array(upper + upper.T.tocsr())


def _read_only(value: Any) -> Any:
    """Read-only views of arrays and of the arrays of CSR matrices; the originals stay writable."""
    if isinstance(value, np.ndarray):
        view = value.view()
        view.setflags(write=False)
        return view
    if sp.issparse(value):
        matrix = copy(value)  # shares its arrays
        matrix.data, matrix.indices, matrix.indptr = map(_read_only, (value.data, value.indices, value.indptr))
        return matrix
    return value
