"""Which nodes to show where there are too many: training labels, the least confident predictions, neighbourhoods."""

import numpy as np

from dccgcn.graph import NodeGraph


def sample(graph: NodeGraph, train: np.ndarray, confidence: np.ndarray, size: int, seed: int = 0) -> np.ndarray:
    """At most `size` node positions, sorted; all nodes if the graph has no more.

    A quarter are training nodes and a quarter the least confident predictions. The rest are their neighbours, hop by
    hop, then random nodes once no neighbour is left.
    """
    if graph.n <= size:
        return np.arange(graph.n)
    rng = np.random.default_rng(seed)
    chosen = np.zeros(graph.n, dtype=bool)
    chosen[_at_most(train, max(size // 4, 1), rng)] = True
    least_confident = np.argsort(confidence, kind="stable")
    chosen[least_confident[~chosen[least_confident]][: size // 4]] = True
    frontier = chosen
    while (remaining := size - int(chosen.sum())) > 0:
        frontier = (graph.adjacency @ frontier.astype(np.float32) > 0) & ~chosen
        candidates = np.flatnonzero(frontier) if frontier.any() else np.flatnonzero(~chosen)
        chosen[_at_most(candidates, remaining, rng)] = True
    return np.flatnonzero(chosen)


def _at_most(nodes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    return nodes if len(nodes) <= count else rng.choice(nodes, count, replace=False)
