"""A part of Cora: real features, edges and classes at a fraction of the cost."""

from dataclasses import replace

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from dccgcn.datasets import Dataset
from dccgcn.graph import NodeGraph


def part_of(data: Dataset, n: int) -> Dataset:
    """Nodes around the one with the most neighbours, a twentieth from other components, and the words they share."""
    graph = data.graph
    near = breadth_first_order(graph.adjacency, int(graph.degree.argmax()), return_predecessors=False)
    others = np.flatnonzero(graph.component != graph.component[near[0]])[: n // 20]
    kept = np.sort(np.append(near[: n - len(others)], others))
    position = np.full(graph.n, -1)
    position[kept] = np.arange(n)
    ends = position[graph.edges]
    words = graph.features[kept]
    words = words[:, np.flatnonzero((words != 0).sum(axis=0) >= 3)]
    labels = [graph.classes[k] for k in graph.labels[kept]]
    names = {"ids": graph.ids[kept], "classes": graph.classes, "name": graph.name}
    return replace(data, graph=NodeGraph(words, ends[(ends >= 0).all(axis=1)], labels, **names), splits={})
