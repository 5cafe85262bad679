"""Which nodes to show where there are too many: the labels, the doubts, and what lies around them."""

import numpy as np

from dccgcn.graph import NodeGraph


def sample(graph: NodeGraph, train: np.ndarray, score: np.ndarray, most: int, seed: int = 0) -> np.ndarray:
    """At most so many node positions, sorted; all of them if they are few enough.

    A quarter of the places goes to labels and a quarter to the least certain answers. The rest is filled with their
    neighbours, hop by hop, and with nodes drawn at random once no neighbour is left.
    """
    if graph.n <= most:
        return np.arange(graph.n)
    rng = np.random.default_rng(seed)
    chosen = np.zeros(graph.n, dtype=bool)
    chosen[_few(train, max(most // 4, 1), rng)] = True
    doubtful = np.argsort(score, kind="stable")
    chosen[doubtful[~chosen[doubtful]][: most // 4]] = True
    reached = chosen
    while (room := most - int(chosen.sum())) > 0:
        reached = (graph.adjacency @ reached.astype(np.float32) > 0) & ~chosen
        ring = np.flatnonzero(reached) if reached.any() else np.flatnonzero(~chosen)
        chosen[_few(ring, room, rng)] = True
    return np.flatnonzero(chosen)


def _few(nodes: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return nodes if len(nodes) <= most else rng.choice(nodes, most, replace=False)
