"""PyG's HeteroData: nodes of several types, of which one is classified.

Edges among nodes of that type are relations. Through each other type that is one step away leads a meta-path of length
two, such as paper-author-paper, which is a relation too: its weights count shared neighbours, each divided among those
that it connects, so that an author of a hundred papers does not make them as similar as an author of two (Newman,
Physical Review E 64, 016132, 2001).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError
from dccgcn.text import first_few

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

MAX_MEAN_DEGREE = 200  # of a meta-path; denser ones say little and cost much


def labelled_type(data: "HeteroData", node_type: str | None) -> str:
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


def relations_of(
    data: "HeteroData", node_type: str, directed: bool, findings: list[Finding]
) -> dict[str, sp.csr_array]:
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
    findings += _unused(data, node_type, set(paths))
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
    rows, cols = np.asarray(edge_index.detach().cpu().numpy(), dtype=np.int64)
    weight = store.get("edge_weight")
    weights = np.ones(len(rows)) if weight is None else np.asarray(weight.detach().cpu().numpy(), dtype=np.float64)
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


def _unused(data: "HeteroData", node_type: str, reached: set[str]) -> list[Finding]:
    """What of other node types has no part in the relations."""
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
