"""NodeClassifier: an estimator with the interface of scikit-learn."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from dccgcn.errors import GraphError
from dccgcn.graph import NodeGraph, validation
from dccgcn.methods import get_method
from dccgcn.runtime import default_device
from dccgcn.workflow.fitting import run
from dccgcn.workflow.inductive import append_nodes, predict_new

DEFAULT_METHOD = "concord"
_SETTING = "settings__"
_FEATURES = {"accept_sparse": "csr", "dtype": np.float32}  # how scikit-learn checks X


class NodeClassifier(ClassifierMixin, BaseEstimator):
    """Classify the nodes of a graph from a handful of labels.

    Parameters
    ----------
    method : str
        See ``dccgcn methods``.
    settings : mapping, optional
        Options of the method that differ from its defaults. In a grid search each is a parameter of its own, such as
        ``settings__k``.
    seed : int
        Of everything random in training.
    graph : NodeGraph, optional
        With it, X is a one-dimensional list of its node ids, and y their labels. All nodes of the graph are seen in
        training, but only these labels. Use this for cross-validation and grid search: rows of a graph cannot be left
        out without their edges.
    device : str
        The torch device that networks train on, such as ``"cuda"``.
    directed : bool
        Whether the edges given to ``fit`` lead from the first node of a pair to the second.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
        Class names in the order of the probability columns.
    transduction_ : ndarray of shape (n,)
        Predicted class of every fitted node.
    label_distributions_ : ndarray of shape (n, c)
        Its class probabilities.
    n_features_in_ : int
        Number of feature columns.
    result_ : Result
        Channels, trust, findings, ``to_frame()``, ``save(folder)``.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from dccgcn import NodeClassifier, load_dataset
    >>> cora = load_dataset("cora").graph
    >>> scores = cross_val_score(NodeClassifier("ssgc", graph=cora), cora.ids, cora.labels, cv=3)
    >>> bool(scores.mean() > 0.8)
    True
    """

    def __init__(
        self,
        method: str = DEFAULT_METHOD,
        settings: Mapping[str, Any] | None = None,
        seed: int = 0,
        graph: NodeGraph | None = None,
        device: str = "cpu",
        directed: bool = False,
    ) -> None:
        self.method = method
        self.settings = settings
        self.seed = seed
        self.graph = graph
        self.device = device
        self.directed = directed

    def fit(self, X: Any, y: Any = None, edges: Any = None) -> Self:
        """Fit the method to all labels that are given.

        Parameters
        ----------
        X : NodeGraph, array or sparse matrix of shape (n, d), or list of ids
            A graph, whose own labels train unless y is given; or features of all nodes, labelled and unlabelled; or,
            if the estimator has a ``graph``, ids of its nodes.
        y : sequence, optional
            A label per row of X; -1, None, NaN and "" mean unlabelled.
        edges : array of shape (E, 2), sparse matrix of shape (n, n), or mapping of str to such, optional
            With features: row positions, or an adjacency matrix; a mapping names several relations. Omitted: there is
            no topology channel, and ``result_.findings`` says so.

        Returns
        -------
        NodeClassifier
            Itself.
        """
        graph = self._graph(X, y, edges)
        method = get_method(self.method)
        settings = method.published_settings(graph.name, self.settings)
        self.result_ = run(graph, None, method, settings, self.seed, device=self.device)
        self.classes_ = _class_array(graph.classes)
        self.label_distributions_ = self.result_.prediction.probabilities
        self.transduction_ = self.classes_[self.result_.prediction.y_pred]
        self.n_features_in_ = graph.d
        return self

    def _graph(self, X: Any, y: Any, edges: Any) -> NodeGraph:
        """The arguments of fit as a labelled graph."""
        self._by_id = isinstance(X, NodeGraph) or self.graph is not None
        if not self._by_id:
            X = validate_data(self, X, None if y is None else "no_validation", ensure_min_samples=2, **_FEATURES)
            try:
                relations = _relations(edges, self.directed)
                graph = NodeGraph(X, () if edges is None or relations else edges, _labels(y, X))
                return graph.with_relations(relations, self.directed) if relations else graph
            except GraphError as error:
                hint = " To cross-validate, give the estimator graph=… and node ids as X." if edges is not None else ""
                raise GraphError(error.what, error.remedy + hint) from None
        if edges is not None:
            raise GraphError("The graph has edges of its own.", "Leave edges out, or pass features instead of a graph.")
        if isinstance(X, NodeGraph):
            return X if y is None else X.with_labels(_labels(y, X.ids))
        if np.ndim(X) != 1 or y is None:
            raise GraphError(
                "With graph=…, fit takes a one-dimensional list of node ids and a label for each.",
                "Pass graph.ids and labels, or no graph=… to fit features.",
            )
        assert self.graph is not None
        labels = np.full(self.graph.n, None, dtype=object)
        labels[self.graph.positions(X)] = _labels(y, X)
        return self.graph.with_labels(labels)

    def predict(self, X: Any = None, edges: Any = ()) -> np.ndarray:
        """Predict the class of each node; parameters as for ``predict_proba``."""
        y_pred = self.predict_proba(X, edges).argmax(axis=1)
        return self.classes_[y_pred]

    def predict_proba(self, X: Any = None, edges: Any = ()) -> np.ndarray:
        """Predict class probabilities without training again.

        Parameters
        ----------
        X : list of ids, or array or sparse matrix of shape (m, d), optional
            Omitted: the fitted nodes, as in ``label_distributions_``. One-dimensional: ids of the fitted NodeGraph.
            Two-dimensional: features. A row that was fitted gets its fitted probabilities (the mean, if several
            nodes have that row); all other rows are appended as new nodes.
        edges : array of shape (E, 2), or mapping of str to such arrays
            Positions: 0 to n-1 are the fitted nodes, n and above the rows of X, all of which are then new nodes.
            Omitted: only the features of new nodes are used. A mapping names the relations of ``fit``.

        Returns
        -------
        ndarray of shape (m, c)
        """
        check_is_fitted(self, "result_")
        graph, known = self.result_.graph, self.label_distributions_
        if X is None:
            return known
        if self._by_id and np.ndim(X) == 1:
            return known[graph.positions(X)]
        X = validate_data(self, X, reset=False, **_FEATURES)
        if not edges if isinstance(edges, Mapping) else np.size(edges) == 0:
            return self._by_features(X)
        return self._predict_new(append_nodes(graph, X, _relations(edges, graph.directed) or edges))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy on the labelled rows; -1, None, NaN and "" mean unlabelled, as for ``fit``.

        Parameters
        ----------
        X : as for ``predict``
        y : sequence
            A label per row of X.
        sample_weight : array, optional
            A weight per row of X.

        Returns
        -------
        float
        """
        y = _labels(y, X)
        known = validation.labels(y, None, (), len(y))[0] >= 0
        if not known.any():
            raise GraphError("No row has a label to score against.", "Give the true label of some rows.")
        pairs = zip(y[known].tolist(), self.predict(X)[known].tolist(), strict=True)  # labels may be of any type
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(np.average([given == found for given, found in pairs], weights=weights))

    def _by_features(self, X: Any) -> np.ndarray:
        graph, known = self.result_.graph, self.label_distributions_
        equal = _equal_rows(X, graph.features)
        if X.shape[0] == graph.n and (equal.diagonal() > 0).all():
            return known
        found = np.asarray(equal @ known, dtype=known.dtype)
        is_new = np.diff(equal.indptr) == 0
        if is_new.any():
            found[is_new] = self._predict_new(append_nodes(graph, X[is_new]))
        return found

    def _predict_new(self, graph: NodeGraph) -> np.ndarray:
        """(m, c) probabilities of the nodes that were appended after fit."""
        with default_device(self.device):
            return predict_new(self.result_, graph).probabilities[self.result_.graph.n :]

    def set_params(self, **params: Any) -> Self:
        """Change parameters, as in scikit-learn; ``settings__k=5`` changes one option of the method."""
        options = {name.removeprefix(_SETTING): params.pop(name) for name in list(params) if name.startswith(_SETTING)}
        super().set_params(**params)
        if options:
            self.settings = {**(self.settings or {}), **options}
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _relations(edges: Any, directed: bool) -> Mapping[str, Any]:
    """Edges by relation, if they are of several kinds or have a direction."""
    if isinstance(edges, Mapping):
        return edges
    return {"edges": edges} if directed and edges is not None else {}


def _labels(y: Any, rows: Any) -> np.ndarray:
    """One label per row. NodeGraph decides which of them mean unlabelled."""
    y = column_or_1d(np.array(y, dtype=object) if isinstance(y, list | tuple) else y, warn=True)
    check_consistent_length(rows, y)
    if y.dtype.kind == "f" and len(known := y[~np.isnan(y)]):
        check_classification_targets(known)
    return y


def _class_array(classes: tuple[Any, ...]) -> np.ndarray:
    """Class names as an array: of their own dtype if they are all text, all integers or all booleans, else object."""
    if {type(name) for name in classes} in ({str}, {int}, {bool}):
        return np.array(classes)
    array = np.empty(len(classes), dtype=object)
    array[:] = classes
    return array


def _equal_rows(x: Any, fitted: Any) -> sp.csr_array:
    """(rows of x, fitted rows) matrix that averages over the fitted rows equal to each row of x."""
    nodes: dict[bytes, list[int]] = {}
    for position, row in enumerate(_rows(fitted)):
        nodes.setdefault(row, []).append(position)
    x = sp.csr_array(x) if sp.issparse(fitted) else x.toarray() if sp.issparse(x) else x
    same = [nodes.get(row, []) for row in _rows(x)]
    count = np.array([len(positions) for positions in same])
    weights = np.repeat(1 / np.maximum(count, 1), count)
    columns = np.array([position for positions in same for position in positions], dtype=np.int64)
    return sp.csr_array(
        (weights, columns, np.concatenate([[0], np.cumsum(count)])), shape=(x.shape[0], fitted.shape[0])
    )


def _rows(x: Any) -> Iterator[bytes]:
    if not sp.issparse(x):
        return (row.tobytes() for row in x + np.float32(0))  # turns -0.0 into 0.0
    x = sp.csr_array(x, copy=True)
    x.sum_duplicates()
    x.eliminate_zeros()
    cuts = zip(x.indptr[:-1], x.indptr[1:], strict=True)
    return (x.indices[a:b].astype(np.int64).tobytes() + x.data[a:b].tobytes() for a, b in cuts)
