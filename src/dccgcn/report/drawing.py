"""The map of a graph: which nodes are drawn, and where, so that its communities can be seen.

Communities are those of the Louvain method: Blondel et al., "Fast unfolding of communities in large networks" (2008).
Nodes move one by one to the neighbouring community that raises the modularity most; then each community becomes one
node, and the same is done again. Positions are by forces: edges attract, all pairs of nodes repel, and steps shrink
over time.
"""

from dataclasses import dataclass

import numba
import numpy as np
import scipy.sparse as sp

from dccgcn.graph import NodeGraph

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


ITERATIONS = 160
GRAVITY = 0.06  # keeps separate components close to one another


def force_layout(adjacency: sp.csr_array) -> np.ndarray:
    """(n, 2) positions in [0, 1]. Repulsion sums over all pairs: for a few thousand nodes."""
    n = adjacency.shape[0]
    links = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    degree = np.asarray(links.sum(axis=1)).reshape(-1)
    mass = 1 + np.sqrt(degree)
    position = _start(links, degree) * np.sqrt(n)
    repulsion = np.empty((n, 2), np.float32)
    mass32 = mass.astype(np.float32)
    max_step = 0.1 * np.sqrt(n)
    for step in range(ITERATIONS):
        x, y = position.T.astype(np.float32)
        _repel(x, y, mass32, repulsion)
        force = repulsion + links @ position - degree[:, None] * position - GRAVITY * mass[:, None] * position
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-12)
        step_size = max_step * (1 - step / ITERATIONS) ** 2 + 1e-3
        position += force / length * np.minimum(length / (1 + degree[:, None]), step_size)
    return in_unit_square(position)


def in_unit_square(position: np.ndarray) -> np.ndarray:
    """(n, 2) positions moved and scaled into [0, 1], with their proportions."""
    low, high = position.min(axis=0), position.max(axis=0)
    return (position - low) / np.maximum((high - low).max(), 1e-12)


def _start(links: sp.csr_array, degree: np.ndarray) -> np.ndarray:
    """Random positions, smoothed along the edges and spread out by rank, so that neighbours start close together."""
    position = np.random.default_rng(0).normal(size=(len(degree), 2))
    for _ in range(30):
        position = (position + links @ position) / (1 + degree[:, None])
    return position.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / max(len(degree) - 1, 1) - 0.5


@numba.njit(fastmath=True, error_model="numpy", cache=True, nogil=True)  # a check for 0/0 would prevent vectorising
def _repel(x, y, mass, repulsion):  # type: ignore[no-untyped-def]
    """repulsion (n, 2) of each node from all others, from x, y and mass (n,). All float32: twice as fast as double."""
    softening = np.float32(0.01)  # finite for two nodes at the same position
    for i in range(len(x)):
        fx = fy = np.float32(0)
        for j in range(len(x)):
            dx, dy = x[i] - x[j], y[i] - y[j]
            s = mass[j] / (dx * dx + dy * dy + softening)
            fx += dx * s
            fy += dy * s
        repulsion[i, 0] = fx * mass[i]
        repulsion[i, 1] = fy * mass[i]


_ROUNDS = 10  # over all nodes, per level
_LEVELS = 10
_SMALL = 0.02  # a connected component with a smaller share of the nodes belongs to no community


def communities(adjacency: sp.csr_array, seed: int = 0) -> np.ndarray:
    """(n,) the community of each node, 0 for the largest; -1 for nodes of small connected components."""
    n = adjacency.shape[0]
    of_component = sp.csgraph.connected_components(adjacency, directed=False)[1]
    size = np.bincount(of_component, minlength=1)
    is_small = (size < max(3, _SMALL * n))[of_component]
    found = _louvain(adjacency, np.random.default_rng(seed))
    found[is_small] = -1
    kept, found[~is_small] = np.unique(found[~is_small], return_inverse=True)
    rank = np.argsort(np.argsort(-np.bincount(found[~is_small], minlength=len(kept)), kind="stable"))
    found[~is_small] = rank[found[~is_small]]
    return found


def _louvain(adjacency: sp.csr_array, rng: np.random.Generator) -> np.ndarray:
    found = np.arange(adjacency.shape[0])
    level = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    for _ in range(_LEVELS):
        n = level.shape[0]
        community = np.arange(n)
        strength = np.asarray(level.sum(axis=1)).reshape(-1)
        arrays = (level.indptr.astype(np.int64), level.indices.astype(np.int64), level.data)
        if not _move_nodes(*arrays, strength, community, rng.permutation(n), max(strength.sum(), 1.0), _ROUNDS):
            break
        names, community = np.unique(community, return_inverse=True)
        found = community[found]
        member = sp.csr_array((np.ones(n), (np.arange(n), community)), shape=(n, len(names)))
        level = (member.T @ level @ member).tocsr()
    return found


@numba.njit(cache=True, nogil=True)
def _move_nodes(indptr, indices, weight, strength, community, order, total, rounds):  # type: ignore[no-untyped-def]
    """Move nodes between communities (n,), in place; return whether any moved. total: sum of the strengths."""
    n = len(strength)
    mass = strength.copy()  # strength of each community; each node starts as one
    links = np.zeros(n)  # weight between the node and each community
    near = np.empty(n, np.int64)
    moved_any = False
    for _ in range(rounds):
        moved = 0
        for i in order:
            count = 0
            for e in range(indptr[i], indptr[i + 1]):
                c = community[indices[e]]
                if indices[e] != i:
                    if links[c] == 0:
                        near[count] = c
                        count += 1
                    links[c] += weight[e]
            own = community[i]
            mass[own] -= strength[i]
            best, gain = own, links[own] - strength[i] * mass[own] / total
            for s in range(count):
                c = near[s]
                value = links[c] - strength[i] * mass[c] / total
                if value > gain + 1e-12:
                    best, gain = c, value
            for s in range(count):
                links[near[s]] = 0
            mass[best] += strength[i]
            if best != own:
                community[i] = best
                moved += 1
        moved_any = moved_any or moved > 0
        if moved <= n // 200:
            break
    return moved_any
