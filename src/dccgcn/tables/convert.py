"""Conversion from and to PyTorch Geometric, NetworkX, igraph and SciPy.

PyG numbers nodes and classes from 0, so ids and class names are kept in ``data.node_ids`` and ``data.classes``.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import NodeGraph
from dccgcn.graph.cells import decode_labels
from dccgcn.graph.splits import PARTS, Split
from dccgcn.runtime.extras import missing_extra
from dccgcn.tables.hetero import labelled_type, relations_of
from dccgcn.text import first_few

if TYPE_CHECKING:
    import igraph
    import networkx as nx
    from torch_geometric.data import Data, HeteroData


MASKS_NOT_USED = "masks-not-used"  # code of a finding


def is_pyg(data: Any) -> bool:
    """Whether an object is a PyG ``Data`` or ``HeteroData``, without importing PyG."""
    return type(data).__module__.startswith("torch_geometric.") and (hasattr(data, "edge_index") or _has_types(data))


def has_masks(data: "Data | HeteroData", node_type: str | None = None) -> bool:
    """Whether a PyG object says which labels train."""
    return getattr(_nodes(data, node_type), "train_mask", None) is not None


def from_pyg(
    data: "Data | HeteroData", name: str = "graph", node_type: str | None = None, directed: bool = False
) -> NodeGraph:
    """The graph of a PyG ``Data``: ``edge_index``, and optionally ``x`` (dense or sparse), ``y`` and ``edge_weight``.

    Of a ``HeteroData`` the nodes of one type are classified. Edges among them are relations by their kind, and so are
    meta-paths through each type that is one step away, such as paper-author-paper. Features of other types and types
    further away are not used, with a finding.

    Parameters
    ----------
    data : Data or HeteroData
        A graph does not keep masks: give the split of ``split_from_pyg`` to ``run``, or the data itself.
    name : str
        Of the graph.
    node_type : str, optional
        Of HeteroData: the type to classify. Omitted: the only type with ``y``.
    directed : bool, default False
        Of HeteroData: whether edges among the classified nodes lead from source to target.

    Returns
    -------
    NodeGraph
    """
    import torch

    nodes, findings = _nodes(data, node_type), list[Finding]()
    relations = relations_of(data, labelled_type(data, node_type), directed, findings) if _has_types(data) else None
    if relations is None and getattr(data, "edge_index", None) is None:
        raise GraphError(f"The {type(data).__name__} object has no edge_index.", "Set it.")
    classes = getattr(nodes, "classes", None)
    y = None if getattr(nodes, "y", None) is None else _array(nodes.y)
    if y is not None and y.ndim == 2 and y.shape[1] > 1:
        remedy = "For one-hot rows, set data.y.argmax(dim=1)."
        raise GraphError(f"y has shape {y.shape}, not one class per node.", remedy)
    labels: list[Any] | None = None if y is None else y.reshape(-1).tolist()
    if labels is not None and classes is not None:
        labels = decode_labels(labels, classes)
    weight = getattr(data, "edge_weight", None) if relations is None else None
    if has_masks(data, node_type):
        text = "The masks of the Data object are no part of the graph: without a split, all labels train."
        remedy = "Pass run(data) or run(graph, split_from_pyg(data, graph)) to use them."
        findings.append(Finding("warning", MASKS_NOT_USED, f"{text} {remedy}"))
    stores = [data] if relations is None else data.edge_stores
    if any(getattr(one, "edge_weight", None) is None and getattr(one, "edge_attr", None) is not None for one in stores):
        text = "edge_attr was not used; set edge_weight to one number per edge if it holds weights."
        findings.append(Finding("note", "edge-attributes", text))
    x = getattr(nodes, "x", None)
    graph = NodeGraph(
        None if x is None else _array(x) if x.layout == torch.strided else _sparse(x),
        _array(data.edge_index).T if relations is None else (),
        labels,
        ids=getattr(nodes, "node_ids", None) or (range(nodes.num_nodes) if x is None else None),
        classes=classes,
        edge_weights=None if weight is None else _array(weight),
        name=name,
        findings=findings,
    )
    return graph if relations is None else graph.with_relations(relations, directed)


def _has_types(data: Any) -> bool:
    """Whether it is a HeteroData."""
    return hasattr(data, "edge_types") and hasattr(data, "node_types")


def _nodes(data: Any, node_type: str | None) -> Any:
    """What holds x, y and the masks of the nodes to classify."""
    return data[labelled_type(data, node_type)] if _has_types(data) else data


def split_from_pyg(
    data: "Data | HeteroData", graph: NodeGraph, column: int | None = None, node_type: str | None = None
) -> Split:
    """The split of ``train_mask``, ``val_mask`` and ``test_mask``; a mask that is missing is empty.

    column: which split, if the masks hold several as columns. node_type: as for ``from_pyg``.
    """
    masks = {part: getattr(_nodes(data, node_type), f"{_MASK[part]}_mask", None) for part in PARTS}
    if masks["train"] is None:
        raise GraphError("The Data object has no train_mask.", "Set one, or draw a split.")
    parts = [np.empty(0) if mask is None else np.flatnonzero(_column(_array(mask), column)) for mask in masks.values()]
    return Split.from_parts(graph, "pyg-masks" if column is None else f"pyg-masks-{column}", *parts)


def _column(mask: np.ndarray, column: int | None) -> np.ndarray:
    if mask.ndim == 1:
        return mask
    if column is None or not 0 <= column < mask.shape[1]:
        raise GraphError(f"The masks hold {mask.shape[1]} splits.", f"Name one: column=0 to {mask.shape[1] - 1}.")
    return np.asarray(mask[:, column])


def to_pyg(graph: NodeGraph, split: Split | None = None) -> "Data":
    """A PyG ``Data``: edges in both directions, -1 for unlabelled, masks if a split is given."""
    import torch

    try:
        from torch_geometric.data import Data
    except ModuleNotFoundError:
        raise missing_extra("torch_geometric", "pyg") from None

    both = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    data = Data(
        x=torch.from_numpy(_dense(graph).copy()),
        edge_index=torch.from_numpy(np.ascontiguousarray(both.T)),
        y=torch.from_numpy(graph.labels.copy()),
    )
    data.edge_weight = torch.from_numpy(np.concatenate([graph.weights, graph.weights]))
    data.node_ids = graph.ids.tolist()
    data.classes = list(graph.classes)
    if split is not None:
        split.check(graph)
        for part in PARTS:
            data[f"{_MASK[part]}_mask"] = torch.from_numpy(np.isin(np.arange(graph.n), getattr(split, part)))
    return data


_MASK = {"train": "train", "validation": "val", "test": "test"}


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
    for node, x, label in zip(graph.ids.tolist(), _dense(graph), labels, strict=True):
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


def _dense(graph: NodeGraph) -> np.ndarray:
    return graph.features.toarray() if sp.issparse(graph.features) else np.asarray(graph.features)


def _array(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.detach().cpu().numpy())


def _sparse(tensor: Any) -> sp.csr_array:
    coo = tensor.to_sparse_coo().coalesce()
    rows, cols = _array(coo.indices())
    return sp.csr_array((_array(coo.values()), (rows, cols)), shape=tuple(coo.shape))
