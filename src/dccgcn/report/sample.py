"""Which nodes to show where there are too many: training labels, the least confident predictions, neighbourhoods."""

import numpy as np

from dccgcn.graph import NodeGraph


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
