"""The nodes on the page: which of them, one column for each field, and their own rows of the user's table."""

import numpy as np
import pandas as pd

from dccgcn.errors import DccgcnError
from dccgcn.graph import NodeGraph, is_missing
from dccgcn.report.schema import Nodes, TableColumn, TopClasses
from dccgcn.text import printable, truncate
from dccgcn.workflow import Result, run_frame

MAX_CLASSES = 8  # listed per node, most probable first
MAX_NEIGHBOURS = 6
ROLES = ("train", "validation", "test", "unused", "unlabelled")


def node_columns(result: Result, shown: np.ndarray, community: np.ndarray, columns: list[TableColumn]) -> Nodes:
    """Lists of equal length, an entry for each node shown. They are correct as made here, so not validated again.

    community: (n,) of all nodes. columns: their own rows of a table.
    """
    graph, prediction, trusted = result.graph, result.prediction, result.trusted
    width = MAX_CLASSES if len(prediction.channels) <= 2 else 1
    return Nodes.model_construct(
        note=table_note(graph, len(shown)),
        id=shown_ids(graph, shown),
        prediction=prediction.y_pred[shown].tolist(),
        confidence=_thousandths(trusted.confidence[shown]),
        trusted=trusted.is_trusted[shown].astype(int).tolist(),
        corrected=None if prediction.corrected is None else prediction.corrected[shown].astype(int).tolist(),
        role=run_frame(result)["role"].iloc[shown].map(ROLES.index).tolist(),
        roles=list(ROLES),
        label=graph.labels[shown].tolist(),
        degree=graph.degree[shown].tolist(),
        class_probabilities={
            "final": _top_classes(prediction.probabilities[shown], MAX_CLASSES),
            **{name: _top_classes(p[shown], width) for name, p in prediction.channels.items()},
        },
        neighbours=_neighbours(result, shown),
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


def _neighbours(result: Result, shown: np.ndarray) -> list[list[int]]:
    """A few neighbours of each node: those with a training label first, then by confidence."""
    adjacency = result.graph.adjacency
    rank = result.trusted.confidence.astype(np.float64)  # a copy
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


MAX_COLUMNS = 12
MAX_CHARACTERS = 3_000_000  # of all cells in the page
_SHORTEST, _LONGEST = 24, 400  # characters of a cell, if they have to be shortened


def page_columns(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns to show. Of a wide table those with text come first, as numbers tell a person little."""
    names = list(rows.columns)
    texts = [name for name in names if not _is_number(rows[name].iloc[: 2 * MAX_COLUMNS])]
    shown = [*texts, *(name for name in names if name not in texts)][:MAX_COLUMNS]
    return rows[[name for name in names if name in shown]]  # in the order of the table


def table_columns(rows: pd.DataFrame, n: int, shown: np.ndarray) -> list[TableColumn]:
    """The cells of the nodes shown, of a table of all nodes in the order of the graph."""
    if len(rows) != n:
        raise DccgcnError(f"The table has {len(rows):,} rows, but the graph {n:,} nodes.", "Give its own table.")
    part = page_columns(rows).iloc[shown]
    length = max(_SHORTEST, min(MAX_CHARACTERS // max(part.size, 1), _LONGEST))
    return [TableColumn(name=str(name)[:100], cells=[_cell(cell, length) for cell in part[name]]) for name in part]


def _is_number(cells: pd.Series) -> bool:
    present = [cell for cell in cells if not is_missing(cell)]
    return bool(pd.to_numeric(pd.Series(present, dtype=object), errors="coerce").notna().all())


def _cell(cell: object, length: int) -> str:
    return "" if is_missing(cell) else truncate(printable(" ".join(str(cell)[: 2 * length].split())), length)


def sample(
    graph: NodeGraph, train: np.ndarray, confidence: np.ndarray, size: int, always: np.ndarray | None = None
) -> np.ndarray:
    """At most `size` node positions, sorted; all nodes if the graph has no more.

    always: nodes that are in the sample, at most all of it. A quarter are training nodes and a quarter the least
    confident predictions. The rest are their neighbours, hop by hop, then random nodes once no neighbour is left.
    """
    if graph.n <= size:
        return np.arange(graph.n)
    rng = np.random.default_rng(0)
    chosen = np.zeros(graph.n, dtype=bool)
    chosen[[] if always is None else always] = True
    left = size - int(chosen.sum())
    chosen[_at_most(train[~chosen[train]], min(max(size // 4, 1), left), rng)] = True
    least_confident = np.argsort(confidence, kind="stable")
    left = size - int(chosen.sum())
    chosen[least_confident[~chosen[least_confident]][: min(size // 4, left)]] = True
    frontier = chosen
    while (remaining := size - int(chosen.sum())) > 0:
        frontier = (graph.adjacency @ frontier.astype(np.float32) > 0) & ~chosen
        candidates = np.flatnonzero(frontier) if frontier.any() else np.flatnonzero(~chosen)
        chosen[_at_most(candidates, remaining, rng)] = True
    return np.flatnonzero(chosen)


def _at_most(nodes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    return nodes if len(nodes) <= count else rng.choice(nodes, count, replace=False)


def table_note(graph: NodeGraph, nodes: int) -> str:
    """Which nodes the table shows."""
    if nodes == graph.n:
        return f"All {nodes:,} nodes, the least trusted first. The download is the run’s predictions.csv."
    return (
        f"{nodes:,} of {graph.n:,} nodes, the least trusted first: training labels, the least trusted predictions, the "
        "nodes of the map, and neighbours of these. "
        "The download holds these rows; the run’s predictions.csv holds all."
    )
