"""Filters and embeddings (C1, C2) against dense matrices and their singular vectors."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn import NodeGraph
from dccgcn.models.concord.spectral_features import (
    Filter,
    block_krylov_svd,
    fit_structural,
    fit_svd,
    identity_filter,
    idf,
    orthonormal,
    project,
    project_structural,
    scarcity,
    spectral_reweight,
    ssgc_filter,
    two_hop_filter,
)
from dccgcn.operators import topology_operator
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
    return partial(ssgc_filter, operator=topology_operator(graph, "symmetric"), n_steps=4, alpha=0.05)


def two_hop(graph: NodeGraph, n_steps: int) -> Filter:
    return partial(two_hop_filter, operator=topology_operator(graph, "symmetric"), n_steps=n_steps, alpha=0.05)


@pytest.mark.parametrize("unit", [None, 1e4, 1e-4])
def test_filters_are_their_polynomials(graph: NodeGraph, unit: float | None) -> None:
    if unit is not None:
        weights = unit * np.random.default_rng(1).uniform(0.5, 2, len(graph.edges))
        graph = NodeGraph(graph.features, graph.edges, graph.labels, edge_weights=weights)
    h = RNG.standard_normal((graph.n, 5)).astype(np.float32)
    s, n = with_loops(graph), without_loops(graph)
    np.testing.assert_allclose(ssgc(graph)(h), dense_filter(s, 4, 0.05) @ h, atol=1e-5)
    np.testing.assert_allclose(two_hop(graph, 3)(h), dense_filter(n @ n, 3, 0.05) @ h, atol=1e-5)
    assert identity_filter(h) is h


def test_embedding_is_the_centred_svd(graph: NodeGraph) -> None:
    x = graph.features
    h = dense_filter(with_loops(graph), 4, 0.05) @ x.toarray()
    u, s, _ = np.linalg.svd(h - h.mean(axis=0), full_matrices=False)
    z = u[:, :5] * s[:5]
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    ours = fit_svd(ssgc(graph), x, 5)
    np.testing.assert_allclose(ours.z @ ours.z.T, z @ z.T, atol=1e-3)  # signs are free
    np.testing.assert_allclose(project(ssgc(graph), x, ours).z, ours.z, atol=1e-6)


def test_structural_embedding_is_the_centred_svd_of_the_filter(graph: NodeGraph) -> None:
    size, n = np.bincount(graph.component)[graph.component], without_loops(graph)
    h = dense_filter(n @ n, 2, 0.05) * (size / (size + graph.n / 20))
    h -= h.mean(axis=0)
    exact = np.linalg.svd(h)[1][:8]
    ours = fit_structural(two_hop(graph, 2), graph.component, 8)
    v = ours.components / (size / (size + graph.n / 20))[:, None]
    np.testing.assert_allclose(v.T @ v, np.eye(8), atol=1e-4)
    assert np.square(h @ v).sum() > 0.999 * np.square(exact).sum()
    z = h @ v
    np.testing.assert_allclose(ours.z, z / np.linalg.norm(z, axis=1, keepdims=True), atol=1e-4)
    np.testing.assert_allclose(project_structural(two_hop(graph, 2), graph.n, ours).z, ours.z, atol=1e-5)


def test_small_components_take_no_singular_vector() -> None:
    whole = blocks(300)
    pairs = np.arange(300, 400).reshape(-1, 2)
    graph = NodeGraph(np.ones((400, 1)), np.concatenate([whole.edges, pairs]), featureless=True)
    part = fit_structural(two_hop(graph, 8), graph.component, 8)
    assert np.abs(part.components[300:]).max() < 0.01 * np.abs(part.components).max()


@pytest.mark.parametrize("shape", [(300, 80), (80, 300), (300, 6)])
def test_block_krylov_svd_against_a_dense_svd(shape: tuple[int, int]) -> None:
    a = (RNG.standard_normal(shape) * 0.9 ** np.arange(shape[1])).astype(np.float32)  # no gap anywhere
    exact = np.linalg.svd(a, full_matrices=False)[1][:20]
    ours = block_krylov_svd(lambda m: a @ m, lambda m: a.T @ m, shape, 20)
    np.testing.assert_allclose(ours.T @ ours, np.eye(len(exact)), atol=1e-4)
    assert np.square(a @ ours).sum() > 0.999 * np.square(exact).sum()


def test_the_svd_of_a_zero_matrix_is_zero() -> None:
    none = np.zeros((30, 40), np.float32)
    assert not block_krylov_svd(lambda m: none @ m, lambda m: none.T @ m, none.shape, 5).any()


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


def test_orthonormal_basis_of_a_rank_deficient_matrix() -> None:
    m = RNG.standard_normal((50, 2)).astype(np.float32) @ RNG.standard_normal((2, 6)).astype(np.float32)
    q = orthonormal(m)
    kept = np.linalg.svd(q, compute_uv=False)[:2]
    np.testing.assert_allclose(kept, 1, atol=1e-3)  # rank two
    assert np.isfinite(orthonormal(np.zeros((5, 3), np.float32))).all()
