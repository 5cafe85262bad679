"""The map of the page: positions and edges of the nodes, or of a sample of a large graph. Made once."""

from dataclasses import dataclass

import numpy as np

from dccgcn.artifacts.report.data import MAX_MAP_EDGES, MAX_MAP_NODES
from dccgcn.artifacts.report.layout import force_layout
from dccgcn.artifacts.report.sample import sample
from dccgcn.graph import NodeGraph


@dataclass(frozen=True, eq=False)
class MapData:
    """Nodes of the map by position in the graph; coordinates in ten-thousandths; edges as pairs of places in nodes."""

    nodes: np.ndarray
    x: list[int]
    y: list[int]
    edges: list[int]


def map_data(graph: NodeGraph) -> MapData:
    """A sample is made of random nodes and their neighbourhoods, so that it looks like the whole."""
    rng = np.random.default_rng(0)
    start = rng.choice(graph.n, min(graph.n, MAX_MAP_NODES // 4), replace=False)
    nodes = sample(graph, start, rng.random(graph.n), MAX_MAP_NODES)
    place = np.full(graph.n, -1)
    place[nodes] = np.arange(len(nodes))
    ends = place[graph.edges]
    ends = ends[(ends >= 0).all(axis=1)]
    if len(ends) > MAX_MAP_EDGES:
        ends = ends[np.sort(rng.choice(len(ends), MAX_MAP_EDGES, replace=False))]
    x, y = np.rint(force_layout(graph.adjacency[nodes][:, nodes]) * 10_000).astype(int).T
    return MapData(nodes, x.tolist(), y.tolist(), ends.reshape(-1).tolist())
