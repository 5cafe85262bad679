"""The map of the page: positions and edges of the nodes, or of a sample of a large graph. Made once."""

from dataclasses import dataclass

import numpy as np

from dccgcn.graph import NodeGraph
from dccgcn.report.drawing import draw_graph


@dataclass(frozen=True, eq=False)
class MapData:
    """Nodes of the map by position in the graph; coordinates in ten-thousandths; edges as pairs of places in nodes."""

    nodes: np.ndarray
    x: list[int]
    y: list[int]
    edges: list[int]


def map_data(graph: NodeGraph) -> MapData:
    """As in the report, but without training labels: a sample holds the same share of each community."""
    drawn = draw_graph(graph, np.array([], dtype=np.int64))
    x, y = np.rint(drawn.position * 10_000).astype(int).T
    return MapData(drawn.nodes, x.tolist(), y.tolist(), drawn.edges.reshape(-1).tolist())
