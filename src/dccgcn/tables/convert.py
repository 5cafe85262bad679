"""Conversion from and to PyTorch Geometric, NetworkX, igraph and SciPy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import NodeGraph, decode_labels
from dccgcn.tables.pyg import dense_features, from_pyg, split_from_pyg, to_pyg
from dccgcn.tables.read import read_tables
from dccgcn.text import first_few

if TYPE_CHECKING:
    import igraph
    import networkx as nx

_ID = "node id"  # column of the nodes

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
        Node attributes that hold vectors, numbers, categories or text. Default: "x" if all nodes have it, else none;
        then only the edges are used.
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
    ids = {node: node if isinstance(node, str | int | float | np.number) else str(node) for node in network.nodes}
    nodes = [{**row, _ID: ids[node]} for node, row in network.nodes(data=True)]
    edges = [(ids[u], ids[v], row.get(weight, 1.0)) for u, v, row in network.edges(data=True)]
    return _from_attributes(nodes, edges, features, label, name)


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
    nodes = [{**row, _ID: row.pop("name", i)} for i, row in enumerate(attributes)]
    weights = network.es[weight] if weight in network.es.attributes() else [1.0] * network.ecount()
    edges = [(nodes[u][_ID], nodes[v][_ID], w) for (u, v), w in zip(network.get_edgelist(), weights, strict=True)]
    return _from_attributes(nodes, edges, features, label, name)


def _from_attributes(
    nodes: list[dict[str, Any]],
    edges: list[tuple[Any, Any, float]],
    features: str | Sequence[str] | None,
    label: str,
    name: str,
) -> NodeGraph:
    """The graph of nodes with attributes, read as a table whose numbers stay as they are."""
    known = dict.fromkeys(str(key) for row in nodes for key in row if key != _ID)
    if features is None:
        features = ["x"] if nodes and all("x" in row for row in nodes) else []
    keys = [features] if isinstance(features, str) else list(features)
    lacking = [row[_ID] for row in nodes if not set(keys) <= row.keys()]
    if lacking or (label != "label" and nodes and label not in known):
        raise GraphError(
            f"{len(lacking)} nodes have no attribute {first_few(keys)}: {first_few(lacking)}."
            if lacking
            else f"No node has an attribute {label!r}.",
            f"Name the node attributes of the features and of the class; there are: {first_few(sorted(known), 12)}.",
        )
    read = read_tables(
        pd.DataFrame(nodes, columns=[_ID, *known], dtype=object),
        pd.DataFrame(edges, columns=["source", "target", "weight"]),
        **{"id": _ID, "source": "source", "target": "target", "weight": "weight", "graph_name": name},
        label=label if label in known else None,
        features=keys,
        featureless=not keys,
        scale=False,
    )
    unused = sorted(known.keys() - {*keys, label})
    text = f"Node attributes were not used: {first_few(unused)}; features=… names those to use."
    findings = [finding for finding in read.graph.findings if finding.code != "unused-columns"]
    return read.graph.with_findings([*findings, *([Finding("note", "unused-attributes", text)] if unused else [])])


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
