"""Graphs of PyTorch Geometric: ``Data``, and ``HeteroData`` with nodes of several types, of which one is classified.

PyG numbers nodes and classes from 0, so ids and class names are kept in ``data.node_ids`` and ``data.classes``.

Edges among nodes of the classified type are relations. Through each other type that is one step away leads a meta-path
of length two, such as paper-author-paper, which is a relation too: its weights count shared neighbours, each divided
among those that it connects, so that an author of a hundred papers does not make them as similar as an author of two
(Newman, Physical Review E 64, 016132, 2001).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import PARTS, NodeGraph, Split, decode_labels
from dccgcn.runtime import missing_extra
from dccgcn.text import first_few

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

MASKS_NOT_USED = "masks-not-used"  # code of a finding
MAX_MEAN_DEGREE = 200  # of a meta-path; denser ones say little and cost much
_MASK = {"train": "train", "validation": "val", "test": "test"}


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
    relations = _relations(data, _labelled_type(data, node_type), directed, findings) if _has_types(data) else None
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
    """Whether an object is a HeteroData."""
    return hasattr(data, "edge_types") and hasattr(data, "node_types")


def _nodes(data: Any, node_type: str | None) -> Any:
    """The part of an object that holds x, y and the masks of the nodes to classify."""
    return data[_labelled_type(data, node_type)] if _has_types(data) else data


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
        x=torch.from_numpy(dense_features(graph).copy()),
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


def _labelled_type(data: "HeteroData", node_type: str | None) -> str:
    """The type of node to classify: as named, else the only one with ``y``."""
    if node_type is not None:
        if node_type not in data.node_types:
            raise GraphError(f"There are no nodes of type {node_type!r}.", f"Types: {first_few(data.node_types, 12)}.")
        return node_type
    with_labels = [name for name in data.node_types if data[name].get("y") is not None]
    if len(with_labels) != 1:
        what = f"Several types of nodes have labels: {first_few(with_labels)}." if with_labels else "No node has a y."
        raise GraphError(what, "Name the type to classify: run(from_pyg(data, node_type='paper')).")
    return with_labels[0]


def _relations(data: "HeteroData", node_type: str, directed: bool, findings: list[Finding]) -> dict[str, sp.csr_array]:
    """The relations among nodes of one type, (n, n) each: their own edges, and meta-paths through other types."""
    own: dict[str, sp.csr_array] = {}
    paths: dict[str, dict[str, sp.csr_array]] = {}  # (n, nodes of the other type), by that type and the kind of edge
    for source, kind, target in data.edge_types:
        if node_type not in (source, target):
            continue
        matrix = _matrix(data, (source, kind, target))
        if source == target:
            if not any(_is_repeated(matrix, other, directed) for other in own.values()):
                own[_free_name(kind, own)] = matrix
        else:
            other, members = (target, matrix) if source == node_type else (source, sp.csr_array(matrix.T))
            known = paths.setdefault(other, {})
            if not any(_same(members, one) for one in known.values()):  # edges and their reverse say the same
                known[_free_name(kind, known)] = members
    for other, kinds in paths.items():
        for kind, members in kinds.items():
            name = _free_name(f"{node_type}-{other}-{node_type}" + (f" {kind}" if len(kinds) > 1 else ""), own)
            if (path := _meta_path(members, name, other, findings)) is not None:
                own[name] = path
    findings += _unused_types(data, node_type, set(paths))
    if not own:
        raise GraphError(
            f"No edges lead from {node_type} to {node_type}, directly or through one node of another type.",
            "Add such edges to data, or make one graph of all types: data.to_homogeneous().",
        )
    return own


def _matrix(data: "HeteroData", edge_type: tuple[str, str, str]) -> sp.csr_array:
    """(sources, targets) with weights; of repeated edges the largest weight counts."""
    store: Any = data[edge_type]
    edge_index = store.get("edge_index")
    if edge_index is None:
        raise GraphError(f"Edges of type {edge_type} have no edge_index.", "Set it, or leave this type out.")
    rows, cols = _array(edge_index).astype(np.int64)
    weight = store.get("edge_weight")
    weights = np.ones(len(rows)) if weight is None else _array(weight).astype(np.float64)
    shape = tuple(int(data[end].num_nodes or 0) for end in (edge_type[0], edge_type[2]))
    if weights.shape != rows.shape or (len(rows) and (min(rows.min(), cols.min()) < 0 or rows.max() >= shape[0])):
        raise GraphError(f"edge_index and edge_weight of {edge_type} do not fit its nodes.", "Check data.validate().")
    if len(cols) and cols.max() >= shape[1]:
        raise GraphError(f"edge_index of {edge_type} points outside its nodes.", "Check data.validate().")
    order = np.lexsort((-weights, cols, rows))
    first = np.unique(np.stack([rows[order], cols[order]]), axis=1, return_index=True)[1]
    edges = order[first]
    return sp.csr_array((weights[edges], (rows[edges], cols[edges])), shape=shape)


def _meta_path(members: sp.csr_array, name: str, other: str, findings: list[Finding]) -> sp.csr_array | None:
    """B diag(1 / (degree - 1)) Bᵀ without its diagonal; None with a finding if it would be too dense."""
    b = sp.csr_array(members != 0).astype(np.float64)
    degree = np.asarray(b.sum(axis=0)).reshape(-1)
    n, pairs = b.shape[0], float((degree * (degree - 1)).sum())
    if pairs > MAX_MEAN_DEGREE * n:
        text = f"The meta-path {name} is not used: it would connect each node with {pairs / max(n, 1):,.0f} others."
        remedy = f"If {other} is rather a property of the nodes, add it to their features x, one-hot."
        findings.append(Finding("warning", "dense-meta-path", f"{text} {remedy}"))
        return None
    shared = sp.coo_array(b @ sp.diags_array(1 / np.maximum(degree - 1, 1)) @ b.T)
    apart = shared.row != shared.col
    return sp.csr_array((shared.data[apart], (shared.row[apart], shared.col[apart])), shape=(n, n))


def _same(one: sp.csr_array, other: sp.csr_array) -> bool:
    return one.shape == other.shape and (one != other).nnz == 0


def _is_repeated(matrix: sp.csr_array, other: sp.csr_array, directed: bool) -> bool:
    """Whether the edges are those of another kind, or their reverse."""
    if directed:
        return _same(sp.csr_array(matrix.T), other)
    return _same(sp.csr_array(matrix.maximum(matrix.T)), sp.csr_array(other.maximum(other.T)))


def _free_name(kind: str, taken: dict[str, Any]) -> str:
    """The kind of edge as a relation's name, which has no dots and the like."""
    name = "".join(letter if letter.isalnum() or letter in " -_" else "_" for letter in kind)[:50]
    return name if name not in taken else f"{name} {len(taken) + 1}"


def _unused_types(data: "HeteroData", node_type: str, reached: set[str]) -> list[Finding]:
    """Findings about other types of nodes that have no part in the relations, or whose features have none."""
    findings = []
    others = [name for name in data.node_types if name != node_type]
    if apart := [name for name in others if name not in reached]:
        text = f"Nodes of type {first_few(apart)} are not used: no edge connects them with {node_type}."
        remedy = "Connect them in data, for example papers with the institutions of their authors."
        findings.append(Finding("warning", "unreached-types", f"{text} {remedy}"))
    if described := [name for name in others if name in reached and data[name].get("x") is not None]:
        text = f"Features of {first_few(described)} are not used, only which {node_type} nodes they connect."
        findings.append(Finding("note", "features-of-other-types", text))
    return findings


def _array(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.detach().cpu().numpy())


def _sparse(tensor: Any) -> sp.csr_array:
    coo = tensor.to_sparse_coo().coalesce()
    rows, cols = _array(coo.indices())
    return sp.csr_array((_array(coo.values()), (rows, cols)), shape=tuple(coo.shape))


def dense_features(graph: NodeGraph) -> np.ndarray:
    """The features as a dense array."""
    return graph.features.toarray() if sp.issparse(graph.features) else np.asarray(graph.features)
