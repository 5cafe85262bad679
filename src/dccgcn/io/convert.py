"""Graphs of other libraries, both ways: PyTorch Geometric, NetworkX, SciPy and NumPy. Tables are read by tables.py.

What a library cannot say comes back as its nearest equal: PyG counts nodes from 0 and classes too, so ids and class
names travel in ``data.node_ids`` and ``data.classes``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError, some
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import PARTS, Split, published
from dccgcn.runtime.extras import missing_extra

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data


def from_pyg(data: "Data", name: str = "graph") -> NodeGraph:
    """A graph of PyG: ``x`` (dense or sparse), ``edge_index``, and ``y``, ``edge_weight`` where it has them."""
    if getattr(data, "x", None) is None or getattr(data, "edge_index", None) is None:
        kind = type(data).__name__
        remedy = "Set both: features, and pairs of nodes. Of HeteroData, data.to_homogeneous() makes one kind of them."
        raise GraphError(f"The {kind} object has no x or no edge_index.", remedy)
    classes = getattr(data, "classes", None)
    y = None if data.y is None else _array(data.y)
    if y is not None and y.ndim == 2 and y.shape[1] > 1:
        remedy = "Of one-hot rows, set data.y.argmax(dim=1)."
        raise GraphError(f"y has shape {y.shape}, not one class per node.", remedy)
    labels: list[Any] | None = None if y is None else y.reshape(-1).tolist()
    if labels is not None and classes is not None:
        labels = [None if code < 0 else classes[code] for code in labels]
    weight = getattr(data, "edge_weight", None)
    findings = []
    if weight is None and getattr(data, "edge_attr", None) is not None:
        text = "edge_attr was not used; set data.edge_weight to one number per edge if it holds weights."
        findings.append(Finding("note", "edge-attributes", text))
    return NodeGraph(
        _sparse(data.x) if data.x.layout != _strided() else _array(data.x),
        _array(data.edge_index).T,
        labels,
        ids=getattr(data, "node_ids", None),
        classes=classes,
        edge_weights=None if weight is None else _array(weight),
        name=name,
        findings=findings,
    )


def split_from_pyg(data: "Data", graph: NodeGraph, column: int | None = None) -> Split:
    """The split of ``train_mask``, ``val_mask`` and ``test_mask``; a mask that is missing is empty.

    column: which split, where the masks hold several, a column each.
    """
    masks = {part: getattr(data, f"{_MASK[part]}_mask", None) for part in PARTS}
    if masks["train"] is None:
        raise GraphError("The Data object has no train_mask.", "Set one, or draw a split.")
    parts = [np.empty(0) if mask is None else np.flatnonzero(_column(_array(mask), column)) for mask in masks.values()]
    return published(graph, "pyg-masks" if column is None else f"pyg-masks-{column}", *parts)


def _column(mask: np.ndarray, column: int | None) -> np.ndarray:
    if mask.ndim == 1:
        return mask
    if column is None or not 0 <= column < mask.shape[1]:
        raise GraphError(f"The masks hold {mask.shape[1]} splits.", f"Name one: column=0 to {mask.shape[1] - 1}.")
    return np.asarray(mask[:, column])


def to_pyg(graph: NodeGraph, split: Split | None = None) -> "Data":
    """A Data object: edges both ways, -1 for unlabelled, masks where a split is given."""
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
    given: "nx.Graph",
    features: str | Sequence[str] = "x",
    label: str = "label",
    weight: str = "weight",
    name: str = "graph",
) -> NodeGraph:
    """A graph of NetworkX. The nodes themselves are the ids.

    features: the node attribute that holds a vector, or several that hold a number each. label: the node attribute of
    the class; a node without it is unlabelled. weight: the edge attribute of the weight; an edge without it weighs 1.
    """
    ids = list(given.nodes)
    wanted = [features] if isinstance(features, str) else list(features)
    missing = [node for node, attributes in given.nodes.items() if any(key not in attributes for key in wanted)]
    if missing:
        raise GraphError(
            f"{len(missing)} nodes have no attribute {some(wanted)}: {some(missing)}.",
            "Name the node attributes that hold the features.",
        )
    if label != "label" and ids and not any(label in attributes for attributes in given.nodes.values()):
        raise GraphError(f"No node has an attribute {label!r}.", "Name the node attribute that holds the class.")
    rows = [
        np.concatenate([_vector(node, key, attributes[key]) for key in wanted])
        for node, attributes in given.nodes.items()
    ]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise GraphError(
            f"The features of the nodes have different lengths: {some(sorted(widths))}.", "Make them equal."
        )
    position = {node: i for i, node in enumerate(ids)}
    edges = [(position[u], position[v]) for u, v in given.edges()]
    return NodeGraph(
        np.array(rows) if rows else np.empty((0, 1)),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        [attributes.get(label) for attributes in given.nodes.values()],
        ids=ids,
        edge_weights=[attributes.get(weight, 1.0) for *_, attributes in given.edges(data=True)],
        name=name,
    )


def _vector(node: Any, key: str, value: Any) -> np.ndarray:
    try:
        return np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise GraphError(
            f"Attribute {key!r} of node {some([node])} is no number: {some([value])}.",
            "Encode text and classes as numbers, or read them from tables.",
        ) from None


def to_networkx(graph: NodeGraph) -> "nx.Graph":
    """A NetworkX graph of the ids, with the node attributes x and label and the edge attribute weight."""
    import networkx as nx

    made = nx.Graph(name=graph.name)
    for node, x, code in zip(graph.ids.tolist(), _dense(graph), graph.labels, strict=True):
        made.add_node(node, x=x.copy(), label=graph.classes[code] if code >= 0 else None)
    ends = graph.ids[graph.edges].tolist()
    made.add_weighted_edges_from((u, v, w) for (u, v), w in zip(ends, graph.weights.tolist(), strict=True))
    return made


def from_scipy(adjacency: Any, features: Any, labels: Any = None, **options: Any) -> NodeGraph:
    """A graph from an (n, n) adjacency matrix of SciPy or NumPy; options are those of ``NodeGraph``."""
    return NodeGraph(features, sp.csr_array(adjacency), labels, **options)


def to_scipy(graph: NodeGraph) -> tuple[sp.csr_array, sp.csr_array, np.ndarray]:
    """The symmetric adjacency matrix, the features, both sparse, and the labels as positions, -1 for unlabelled."""
    return graph.adjacency.copy(), sp.csr_array(graph.features), graph.labels.copy()


def _dense(graph: NodeGraph) -> np.ndarray:
    return graph.features.toarray() if sp.issparse(graph.features) else np.asarray(graph.features)


def _array(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.detach().cpu().numpy())


def _strided() -> Any:
    import torch

    return torch.strided


def _sparse(tensor: Any) -> sp.csr_array:
    coo = tensor.to_sparse_coo().coalesce()
    rows, cols = _array(coo.indices())
    return sp.csr_array((_array(coo.values()), (rows, cols)), shape=tuple(coo.shape))
