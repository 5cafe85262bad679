"""The page's nodes, a column for each thing known of them."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.artifacts.report.trusted import Trusted
from dccgcn.workflow.run import Run, run_frame

MOST_CLASSES = 8  # the most probable classes of a node; the others are hardly probable
MOST_NEIGHBOURS = 6
ROLES = ("train", "validation", "test", "unused", "unlabelled")


def columns(result: Run, trust: Trusted, shown: np.ndarray) -> dict[str, Any]:
    """Lists of the same length, a row for each node shown. Classes are positions, nodes rows of this table."""
    graph, prediction = result.graph, result.prediction
    role = run_frame(result)["role"].map(ROLES.index).to_numpy()
    answers = {"final": prediction.probabilities, **prediction.channels}
    return {
        "id": [str(i) for i in graph.ids[shown].tolist()],
        "prediction": prediction.y_pred[shown].tolist(),
        "score": _per_mille(trust.score[shown]),
        "trusted": trust.yes[shown].astype(int).tolist(),
        "repaired": None if prediction.corrected is None else prediction.corrected[shown].astype(int).tolist(),
        "role": role[shown].tolist(),
        "roles": ROLES,
        "label": graph.labels[shown].tolist(),
        "degree": graph.degree[shown].tolist(),
        "answers": {name: _most_probable(p[shown]) for name, p in answers.items()},
        "neighbours": _neighbours(result, trust, shown),
        "support": None if prediction.support is None else _support(prediction.support, shown),
    }


def _most_probable(probabilities: np.ndarray) -> dict[str, list[int]]:
    """The first few classes of each node, most probable first, node after node, and their probabilities."""
    k = min(MOST_CLASSES, probabilities.shape[1])
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :k]  # stable: the first of equals, as argmax
    return {
        "class": order.reshape(-1).tolist(),
        "probability": _per_mille(np.take_along_axis(probabilities, order, axis=1).reshape(-1)),
    }


def _neighbours(result: Run, trust: Trusted, shown: np.ndarray) -> list[list[int]]:
    """A few neighbours of each node: those with a label first, then by how far their answer is trusted."""
    adjacency = result.graph.adjacency
    weight = trust.score.astype(np.float64).copy()
    weight[result.split.train] += 2
    row = _rows(shown, result.graph.n)
    listed = []
    for node in shown:
        near = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        near = near[row[near] >= 0]
        listed.append(row[near[np.argsort(-weight[near], kind="stable")[:MOST_NEIGHBOURS]]].tolist())
    return listed


def _support(support: sp.csr_array, shown: np.ndarray) -> list[list[int]]:
    """From whom each answer was rebuilt: row, share in thousandths, row, share, …; the largest shares first."""
    row = _rows(shown, support.shape[0])
    listed = []
    for node in shown:
        part = slice(support.indptr[node], support.indptr[node + 1])
        near, value = support.indices[part], np.abs(support.data[part])
        total = value.sum()
        order = [e for e in np.argsort(-value, kind="stable")[:MOST_NEIGHBOURS] if row[near[e]] >= 0 and value[e] > 0]
        listed.append([int(x) for e in order for x in (row[near[e]], round(1000 * value[e] / total))])
    return listed


def _rows(shown: np.ndarray, n: int) -> np.ndarray:
    """(n,) the page's row of each node of the graph, -1 for those left out."""
    row = np.full(n, -1)
    row[shown] = np.arange(len(shown))
    return row


def _per_mille(values: np.ndarray) -> list[int]:
    rounded: list[int] = np.rint(1000 * values.astype(np.float64)).astype(int).tolist()
    return rounded
