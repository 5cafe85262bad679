"""A graph that has grown: answers for nodes that were not there at training, without training again."""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DccgcnError, Finding, GraphError
from dccgcn.graph import NodeGraph, validation
from dccgcn.graph.cells import decode_labels
from dccgcn.models.prediction import Prediction
from dccgcn.models.registry import METHODS, get_method
from dccgcn.text import first_few
from dccgcn.workflow.result import Result, restore_class_columns


def grown(
    graph: NodeGraph,
    features: Any,
    edges: Any = (),
    *,
    ids: Any = None,
    edge_weights: Any = None,
    findings: Sequence[Finding] = (),
) -> NodeGraph:
    """The graph with further nodes behind its own; its findings are about them.

    features : (m, d), the same columns as the graph's.
    edges : (E, 2) positions in the grown graph: 0 to n-1 are the nodes that were there, n to n+m-1 the new ones.
    ids : m further ids; omitted: the first numbers from n on that are no node's id yet.
    findings : what was already odd about the files that the nodes were read from.
    """
    m, d = validation.row_count(features), np.shape(features)[1]
    if d != graph.d:
        raise GraphError(f"The new nodes have {d} features, but the graph has {graph.d}.", "Give the same columns.")
    new_ids = _free_ids(graph, m) if ids is None else np.asarray(ids)
    if len(known := sorted(set(graph.ids.tolist()) & set(new_ids.tolist()), key=str)):
        raise GraphError(
            f"{len(known)} of the new nodes were there at training: {first_few(known)}.",
            "Leave them out: they have their answers. In the edges they may stand.",
        )
    sparse = sp.issparse(graph.features)
    more = sp.csr_array(features, dtype=np.float32) if sparse else _dense(features)
    if not np.isfinite(more.data if sparse else more).all():
        raise GraphError("Some features of the new nodes are NaN or infinite.", "Fix them first.")
    pairs = np.sort(validation.pairs_of(edges), axis=1)  # as the graph's own are kept
    weights = np.ones(len(pairs), dtype=np.float32) if edge_weights is None else np.asarray(edge_weights, np.float32)
    made = NodeGraph(
        sp.vstack([graph.features, more], format="csr") if sparse else np.vstack([graph.features, more]),
        np.concatenate([graph.edges, pairs]),
        decode_labels(graph.labels, graph.classes) + [None] * m,
        ids=[*graph.ids.tolist(), *new_ids.tolist()],
        classes=graph.classes,
        edge_weights=np.concatenate([graph.weights, weights]),
        featureless=True,  # whether features differ was settled at training
        name=graph.name,
    )
    return made.with_findings([*findings, *_oddities(made, graph.n)])


def extend(result: Result, graph: NodeGraph) -> Prediction:
    """The answers of a run for a graph that has grown out of its own; no label but those of training is looked at."""
    method = get_method(result.method)
    if method.extend is None:
        able = ", ".join(other.name for other in METHODS.values() if other.extend)
        raise DccgcnError(
            f"{method.name} cannot answer for nodes that were not there at training.",
            f"Train again with all nodes, or use a method that can: {able}.",
        )
    train = result.split.train
    taught = result.graph.labels[train]
    labels = np.full(graph.n, None, dtype=object)
    labels[train] = [graph.classes[label] for label in taught]
    seen = np.unique(taught)
    known = graph.with_labels(labels, classes=[graph.classes[k] for k in seen])
    return restore_class_columns(method.extend(result.prediction.model, known, result.settings), seen, graph.c)


def _free_ids(graph: NodeGraph, m: int) -> np.ndarray:
    """Numbers that no node has, as text where the graph's ids are text."""
    taken = set(map(str, graph.ids.tolist()))
    free = list(islice((i for i in count(graph.n) if str(i) not in taken), m))
    return np.array(list(map(str, free)) if graph.ids.dtype.kind == "U" else free)


def _oddities(graph: NodeGraph, old: int) -> Iterator[Finding]:
    new = np.arange(old, graph.n)
    described, lone = graph.has_features[new], graph.degree[new] == 0
    for code, which, text in (
        ("isolated-nodes", lone & described, "have no edge and are known by their features alone"),
        (
            "zero-features",
            ~described & ~lone & graph.has_features.any(),
            "have no feature that was there at training and are known by their edges",
        ),
        ("unknown-nodes", ~described & lone, "have neither edges nor known features: their answers are guesses"),
    ):
        if which.any():
            text = f"{int(which.sum())} of the {len(new)} new nodes {text}: {first_few(graph.ids[new[which]])}."
            yield Finding("warning", code, text)


def _dense(features: Any) -> np.ndarray:
    return features.toarray() if sp.issparse(features) else np.asarray(features, dtype=np.float32)
