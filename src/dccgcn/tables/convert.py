"""Conversion from and to PyTorch Geometric, NetworkX, igraph and SciPy."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import NodeGraph, decode_labels
from dccgcn.tables.pyg import dense_features, from_pyg, split_from_pyg, to_pyg
from dccgcn.text import first_few

if TYPE_CHECKING:
    import igraph
    import networkx as nx

__all__ = [
    "from_igraph",
    "from_networkx",
    "from_pyg",
    "from_scipy",
    "split_from_pyg",
    "to_networkx",
    "to_pyg",
    "to_scipy",
]


def from_networkx(
    network: "nx.Graph",
    features: str | Sequence[str] | None = None,
    label: str = "label",
    weight: str = "weight",
    name: str = "graph",
) -> NodeGraph:
    """The graph of a NetworkX graph. The nodes themselves are the ids; tuples and other objects as text.

    Parameters
    ----------
    network : networkx.Graph
        Direction and parallel edges are dropped.
    features : str or sequence of str, optional
        The node attribute that holds a vector, or several that hold a number each. Default: "x" if all nodes have it,
        else none; then only the edges are used.
    label : str
        The node attribute of the class; a node without it is unlabelled.
    weight : str
        The edge attribute of the weight; 1 if an edge lacks it.
    name : str
        Of the graph.

    Returns
    -------
    NodeGraph

    Examples
    --------
    >>> import networkx as nx
    >>> from dccgcn import from_networkx
    >>> from_networkx(nx.karate_club_graph(), label="club", name="karate")
    NodeGraph('karate': 34 nodes, 78 edges, 0 features, 2 classes, 34 labelled)
    """
    ids = [node if isinstance(node, str | int | float | np.number) else str(node) for node in network.nodes]
    position = {node: i for i, node in enumerate(network.nodes)}
    edges = [(position[u], position[v]) for u, v in network.edges()]
    weights = [attributes.get(weight, 1.0) for *_, attributes in network.edges(data=True)]
    return _from_attributes(ids, list(network.nodes.values()), edges, weights, features, label, name)


def from_igraph(
    network: "igraph.Graph",
    features: str | Sequence[str] | None = None,
    label: str = "label",
    weight: str = "weight",
    name: str = "graph",
) -> NodeGraph:
    """The graph of an igraph graph. The vertex attribute "name" gives the ids, else the vertex numbers.

    Parameters
    ----------
    network : igraph.Graph
        Direction and parallel edges are dropped.
    features, label, weight, name
        As for ``from_networkx``: vertex attributes of the features and the class, edge attribute of the weight.

    Returns
    -------
    NodeGraph
    """
    attributes = [vertex.attributes() for vertex in network.vs]
    ids = [row.pop("name", i) for i, row in enumerate(attributes)]
    weights = network.es[weight] if weight in network.es.attributes() else None
    return _from_attributes(ids, attributes, network.get_edgelist(), weights, features, label, name)


def _from_attributes(
    ids: list[Any],
    attributes: Sequence[Mapping[str, Any]],
    edges: Sequence[tuple[int, int]],
    weights: Sequence[float] | None,
    features: str | Sequence[str] | None,
    label: str,
    name: str,
) -> NodeGraph:
    """The graph of nodes with attributes, some of which are the features and one the label."""
    if features is None:
        features = ["x"] if ids and all("x" in row for row in attributes) else []
    keys = [features] if isinstance(features, str) else list(features)
    known = {key for row in attributes for key in row}
    if missing := [node for node, row in zip(ids, attributes, strict=True) if not set(keys) <= row.keys()]:
        raise GraphError(
            f"{len(missing)} nodes have no attribute {first_few(keys)}: {first_few(missing)}.",
            f"Name the node attributes that hold the features; there are: {first_few(sorted(map(str, known)), 12)}.",
        )
    if label != "label" and ids and label not in known:
        raise GraphError(f"No node has an attribute {label!r}.", "Name the node attribute that holds the class.")
    rows = [
        np.concatenate([_vector(node, key, row[key]) for key in keys]) if keys else np.empty(0)
        for node, row in zip(ids, attributes, strict=True)
    ]
    if len(widths := {len(row) for row in rows}) > 1:
        raise GraphError(
            f"The features of the nodes have different lengths: {first_few(sorted(widths))}.", "Make them equal."
        )
    findings = []
    if unused := sorted(map(str, known - {*keys, label})):
        text = f"Node attributes were not used: {first_few(unused)}; features=… names those to use."
        findings.append(Finding("note", "unused-attributes", text))
    return NodeGraph(
        (np.array(rows) if rows else np.empty((0, 1))) if keys else None,
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        [row.get(label) for row in attributes],
        ids=ids,
        edge_weights=weights,
        name=name,
        findings=findings,
    )


def _vector(node: Any, key: str, value: Any) -> np.ndarray:
    try:
        return np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise GraphError(
            f"Attribute {key!r} of node {first_few([node])} is not a number: {first_few([value])}.",
            "Encode text and classes as numbers, or read them from tables.",
        ) from None


def to_networkx(graph: NodeGraph) -> "nx.Graph":
    """A NetworkX graph of the ids, with the node attributes x and label and the edge attribute weight."""
    import networkx as nx

    network = nx.Graph(name=graph.name)
    labels = decode_labels(graph.labels, graph.classes)
    for node, x, label in zip(graph.ids.tolist(), dense_features(graph), labels, strict=True):
        network.add_node(node, x=x.copy(), label=label)
    ends = graph.ids[graph.edges].tolist()
    network.add_weighted_edges_from((u, v, w) for (u, v), w in zip(ends, graph.weights.tolist(), strict=True))
    return network


def from_scipy(adjacency: Any, features: Any, labels: Any = None, **options: Any) -> NodeGraph:
    """A graph from an (n, n) adjacency matrix of SciPy or NumPy; options are those of ``NodeGraph``."""
    return NodeGraph(features, sp.csr_array(adjacency), labels, **options)


def to_scipy(graph: NodeGraph) -> tuple[sp.csr_array, sp.csr_array, np.ndarray]:
    """The symmetric adjacency matrix, the features, both sparse, and the labels as positions; writable copies."""
    return graph.adjacency.copy(), sp.csr_array(graph.features, copy=True), graph.labels.copy()
