"""The map of a graph: which nodes are drawn, and where, so that its communities can be seen."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dccgcn.graph import NodeGraph
from dccgcn.report.communities import communities
from dccgcn.report.layout import force_layout, in_unit_square

MAX_MAP_NODES = 3_000
MAX_MAP_EDGES = 12_000
_NEAREST = 3  # communities that each community is drawn close to


@dataclass(frozen=True, eq=False)
class Drawing:
    """The nodes of a map, their positions and the edges between them."""

    nodes: np.ndarray  # (m,) positions in the graph, sorted
    position: np.ndarray  # (m, 2) in [0, 1]
    edges: np.ndarray  # (e, 2) edges drawn, as positions in nodes
    n_edges: int  # edges between the nodes, drawn or not
    community: np.ndarray  # (n,) of every node of the graph, 0 the largest; -1 in small components


def draw_graph(
    graph: NodeGraph, train: np.ndarray, max_nodes: int = MAX_MAP_NODES, max_edges: int = MAX_MAP_EDGES
) -> Drawing:
    """Draw all nodes, or of a large graph its training nodes and the same share of each community."""
    rng = np.random.default_rng(0)
    community = graph.cached("communities", lambda: communities(graph.adjacency))
    nodes = _sample(community, train, max_nodes, rng)
    index = np.full(graph.n, -1)
    index[nodes] = np.arange(len(nodes))
    ends = index[graph.edges]
    ends = ends[(ends >= 0).all(axis=1)]
    drawn = ends if len(ends) <= max_edges else ends[np.sort(rng.choice(len(ends), max_edges, replace=False))]
    return Drawing(nodes, _positions(graph, nodes, community), drawn, len(ends), community)


def _sample(community: np.ndarray, train: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """At most `size` nodes, sorted: training nodes, at most a quarter, and equal shares of the communities."""
    n = len(community)
    if n <= size:
        return np.arange(n)
    labelled = train if len(train) <= size // 4 else rng.choice(train, size // 4, replace=False)
    others = np.setdiff1d(np.arange(n), labelled)
    by_community = others[np.lexsort((rng.random(len(others)), community[others]))]
    places = np.linspace(0, len(others) - 1, size - len(labelled)).astype(np.int64)
    return np.sort(np.concatenate([labelled, by_community[places]]))


def _positions(graph: NodeGraph, nodes: np.ndarray, community: np.ndarray) -> np.ndarray:
    """(m, 2) by forces. Each community has an anchor, a point that attracts its members.

    Without the anchors, nodes whose neighbours are not drawn would form a ring around the map. Anchors of communities
    with many edges between them attract one another.
    """
    m, of_node = len(nodes), community[nodes] + 1  # 0: small components
    n_anchors = int(community.max(initial=-1)) + 2
    member = sp.csr_array((np.ones(m), (np.arange(m), of_node)), shape=(m, n_anchors))
    between = _nearest_communities(graph, community, n_anchors)
    links = sp.block_array([[graph.adjacency[nodes][:, nodes], member], [member.T, between]]).tocsr()
    drawn = np.concatenate([np.arange(m), m + np.unique(of_node)])  # anchors without a member are left out
    return in_unit_square(force_layout(links[drawn][:, drawn])[:m])


def _nearest_communities(graph: NodeGraph, community: np.ndarray, n_anchors: int) -> sp.csr_array:
    """(n_anchors, n_anchors) 1 between each community and the few with most edges to it."""
    ends = community[graph.edges] + 1
    ends = ends[ends[:, 0] != ends[:, 1]]
    edges = sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_anchors, n_anchors))
    edges = (edges + edges.T).tocsr()
    pairs = []
    for c in range(n_anchors):
        part = slice(edges.indptr[c], edges.indptr[c + 1])
        most = np.argsort(-edges.data[part], kind="stable")[:_NEAREST]
        pairs += [(c, int(other)) for other in edges.indices[part][most]]
    row, column = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    near = sp.csr_array((np.ones(len(row)), (row, column)), shape=(n_anchors, n_anchors))
    return ((near + near.T) > 0).astype(np.float64).tocsr()
