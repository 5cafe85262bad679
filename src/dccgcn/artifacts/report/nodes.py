"""The nodes on the page, one column for each field."""

import numpy as np
import scipy.sparse as sp

from dccgcn.artifacts.report.notes import table_note
from dccgcn.artifacts.report.schema import Nodes, TopClasses
from dccgcn.artifacts.report.trust_summary import TrustedNodes
from dccgcn.graph import NodeGraph
from dccgcn.workflow.run import Run, run_frame

MAX_CLASSES = 8  # listed per node, most probable first
MAX_NEIGHBOURS = 6
ROLES = ("train", "validation", "test", "unused", "unlabelled")


def node_columns(run: Run, nodes: TrustedNodes, shown: np.ndarray) -> Nodes:
    """Lists of equal length, an entry for each node shown. They are correct as made here, so not validated again."""
    graph, prediction = run.graph, run.prediction
    probabilities = {"final": prediction.probabilities, **prediction.channels}
    return Nodes.model_construct(
        note=table_note(graph, len(shown)),
        id=shown_ids(graph, shown),
        prediction=prediction.y_pred[shown].tolist(),
        confidence=_thousandths(nodes.confidence[shown]),
        trusted=nodes.is_trusted[shown].astype(int).tolist(),
        corrected=None if prediction.corrected is None else prediction.corrected[shown].astype(int).tolist(),
        role=run_frame(run)["role"].iloc[shown].map(ROLES.index).tolist(),
        roles=list(ROLES),
        label=graph.labels[shown].tolist(),
        degree=graph.degree[shown].tolist(),
        class_probabilities={name: _top_classes(p[shown]) for name, p in probabilities.items()},
        neighbours=_neighbours(run, nodes, shown),
        support=None if prediction.support is None else _support(prediction.support, shown),
    )


def shown_ids(graph: NodeGraph, nodes: np.ndarray) -> list[str]:
    """The ids of nodes, after their names if they have any."""
    ids = [str(i) for i in graph.ids[nodes].tolist()]
    if graph.names is None:
        return ids
    return [f"{name} ({i})" if name else i for name, i in zip(graph.names[nodes], ids, strict=True)]


def _top_classes(probabilities: np.ndarray) -> TopClasses:
    """The most probable classes of each node, first to last, and their probabilities."""
    k = min(MAX_CLASSES, probabilities.shape[1])
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :k]  # stable: ties in the order of argmax
    return TopClasses.model_construct(
        classes=order.reshape(-1).tolist(),
        probabilities=_thousandths(np.take_along_axis(probabilities, order, axis=1).reshape(-1)),
    )


def _neighbours(run: Run, nodes: TrustedNodes, shown: np.ndarray) -> list[list[int]]:
    """A few neighbours of each node: those with a training label first, then by confidence."""
    adjacency = run.graph.adjacency
    rank = nodes.confidence.astype(np.float64).copy()
    rank[run.split.train] += 2
    row = _rows(shown, run.graph.n)
    listed = []
    for node in shown:
        near = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        near = near[row[near] >= 0]
        listed.append(row[near[np.argsort(-rank[near], kind="stable")[:MAX_NEIGHBOURS]]].tolist())
    return listed


def _support(support: sp.csr_array, shown: np.ndarray) -> list[list[int]]:
    """The neighbours that corrected each prediction: row, weight in thousandths, row, weight, …; largest first."""
    row = _rows(shown, support.shape[0])
    listed = []
    for node in shown:
        part = slice(support.indptr[node], support.indptr[node + 1])
        near, weight = support.indices[part], np.abs(support.data[part])
        total = weight.sum()
        largest = np.argsort(-weight, kind="stable")[:MAX_NEIGHBOURS]
        kept = [e for e in largest if row[near[e]] >= 0 and weight[e] > 0]
        listed.append([int(x) for e in kept for x in (row[near[e]], round(1000 * weight[e] / total))])
    return listed


def _rows(shown: np.ndarray, n: int) -> np.ndarray:
    """(n,) the page's row of each node of the graph, -1 for nodes that are not shown."""
    row = np.full(n, -1)
    row[shown] = np.arange(len(shown))
    return row


def _thousandths(values: np.ndarray) -> list[int]:
    rounded: list[int] = np.rint(1000 * values.astype(np.float64)).astype(int).tolist()
    return rounded
