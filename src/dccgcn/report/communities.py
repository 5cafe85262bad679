"""Communities of a graph by the Louvain method: groups of nodes with many edges among them.

Blondel et al., "Fast unfolding of communities in large networks" (2008). Nodes move one by one to the neighbouring
community that raises the modularity most; then each community becomes one node, and the same is done again.
"""

import numba
import numpy as np
import scipy.sparse as sp

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
