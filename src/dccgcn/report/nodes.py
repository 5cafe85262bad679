"""The nodes on the page, one column for each field."""

import numpy as np

from dccgcn.graph import NodeGraph
from dccgcn.report.notes import table_note
from dccgcn.report.schema import Nodes, TableColumn, TopClasses
from dccgcn.report.trust_summary import TrustedNodes
from dccgcn.workflow.frames import run_frame
from dccgcn.workflow.result import Result

MAX_CLASSES = 8  # listed per node, most probable first
MAX_NEIGHBOURS = 6
ROLES = ("train", "validation", "test", "unused", "unlabelled")


def node_columns(
    result: Result, nodes: TrustedNodes, shown: np.ndarray, community: np.ndarray, columns: list[TableColumn]
) -> Nodes:
    """Lists of equal length, an entry for each node shown. They are correct as made here, so not validated again.

    community: (n,) of all nodes. columns: their own rows of a table.
    """
    graph, prediction = result.graph, result.prediction
    width = MAX_CLASSES if len(prediction.channels) <= 2 else 1
    return Nodes.model_construct(
        note=table_note(graph, len(shown)),
        id=shown_ids(graph, shown),
        prediction=prediction.y_pred[shown].tolist(),
        confidence=_thousandths(nodes.confidence[shown]),
        trusted=nodes.is_trusted[shown].astype(int).tolist(),
        corrected=None if prediction.corrected is None else prediction.corrected[shown].astype(int).tolist(),
        role=run_frame(result)["role"].iloc[shown].map(ROLES.index).tolist(),
        roles=list(ROLES),
        label=graph.labels[shown].tolist(),
        degree=graph.degree[shown].tolist(),
        class_probabilities={
            "final": _top_classes(prediction.probabilities[shown], MAX_CLASSES),
            **{name: _top_classes(p[shown], width) for name, p in prediction.channels.items()},
        },
        neighbours=_neighbours(result, nodes, shown),
        community=community[shown].tolist(),
        columns=columns,
    )


def shown_ids(graph: NodeGraph, nodes: np.ndarray) -> list[str]:
    """The ids of nodes, after their names if they have any."""
    ids = [str(i) for i in graph.ids[nodes].tolist()]
    if graph.names is None:
        return ids
    return [f"{name} ({i})" if name else i for name, i in zip(graph.names[nodes], ids, strict=True)]


def _top_classes(probabilities: np.ndarray, most: int) -> TopClasses:
    """The most probable classes of each node, first to last, and their probabilities."""
    k = min(most, probabilities.shape[1])
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :k]  # stable: ties in the order of argmax
    return TopClasses.model_construct(
        classes=order.reshape(-1).tolist(),
        probabilities=_thousandths(np.take_along_axis(probabilities, order, axis=1).reshape(-1)),
    )


def _neighbours(result: Result, nodes: TrustedNodes, shown: np.ndarray) -> list[list[int]]:
    """A few neighbours of each node: those with a training label first, then by confidence."""
    adjacency = result.graph.adjacency
    rank = nodes.confidence.astype(np.float64).copy()
    rank[result.split.train] += 2
    row = np.full(result.graph.n, -1)  # of the page, for each node of the graph
    row[shown] = np.arange(len(shown))
    listed = []
    for node in shown:
        near = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        near = near[row[near] >= 0]
        listed.append(row[near[np.argsort(-rank[near], kind="stable")[:MAX_NEIGHBOURS]]].tolist())
    return listed


def _thousandths(values: np.ndarray) -> list[int]:
    return np.rint(1000 * values.astype(np.float64)).astype(int).tolist()
