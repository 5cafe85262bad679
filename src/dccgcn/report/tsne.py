"""t-SNE (van der Maaten & Hinton, JMLR 2008) of up to a few thousand rows, for a picture.

Affinities are those of the nearest rows only, as in its Barnes-Hut variant; repulsion sums over all pairs, which for so
few rows is faster than a tree. Starts from the first two principal components, so that it is deterministic.
"""

import numba
import numpy as np
import scipy.sparse as sp

PERPLEXITY = 30.0
ITERATIONS = 250
_EXAGGERATED = 100  # first iterations, with affinities times _EXAGGERATION and less momentum
_EXAGGERATION = 12.0
_BISECTIONS = 40  # of the precision at which a row has the perplexity


def tsne(rows: np.ndarray) -> np.ndarray:
    """(n, d) → (n, 2) float32 positions; n of at least 4, and not all rows alike."""
    n = len(rows)
    p = affinities(rows, min(PERPLEXITY, (n - 1) / 3))
    y = _principal_components(rows)
    step, gains, gradient = np.zeros_like(y), np.ones_like(y), np.empty_like(y)
    rate = max(n / _EXAGGERATION / 4, 50.0)
    for iteration in range(ITERATIONS):
        early = iteration < _EXAGGERATED
        _gradient(p.indptr, p.indices, p.data, np.float32(_EXAGGERATION if early else 1.0), y, gradient)
        gains = np.maximum(np.where(step * gradient < 0, gains + 0.2, gains * 0.8), 0.01)
        step = ((0.5 if early else 0.8) * step - rate * gains * gradient).astype(np.float32)
        y = y + step
    return y


def affinities(rows: np.ndarray, perplexity: float) -> sp.csr_array:
    """(n, n) symmetric float32 affinities that sum to 1, those of each row with 3 · perplexity nearest rows."""
    n = len(rows)
    k = min(n - 1, int(3 * perplexity + 1))
    x = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    norm = np.einsum("ij,ij->i", x, x)
    distance = np.maximum(norm[:, None] + norm - 2 * (x @ x.T), 0)
    np.fill_diagonal(distance, np.inf)
    nearest = np.argpartition(distance, k - 1, axis=1)[:, :k]
    d = np.take_along_axis(distance, nearest, axis=1)
    d -= d.min(axis=1, keepdims=True)
    low, high = np.full(n, -60.0), np.full(n, 60.0)  # logarithms of the precision
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        p = np.exp(-d * np.exp(middle)[:, None])
        p /= p.sum(axis=1, keepdims=True)
        entropy = -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1)
        too_wide = entropy > np.log(perplexity)
        low, high = np.where(too_wide, middle, low), np.where(too_wide, high, middle)
    directed = sp.csr_array((p.reshape(-1), nearest.reshape(-1), np.arange(0, n * k + 1, k)), shape=(n, n))
    both = sp.csr_array(directed + directed.T)
    return sp.csr_array((both / both.sum()).astype(np.float32))


def _principal_components(rows: np.ndarray) -> np.ndarray:
    """The first two, the first of standard deviation 1e-4; a single column gets a second of zeros."""
    x = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    direction = np.linalg.eigh(x.T @ x)[1][:, ::-1][:, :2]
    direction *= np.where(direction[np.abs(direction).argmax(axis=0), np.arange(direction.shape[1])] < 0, -1, 1)
    y = np.zeros((len(x), 2))
    y[:, : direction.shape[1]] = x @ direction
    return (y / max(y[:, 0].std(), 1e-300) * 1e-4).astype(np.float32)


@numba.njit(fastmath=True, error_model="numpy", cache=True, nogil=True)  # a check for 0/0 would prevent vectorising
def _gradient(indptr, indices, affinity, exaggeration, y, out):  # type: ignore[no-untyped-def]
    """out = the gradient of KL(P‖Q) by y, (n, 2), with P as CSR multiplied by the exaggeration."""
    n = len(y)
    x0, x1 = y[:, 0].copy(), y[:, 1].copy()
    one = np.float32(1)
    total = np.float64(0)
    for i in range(n):
        a, b, mass, f0, f1 = x0[i], x1[i], np.float32(0), np.float32(0), np.float32(0)
        for j in range(n):
            d0, d1 = a - x0[j], b - x1[j]
            q = one / (one + d0 * d0 + d1 * d1)
            mass += q
            f0 += q * q * d0
            f1 += q * q * d1
        total += mass - one  # without the row itself
        out[i, 0], out[i, 1] = f0, f1
    scale = np.float32(1 / total)
    for i in range(n):
        a0, a1 = np.float32(0), np.float32(0)
        for e in range(indptr[i], indptr[i + 1]):
            d0, d1 = x0[i] - x0[indices[e]], x1[i] - x1[indices[e]]
            w = affinity[e] / (one + d0 * d0 + d1 * d1)
            a0 += w * d0
            a1 += w * d1
        out[i, 0] = 4 * (exaggeration * a0 - scale * out[i, 0])
        out[i, 1] = 4 * (exaggeration * a1 - scale * out[i, 1])
