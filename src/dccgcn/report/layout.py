"""Force-directed layout of the map: edges attract, all pairs of nodes repel, and steps shrink over time."""

import numba
import numpy as np
import scipy.sparse as sp

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
