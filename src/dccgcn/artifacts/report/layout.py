"""Places for the nodes of a map: edges pull, all nodes push one another away, and the steps get smaller."""

import numba
import numpy as np
import scipy.sparse as sp

ITERATIONS = 160
GRAVITY = 0.06  # keeps components that no edge ties to the others in sight


def force_layout(adjacency: sp.csr_array, seed: int = 0) -> np.ndarray:
    """(n, 2) positions in [0, 1]. The pushes are summed over all pairs, so this is for some thousand nodes."""
    n = adjacency.shape[0]
    links = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    degree = np.asarray(links.sum(axis=1)).reshape(-1)
    mass = 1 + np.sqrt(degree)
    place = _start(links, degree, seed) * np.sqrt(n)
    push = np.empty_like(place)
    warmest = 0.1 * np.sqrt(n)
    for step in range(ITERATIONS):
        _repel(place, mass, push)
        force = push + links @ place - degree[:, None] * place - GRAVITY * mass[:, None] * place
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-12)
        warmth = warmest * (1 - step / ITERATIONS) ** 2 + 1e-3
        place += force / length * np.minimum(length / (1 + degree[:, None]), warmth)
    low, high = place.min(axis=0), place.max(axis=0)
    return (place - low) / np.maximum((high - low).max(), 1e-12)


def _start(links: sp.csr_array, degree: np.ndarray, seed: int) -> np.ndarray:
    """Random places, smoothed along the edges and spread out again by rank: neighbours begin near one another."""
    place = np.random.default_rng(seed).normal(size=(len(degree), 2))
    for _ in range(30):
        place = (place + links @ place) / (1 + degree[:, None])
    return place.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") / max(len(degree) - 1, 1) - 0.5


@numba.njit(parallel=True, fastmath=True, cache=True, nogil=True)
def _repel(place, mass, push):  # type: ignore[no-untyped-def]
    for i in numba.prange(len(place)):
        x = y = 0.0
        for j in range(len(place)):
            dx, dy = place[i, 0] - place[j, 0], place[i, 1] - place[j, 1]
            s = mass[j] / (dx * dx + dy * dy + 0.01)  # two nodes in one place push nobody to infinity
            x += dx * s
            y += dy * s
        push[i, 0] = x * mass[i]
        push[i, 1] = y * mass[i]
