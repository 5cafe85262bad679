"""What a channel knows of a node (C1 to C3), against dense matrices and their singular vectors."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn import NodeGraph
from dccgcn.models.concord import groundwork
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import (
    Filter,
    in_pairs,
    itself,
    leading_directions,
    of_neighbours,
    orthonormal,
    project,
    project_ties,
    rarity,
    represent,
    represent_ties,
    scarcity,
    shortened,
    travelled,
)
from dccgcn.operators import topology_operator
from helpers.groups import blocks

RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def graph() -> NodeGraph:
    return blocks()


def dense_filter(s: np.ndarray, steps: int, own: float) -> np.ndarray:
    """p(S) of (C1), written out."""
    powers = [np.linalg.matrix_power(s, k) for k in range(1, steps + 1)]
    return own * np.eye(len(s)) + (1 - own) / steps * sum(powers)


def with_loops(graph: NodeGraph) -> np.ndarray:
    return topology_operator(graph, "symmetric").matrix.toarray().astype(float)


def without_loops(graph: NodeGraph) -> np.ndarray:
    a = graph.adjacency.toarray().astype(float)
    degree = a.sum(axis=1)
    root = np.array([1 / np.sqrt(d) if d > 0 else 0 for d in degree])
    return root[:, None] * a * root


def far(graph: NodeGraph) -> Filter:
    return partial(travelled, view=topology_operator(graph, "symmetric"), steps=4, own=0.05)


def walked(graph: NodeGraph, steps: int) -> Filter:
    return partial(in_pairs, view=topology_operator(graph, "symmetric"), steps=steps, own=0.05)


@pytest.mark.parametrize("unit", [None, 1e4, 1e-4])
def test_filters_are_their_polynomials(graph: NodeGraph, unit: float | None) -> None:
    if unit is not None:
        weights = unit * np.random.default_rng(1).uniform(0.5, 2, len(graph.edges))
        graph = NodeGraph(graph.features, graph.edges, graph.labels, edge_weights=weights)
    h = RNG.standard_normal((graph.n, 5)).astype(np.float32)
    s, n = with_loops(graph), without_loops(graph)
    np.testing.assert_allclose(far(graph)(h), dense_filter(s, 4, 0.05) @ h, atol=1e-5)
    np.testing.assert_allclose(of_neighbours(h, topology_operator(graph, "symmetric")), n @ h, atol=1e-5)
    np.testing.assert_allclose(walked(graph, 6)(h), dense_filter(n @ n, 3, 0.05) @ h, atol=1e-5)
    assert itself(h) is h


def test_representation_is_the_centred_svd(graph: NodeGraph) -> None:
    x = graph.features
    h = dense_filter(with_loops(graph), 4, 0.05) @ x.toarray()
    u, s, _ = np.linalg.svd(h - h.mean(axis=0), full_matrices=False)
    z = u[:, :5] * s[:5]
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    ours = represent(far(graph), x, 5)
    np.testing.assert_allclose(ours.z @ ours.z.T, z @ z.T, atol=1e-3)  # signs are free
    np.testing.assert_allclose(project(far(graph), x, ours).z, ours.z, atol=1e-6)


def test_ties_are_the_centred_svd_of_the_filter(graph: NodeGraph) -> None:
    size, n = np.bincount(graph.component)[graph.component], without_loops(graph)
    h = dense_filter(n @ n, 2, 0.05) * (size / (size + graph.n / 20))
    h -= h.mean(axis=0)
    exact = np.linalg.svd(h)[1][:8]
    ours = represent_ties(walked(graph, 4), graph.component, 8)
    directions = ours.basis / (size / (size + graph.n / 20))[:, None]
    np.testing.assert_allclose(directions.T @ directions, np.eye(8), atol=1e-4)
    assert np.square(h @ directions).sum() > 0.999 * np.square(exact).sum()
    z = h @ directions
    np.testing.assert_allclose(ours.z, z / np.linalg.norm(z, axis=1, keepdims=True), atol=1e-4)
    np.testing.assert_allclose(project_ties(walked(graph, 4), graph.n, ours).z, ours.z, atol=1e-5)


def test_small_components_have_no_direction_of_their_own() -> None:
    whole = blocks(300)
    pairs = np.arange(300, 400).reshape(-1, 2)
    graph = NodeGraph(np.ones((400, 1)), np.concatenate([whole.edges, pairs]), featureless=True)
    part = represent_ties(walked(graph, 16), graph.component, 8)
    assert np.abs(part.basis[300:]).max() < 0.01 * np.abs(part.basis).max()


@pytest.mark.parametrize("shape", [(300, 80), (80, 300), (300, 6)])
def test_leading_directions_are_those_of_the_svd(shape: tuple[int, int]) -> None:
    a = (RNG.standard_normal(shape) * 0.9 ** np.arange(shape[1])).astype(np.float32)  # no gap anywhere
    exact = np.linalg.svd(a, full_matrices=False)[1][:20]
    ours = leading_directions(lambda m: a @ m, lambda m: a.T @ m, shape, 20)
    np.testing.assert_allclose(ours.T @ ours, np.eye(len(exact)), atol=1e-4)
    assert np.square(a @ ours).sum() > 0.999 * np.square(exact).sum()


def test_no_direction_where_all_nodes_are_alike() -> None:
    none = np.zeros((30, 40), np.float32)
    assert not leading_directions(lambda m: none @ m, lambda m: none.T @ m, none.shape, 5).any()


def test_scarce_labels_favour_the_leading_directions(graph: NodeGraph) -> None:
    part = represent(far(graph), graph.features, 5)
    assert (np.diff(part.spread) <= 0).all()
    np.testing.assert_allclose(part.favouring(0), part.z, atol=1e-6)
    for row, favoured in zip(part.z, part.favouring(0.7), strict=True):
        expected = row * part.spread**0.7
        np.testing.assert_allclose(favoured, expected / np.linalg.norm(expected), atol=1e-5)
    assert scarcity(0, 8) == 1
    assert scarcity(8, 8) == 0.5
    assert scarcity(20, 8) < scarcity(2, 8)


def test_plentiful_labels_shorten_the_travel() -> None:
    assert shortened(16, 0.05, 1, 1) == (16, 0.05)
    assert shortened(16, 0.05, 0.5, 1) == (4, 0.29)
    assert shortened(16, 0.05, 1e-3, 1) == (1, 1.0)
    assert shortened(16, 0.05, 0.5, 0) == (16, 0.05)


def test_only_what_is_seen_from_near_depends_on_the_labels(graph: NodeGraph) -> None:
    scarce, plenty = (groundwork.representations(graph, ConcordSettings(), q) for q in (0.9, 0.3))
    assert scarce.keys() == plenty.keys()
    assert {name for name in scarce if scarce[name] is not plenty[name]} == {"topology.near"}


def test_rarity_is_for_counts_alone() -> None:
    counts = sp.csr_array(np.array([[1.0, 0, 2], [0, 0, 3]]))
    np.testing.assert_allclose(rarity(counts), np.log(3 / np.array([2.0, 1, 3])) + 1, rtol=1e-6)
    assert rarity(sp.csr_array(np.array([[0.5, 0], [0, 1]]))) is None
    assert rarity(np.array([[-1.0, 0], [0, 1]])) is None


def test_a_span_without_directions_is_no_error() -> None:
    m = RNG.standard_normal((50, 2)).astype(np.float32) @ RNG.standard_normal((2, 6)).astype(np.float32)
    q = orthonormal(m)
    kept = np.linalg.svd(q, compute_uv=False)[:2]
    np.testing.assert_allclose(kept, 1, atol=1e-3)  # two directions, and no more
    assert np.isfinite(orthonormal(np.zeros((5, 3), np.float32))).all()
