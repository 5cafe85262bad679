"""Filters and embeddings (C1, C2) against dense matrices and their singular vectors."""

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn import NodeGraph
from dccgcn.concord.views import component_sizes
from dccgcn.features import topology_operator
from dccgcn.features.embedding import (
    FILTER_TOL,
    Filter,
    chebyshev_coefficients,
    fit_structural,
    fit_svd,
    identity_filter,
    idf,
    project,
    project_structural,
    scarcity,
    spectral_reweight,
    ssgc_filter,
    two_hop_filter,
)
from dccgcn.features.svd import block_krylov_svd, fix_signs, leading_eigenvectors, orthonormal
from helpers.groups import blocks

RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def graph() -> NodeGraph:
    return blocks()


def dense_filter(s: np.ndarray, n_steps: int, alpha: float) -> np.ndarray:
    """p(S) of (C1), written out."""
    powers = [np.linalg.matrix_power(s, k) for k in range(1, n_steps + 1)]
    return alpha * np.eye(len(s)) + (1 - alpha) / n_steps * sum(powers)


def with_loops(graph: NodeGraph) -> np.ndarray:
    return topology_operator(graph, "symmetric").matrix.toarray().astype(float)


def without_loops(graph: NodeGraph) -> np.ndarray:
    a = graph.adjacency.toarray().astype(float)
    degree = a.sum(axis=1)
    root = np.array([1 / np.sqrt(d) if d > 0 else 0 for d in degree])
    return root[:, None] * a * root


def ssgc(graph: NodeGraph) -> Filter:
    return ssgc_filter(topology_operator(graph, "symmetric"), 4, 0.05)


def two_hop(graph: NodeGraph, n_steps: int) -> Filter:
    return two_hop_filter(topology_operator(graph, "symmetric"), n_steps, 0.05)


@pytest.mark.parametrize("unit", [None, 1e4, 1e-4])
@pytest.mark.parametrize("tolerance", [0, FILTER_TOL])
def test_filters_are_their_polynomials(
    graph: NodeGraph, unit: float | None, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dccgcn.features.embedding.FILTER_TOL", tolerance)
    monkeypatch.setattr("dccgcn.kernels.chebyshev.BUFFER_BYTES", 8 * graph.n)  # two columns at a time
    pairs = np.arange(graph.n, graph.n + 4).reshape(-1, 2)  # a pair, and an isolated node
    edges, n = np.concatenate([graph.edges, pairs[:1]]), graph.n + 3
    weights = None if unit is None else unit * np.random.default_rng(1).uniform(0.5, 2, len(edges))
    graph = NodeGraph(np.ones((n, 1)), edges, edge_weights=weights, featureless=True)
    h = RNG.standard_normal((graph.n, 5)).astype(np.float32)
    s, n = with_loops(graph), without_loops(graph)
    for filtered, exact in ((ssgc(graph), dense_filter(s, 4, 0.05)), (two_hop(graph, 3), dense_filter(n @ n, 3, 0.05))):
        error = filtered(np.eye(graph.n, dtype=np.float32)) - exact
        assert np.linalg.norm(error, 2) <= tolerance + 1e-4
        np.testing.assert_allclose(filtered(h.copy()), filtered(np.eye(graph.n, dtype=np.float32)) @ h, atol=1e-4)
    assert identity_filter(h) is h


@pytest.mark.parametrize(("hops", "degree"), [(1, 5), (2, 8)])
def test_a_polynomial_of_eight_steps_is_nearly_one_of_a_lower_degree(hops: int, degree: int) -> None:
    c = chebyshev_coefficients(8, 0.05, hops)
    assert len(c) == degree + 1
    eigenvalue = np.linspace(-1, 1, 1001)
    exact = 0.05 + 0.95 / 8 * sum(eigenvalue ** (k * hops) for k in range(1, 9))
    assert np.abs(np.polynomial.chebyshev.chebval(eigenvalue, c) - exact).max() <= FILTER_TOL


@pytest.mark.parametrize("name", ["identity", "ssgc"])
@pytest.mark.parametrize("sparse", [True, False])
def test_embedding_is_the_centred_svd(graph: NodeGraph, name: str, sparse: bool) -> None:
    x = graph.features if sparse else graph.features.toarray()
    apply_filter = identity_filter if name == "identity" else ssgc(graph)
    h = graph.features.toarray() if name == "identity" else dense_filter(with_loops(graph), 4, 0.05) @ x
    h = h - h.mean(axis=0)
    ours = fit_svd(apply_filter, x, 5)
    check_embedding(h, ours.components, ours.z, 0.999 if name == "identity" else 0.98)
    np.testing.assert_allclose(project(apply_filter, x, ours).z, ours.z, atol=1e-5)


def check_embedding(h: np.ndarray, v: np.ndarray, z: np.ndarray, share: float) -> None:
    """V is orthonormal and has a share of what the best V of its rank has; Z are the unit rows of H V."""
    np.testing.assert_allclose(v.T @ v, np.eye(v.shape[1]), atol=1e-4)
    best = np.square(np.linalg.svd(h, compute_uv=False)[: v.shape[1]]).sum()
    assert np.square(h @ v).sum() > share * best
    expected = h @ v / np.linalg.norm(h @ v, axis=1, keepdims=True)
    np.testing.assert_allclose(z, expected, atol=0.05)  # p is approximate
    assert np.abs(z - expected).mean() < 0.01


def test_structural_embedding_is_the_centred_svd_of_the_filter(graph: NodeGraph) -> None:
    size, n = np.bincount(graph.component)[graph.component], without_loops(graph)
    weights = size / (size + graph.n / 20)
    h = dense_filter(n @ n, 2, 0.05) * weights
    ours = fit_structural(two_hop(graph, 2), size, 8)
    # the spectrum of so small a graph is flat; what is lost are directions that hardly differ from those found
    check_embedding(h - h.mean(axis=0), ours.components / weights[:, None], ours.z, 0.95)
    np.testing.assert_allclose(project_structural(two_hop(graph, 2), graph.n, ours).z, ours.z, atol=1e-5)


def test_small_components_take_no_singular_vector() -> None:
    whole = blocks(300)
    pairs = np.arange(300, 400).reshape(-1, 2)
    graph = NodeGraph(np.ones((400, 1)), np.concatenate([whole.edges, pairs]), featureless=True)
    part = fit_structural(two_hop(graph, 8), component_sizes(graph, topology_operator(graph, "symmetric")), 8)
    assert np.abs(part.components[300:]).max() < 0.01 * np.abs(part.components).max()


@pytest.mark.parametrize("shape", [(300, 80), (80, 300), (300, 6)])
def test_block_krylov_svd_against_a_dense_svd(shape: tuple[int, int]) -> None:
    a = (RNG.standard_normal(shape) * 0.9 ** np.arange(shape[1])).astype(np.float32)  # no gap anywhere
    exact = np.linalg.svd(a, full_matrices=False)[1][:20]
    ours = block_krylov_svd(lambda m: a @ m, lambda m: a.T @ m, shape, 20)
    np.testing.assert_allclose(ours.T @ ours, np.eye(len(exact)), atol=1e-4)
    assert np.square(a @ ours).sum() > 0.999 * np.square(exact).sum()
    assert not block_krylov_svd(lambda m: 0 * (a @ m), lambda m: 0 * (a.T @ m), shape, 5).any()


def test_scarce_labels_weight_the_leading_singular_vectors(graph: NodeGraph) -> None:
    part = fit_svd(ssgc(graph), graph.features, 5)
    assert (np.diff(part.scale) <= 0).all()
    np.testing.assert_allclose(spectral_reweight(part, 0), part.z, atol=1e-6)
    for row, reweighted in zip(part.z, spectral_reweight(part, 0.7), strict=True):
        expected = row * part.scale**0.7
        np.testing.assert_allclose(reweighted, expected / np.linalg.norm(expected), atol=1e-5)
    assert scarcity(0, 8) == 1
    assert scarcity(8, 8) == 0.5
    assert scarcity(20, 8) < scarcity(2, 8)


def test_idf_is_for_counts_only() -> None:
    counts = sp.csr_array(np.array([[1.0, 0, 2], [0, 0, 3]]))
    np.testing.assert_allclose(idf(counts), np.log(3 / np.array([2.0, 1, 3])) + 1, rtol=1e-6)
    assert idf(sp.csr_array(np.array([[0.5, 0], [0, 1]]))) is None
    assert idf(np.array([[-1.0, 0], [0, 1]])) is None


def test_the_entry_of_largest_magnitude_is_positive() -> None:
    v = np.array([[1, 3, 2], [-2, -1, -2]], dtype=np.float32)
    mix = np.eye(3, dtype=np.float32)
    fixed, mixed = fix_signs(v.copy(), mix)
    np.testing.assert_array_equal(fixed, v * [-1, 1, 1])
    np.testing.assert_array_equal(mixed, np.diag([-1, 1, 1]))
    np.testing.assert_allclose(leading_eigenvectors(np.diag([1.0, 3.0]), 1), [[0], [1]], atol=1e-7)


def test_an_orthonormal_basis_of_a_rank_deficient_matrix() -> None:
    m = RNG.standard_normal((50, 2)).astype(np.float32) @ RNG.standard_normal((2, 6)).astype(np.float32)
    np.testing.assert_allclose(np.linalg.svd(orthonormal(m), compute_uv=False)[:2], 1, atol=1e-3)  # rank two
    assert np.isfinite(orthonormal(np.zeros((5, 3), np.float32))).all()
