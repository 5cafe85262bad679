"""Inductive prediction: append nodes to a graph after training, and classify them without training again."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DataFileError, DccgcnError, Finding, GraphError
from dccgcn.graph import NodeGraph, spell_id, validation
from dccgcn.methods import ENTRIES, Prediction, get_method, restore_class_columns
from dccgcn.runtime import threads_of_run
from dccgcn.text import first_few
from dccgcn.workflow.result import Result


def check_new_ids(graph: NodeGraph, ids: Sequence[Any]) -> None:
    """Raise a GraphError if some of the ids are nodes of the graph."""
    if known := sorted(set(map(spell_id, graph.ids.tolist())) & set(map(spell_id, ids))):
        raise GraphError(
            f"{len(known)} of the new nodes are already in the graph: {first_few(known)}.",
            "Leave them out: their classes are already predicted. Edges may lead to them.",
        )


def append_nodes(
    graph: NodeGraph,
    features: Any,
    edges: Any = (),
    *,
    ids: Any = None,
    edge_weights: Any = None,
    findings: Sequence[Finding] = (),
    names: Sequence[Any] | None = None,
) -> NodeGraph:
    """Append m new nodes to a graph of n nodes.

    Parameters
    ----------
    graph : NodeGraph
        The graph that a method was trained on.
    features : array or sparse matrix of shape (m, d)
        Features of the new nodes, in the columns of the graph's own.
    edges : array of shape (E, 2), or mapping of str to such arrays or sparse matrices of shape (n+m, n+m)
        Positions in the new graph: 0 to n-1 are the nodes of ``graph``, n to n+m-1 the new ones. Of a graph with
        relations: the edges of each, by its name; a matrix holds their weights.
    ids : sequence of length m, optional
        Ids of the new nodes. Omitted: the first numbers from n on that are not yet an id.
    edge_weights : sequence of length E, optional
        Positive weights. Omitted: all one.
    findings : sequence of Finding
        What was unusual about the tables that the nodes were read from.
    names : sequence of length m, optional
        Names of the new nodes, if those of the graph have names. Omitted: empty.

    Returns
    -------
    NodeGraph
        With n + m nodes, those of ``graph`` first and the new ones unlabelled. Its findings are about the new nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from dccgcn import NodeGraph, append_nodes
    >>> graph = NodeGraph(np.eye(3), [(0, 1)], ["a", None, "b"])
    >>> append_nodes(graph, [[0.5, 0.5, 0]], [(3, 0), (3, 1)]).n
    4
    """
    m, d = validation.feature_rows(features), np.shape(features)[1]
    if d != graph.d:
        raise GraphError(f"The new nodes have {d} features, but the graph has {graph.d}.", "Give the same columns.")
    new_ids = _free_ids(graph, m) if ids is None else np.asarray(ids)
    check_new_ids(graph, new_ids.tolist())
    sparse = sp.issparse(graph.features)
    new_features = sp.csr_array(features, dtype=np.float32) if sparse else _dense(features)
    if not np.isfinite(new_features.data if sparse else new_features).all():
        raise GraphError("Some features of the new nodes are NaN or infinite.", "Replace these values first.")
    by_relation = _appended_relations(graph, edges, graph.n + m)
    edges = () if by_relation else edges
    pairs = np.sort(validation.pairs_of(edges), axis=1)  # the order in which a graph keeps its edges
    weights = np.ones(len(pairs), dtype=np.float32) if edge_weights is None else np.asarray(edge_weights, np.float32)
    appended = NodeGraph.from_codes(
        sp.vstack([graph.features, new_features], format="csr")
        if sparse
        else np.vstack([graph.features, new_features]),
        np.concatenate([graph.edges, pairs]),
        np.append(graph.labels, np.full(m, -1)),
        graph.classes,
        ids=[*graph.ids.tolist(), *new_ids.tolist()],
        edge_weights=np.concatenate([graph.weights, weights]),
        featureless=True,  # whether features differ was checked at training
        name=graph.name,
    )
    if by_relation:
        appended = appended.with_relations(by_relation, graph.directed)
    if graph.names is not None:
        appended = appended.with_names([*graph.names, *(names if names is not None else [""] * m)])
    return appended.with_findings([*findings, *_new_node_findings(appended, graph.n)])


def _appended_relations(graph: NodeGraph, edges: Any, n: int) -> dict[str, sp.csr_array]:
    """The relations of the graph with those of new edges, (n, n) each; none for a graph with one kind of edges."""
    if not graph.relations:
        if isinstance(edges, Mapping):
            raise GraphError("The graph has one kind of edges.", "Give the new edges as one array of pairs.")
        return {}
    new = edges if isinstance(edges, Mapping) else {} if len(edges) == 0 else {"": edges}
    if unknown := [name for name in new if name not in graph.relations]:
        raise GraphError(
            f"The new edges are of relations that the graph does not have: {first_few(unknown)}.",
            f"Its relations are {first_few(list(graph.relations), 12)}; in Python, give edges as a mapping of these.",
        )
    larger = {}
    for name, matrix in graph.relations.items():
        old = sp.coo_array(matrix)
        pairs, weights = _weighted_pairs(new.get(name, ()))
        outside = (pairs < 0) | (pairs >= n)
        if outside.any():
            raise GraphError(f"Edges of {name} point outside the {n} nodes.", "Use positions from 0 to n+m-1.")
        data = np.concatenate([old.data, weights])
        ends = np.concatenate([np.stack([old.row, old.col], axis=1), pairs])
        kept = np.unique(ends[:, 0] * np.int64(n) + ends[:, 1], return_index=True)[1]  # the first of duplicates
        larger[name] = sp.csr_array((data[kept], (ends[kept, 0], ends[kept, 1])), shape=(n, n))
    return larger


def _weighted_pairs(edges: Any) -> tuple[np.ndarray, np.ndarray]:
    """(E, 2) positions and (E,) weights of pairs, or of a sparse matrix."""
    if sp.issparse(edges):
        coo = sp.coo_array(edges)
        return np.stack([coo.row, coo.col], axis=1).astype(np.int64), np.asarray(coo.data, dtype=np.float32)
    pairs = validation.pairs_of(edges)
    return pairs, np.ones(len(pairs), np.float32)


def predict_new(result: Result, graph: NodeGraph) -> Prediction:
    """Predict all nodes of a graph that ``append_nodes`` made of the run's. Only training labels are used."""
    method = get_method(result.method)
    if method.predict_new is None:
        able = ", ".join(name for name, e in ENTRIES.items() if e.installed and e.load().predict_new)
        raise DccgcnError(
            f"{method.name} cannot predict nodes that were added after training.",
            f"Train again with all nodes, or use a method that can: {able}.",
        )
    train = result.split.train
    codes = np.full(graph.n, -1)
    codes[train] = result.graph.labels[train]
    seen = np.unique(codes[train])
    known = graph.with_codes(codes).with_classes(seen)
    try:
        with threads_of_run():
            prediction = method.predict_new(result.prediction.model, known, result.settings)
        prediction = restore_class_columns(prediction, seen, graph.c)
        prediction.check(graph.n, graph.c)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        if isinstance(error, DccgcnError) and not isinstance(error, DataFileError):  # that is NaN in the answer
            raise
        raise DccgcnError(
            f"The model of {graph.name!r} gives no valid prediction for these nodes ({error}).",
            "Check the features of the new nodes for extreme values, or train the model again.",
        ) from error
    return prediction


def _free_ids(graph: NodeGraph, m: int) -> np.ndarray:
    """m numbers that are not yet an id, as text where the graph's ids are text."""
    used = set(map(str, graph.ids.tolist()))
    free = list(islice((i for i in count(graph.n) if str(i) not in used), m))
    return np.array(list(map(str, free)) if graph.ids.dtype.kind == "U" else free)


def _new_node_findings(graph: NodeGraph, n_old: int) -> Iterator[Finding]:
    """Warnings about new nodes without edges, without features, or without both."""
    new = np.arange(n_old, graph.n)
    described, isolated = graph.has_features[new], graph.degree[new] == 0
    for code, which, text in (
        ("isolated-nodes", isolated & described, "have no edges; only their features are used"),
        (
            "zero-features",
            ~described & ~isolated & graph.has_features.any(),
            "have no feature of the training graph; only their edges are used",
        ),
        (
            "unknown-nodes",
            ~described & isolated,
            "have neither edges nor known features; their predictions are guesses",
        ),
    ):
        if which.any():
            text = f"{int(which.sum())} of the {len(new)} new nodes {text}: {first_few(graph.ids[new[which]])}."
            yield Finding("warning", code, text)


def _dense(features: Any) -> np.ndarray:
    return features.toarray() if sp.issparse(features) else np.asarray(features, dtype=np.float32)
