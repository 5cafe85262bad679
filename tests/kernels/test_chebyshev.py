"""Filters as sums of Chebyshev polynomials, against dense ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.polynomial import chebyshev

from dccgcn.kernels.chebyshev import ChebyshevFilter

N = 9


def adjacency(weight: str) -> np.ndarray:
    """Nodes of every degree from 0 to more than 4, so that rows of each length modulo 4 occur."""
    a = np.triu(np.add.outer(np.arange(N), np.arange(N)) > N, 1)
    a = (a | a.T).astype(np.float32)
    if weight == "random":
        factors = np.random.default_rng(0).uniform(0.5, 2, (N, N)).astype(np.float32)
        a *= factors + factors.T
    return a * (3 if weight == "equal" else 1)


@pytest.mark.parametrize("loops", [0.0, 2.0])
@pytest.mark.parametrize("weight", ["one", "equal", "random"])
def test_a_filter_is_its_polynomial(weight: str, loops: float) -> None:
    a, coefficients = adjacency(weight), np.array([0.3, -0.5, 0.25, 0.7])
    scale = (1 / np.sqrt(a.sum(axis=1) + loops + 1)).astype(np.float32)
    s = scale[:, None] * (a + loops * np.eye(N)) * scale
    values, vectors = np.linalg.eigh(s)
    h = np.random.default_rng(1).normal(size=(N, 5)).astype(np.float32)
    expected = vectors @ np.diag(chebyshev.chebval(values, coefficients)) @ vectors.T @ h
    assert sorted({int(n) % 4 for n in (a > 0).sum(axis=1)}) == [0, 1, 2, 3]
    apply = ChebyshevFilter(sp.csr_array(a), scale, loops, coefficients)
    np.testing.assert_allclose(apply(h.copy()), expected, atol=1e-5)
    np.testing.assert_allclose(apply(h[:, :2].copy()), expected[:, :2], atol=1e-5)  # with the buffers of the first


def test_columns_are_filtered_in_blocks_that_fit_the_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    h = np.random.default_rng(1).normal(size=(N, 5)).astype(np.float32)
    apply = ChebyshevFilter(sp.csr_array(adjacency("one")), np.full(N, 0.3, np.float32), 1.0, np.ones(3))
    at_once = apply(h.copy())
    monkeypatch.setattr("dccgcn.kernels.chebyshev.BUFFER_BYTES", 4 * N * 2)
    np.testing.assert_array_equal(apply(h.copy()), at_once)
