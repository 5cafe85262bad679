"""What decides the prediction of one node: its nearest nodes by features, and the features that speak for a class."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.concord.state import read_projections
from dccgcn.concord.views import MEANING, layout_of, scaled_graph, unit_features, unit_vectors
from dccgcn.graph import NodeGraph


def similar_nodes(model: Mapping[str, np.ndarray], graph: NodeGraph, node: int, k: int) -> list[tuple[int, float]]:
    """The k nodes of largest cosine with a node, and the cosine, where it is above 0: its row of the feature graph."""
    x = _vectors(graph) if layout_of(graph).main == MEANING else _features(model, graph)
    row = _dense_row(x, node)
    norms = np.sqrt(np.asarray(x.power(2).sum(axis=1)).ravel() if sp.issparse(x) else np.square(x).sum(axis=1))
    cosine = x @ row / np.maximum(norms * norms[node], np.float32(1e-12))
    cosine[node] = -1
    nearest = np.argsort(-cosine, kind="stable")[:k]
    return [(int(other), float(cosine[other])) for other in nearest if cosine[other] > 0]


def feature_contributions(
    model: Mapping[str, np.ndarray], graph: NodeGraph, node: int, column: int, other: int
) -> np.ndarray:
    """What each feature adds to the score of one class less that of another in the channel ``own``, (d,).

    ``column``, ``other``: columns of the channel's head. All 0 without that channel.
    """
    own = read_projections(model).embeddings.get("own")
    if own is None or "head.own" not in model:
        return np.zeros(graph.d)
    row, slope = _dense_row(_features(model, graph), node), np.subtract(*model["head.own"][:-1, [column, other]].T)
    if own.components.size == 0:
        return (row - own.mean) * own.scale * slope
    length = np.linalg.norm(row @ own.components - own.mean)  # of the row of the view before it has unit length
    return row * (own.components @ slope) / max(length, 1e-12)


def _features(model: Mapping[str, np.ndarray], graph: NodeGraph) -> Any:
    fitted = read_projections(model)
    return graph.cached(("explained features",), lambda: unit_features(scaled_graph(graph, fitted)[0], fitted.idf))


def _vectors(graph: NodeGraph) -> Any:
    assert graph.vectors is not None
    return graph.cached(("explained vectors",), partial(unit_vectors, graph.vectors))


def _dense_row(x: Any, node: int) -> np.ndarray:
    return np.asarray(x[[node]].toarray()[0] if sp.issparse(x) else x[node])
