"""NodeClassifier: the package as scikit-learn users know it."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from dccgcn.errors import GraphError
from dccgcn.graph import NodeGraph
from dccgcn.growth import extend, grown
from dccgcn.methods import get_method
from dccgcn.result import run

DEFAULT_METHOD = "concord"
_SETTING = "settings__"
_FEATURES = {"accept_sparse": "csr", "dtype": np.float32}  # how scikit-learn checks X


class NodeClassifier(ClassifierMixin, BaseEstimator):
    """Classifies the nodes of a graph from a handful of labels.

    Parameters
    ----------
    method : name of the method, see ``dccgcn methods``.
    settings : options of the method that differ from its defaults. In a grid search each is a parameter of its own,
        such as ``settings__k``.
    seed : of everything that is random in training.
    graph : a NodeGraph. With it, X is a one-dimensional list of its node ids, and y their labels: every node of the
        graph is seen in training, the labels of the others are not. This is how cross-validation and grid search
        work on a graph, where rows cannot be taken away without taking their edges.

    Attributes
    ----------
    classes_ : class names in the order of the probabilities' columns.
    transduction_ : (n,) the class of every node that was fitted.
    label_distributions_ : (n, classes) its probabilities.
    n_features_in_ : number of feature columns.
    result_ : the whole Result: both channels, trust, findings, ``to_frame()``, ``save(folder)``.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from dccgcn import NodeClassifier, load
    >>> cora = load("cora").graph
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
    ) -> None:
        self.method = method
        self.settings = settings
        self.seed = seed
        self.graph = graph

    def fit(self, X: Any, y: Any = None, edges: Any = None) -> Self:
        """Learn from the labels that there are.

        X : a NodeGraph, whose own labels count unless y gives others;
            or (n, d) features of all nodes, labelled or not, dense or sparse;
            or, if the estimator was given a graph, ids of its nodes.
        y : a label per row of X; -1, None, NaN and "" mean unlabelled.
        edges : with features: (E, 2) row positions, or a sparse (n, n) adjacency matrix. Omitted, there is no
            topology channel, and ``result_.findings`` says so.
        """
        graph = self._graph(X, y, edges)
        method = get_method(self.method)
        settings = method.published_settings(graph.name, self.settings)
        self.result_ = run(graph, None, method, settings, self.seed)
        self.classes_ = _class_array(graph.classes)
        self.label_distributions_ = self.result_.outcome.probabilities
        self.transduction_ = self.classes_[self.result_.outcome.prediction]
        self.n_features_in_ = graph.d
        return self

    def _graph(self, X: Any, y: Any, edges: Any) -> NodeGraph:
        """What fit was given, as a graph with labels."""
        self._by_id = isinstance(X, NodeGraph) or self.graph is not None
        if not self._by_id:
            X = validate_data(self, X, None if y is None else "no_validation", ensure_min_samples=2, **_FEATURES)
            return NodeGraph(X, () if edges is None else edges, _labels(y, X))
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
        """The class of each node; see ``predict_proba``."""
        answers = self.predict_proba(X, edges).argmax(axis=1)
        return self.classes_[answers]

    def predict_proba(self, X: Any = None, edges: Any = ()) -> np.ndarray:
        """Class probabilities, without training again.

        X : omitted, or the features that were fitted: the nodes that were fitted, as in ``label_distributions_``;
            one-dimensional: nodes of the fitted NodeGraph by their ids;
            (m, d) other features: m new nodes. Without edges they are known by their features alone.
        edges : (E, 2) edges of new nodes by position: 0 to n-1 are the fitted nodes, the rows of X count from n on.
        """
        check_is_fitted(self, "result_")
        graph, known = self.result_.graph, self.label_distributions_
        if X is None:
            return known
        if self._by_id and np.ndim(X) == 1:
            return known[graph.positions(X)]
        X = validate_data(self, X, reset=False, **_FEATURES)
        if _same(X, graph.features) and len(edges) == 0:
            return known
        return extend(self.result_, grown(graph, X, edges)).probabilities[graph.n :]

    def set_params(self, **params: Any) -> Self:
        """As in scikit-learn; ``settings__k=5`` changes one option of the method."""
        options = {name.removeprefix(_SETTING): params.pop(name) for name in list(params) if name.startswith(_SETTING)}
        super().set_params(**params)
        if options:
            self.settings = {**(self.settings or {}), **options}
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _labels(y: Any, rows: Any) -> np.ndarray:
    """A label per row; what of them is missing, the graph decides."""
    y = column_or_1d(np.array(y, dtype=object) if isinstance(y, list | tuple) else y, warn=True)
    check_consistent_length(rows, y)
    if y.dtype.kind == "f" and len(known := y[~np.isnan(y)]):
        check_classification_targets(known)
    return y


def _class_array(classes: tuple[Any, ...]) -> np.ndarray:
    """Names of one plain type as NumPy keeps them, others as they are."""
    if {type(name) for name in classes} in ({str}, {int}, {bool}):
        return np.array(classes)
    array = np.empty(len(classes), dtype=object)
    array[:] = classes
    return array


def _same(one: Any, other: Any) -> bool:
    if one.shape != other.shape:
        return False
    if sp.issparse(one) or sp.issparse(other):
        return (sp.csr_array(one) != sp.csr_array(other)).nnz == 0
    return np.array_equal(one, other)
