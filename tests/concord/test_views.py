"""Views of the nodes against literal versions."""

import numpy as np
import pytest

from dccgcn import NodeGraph
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.views import MEANING, N_OWN, precompute
from helpers.groups import blocks, many_words

RNG = np.random.default_rng(3)
NAMES = ["own", "hop1", "hop2", "propagated", "structure", "similar", "sizes"]


def neighbour_mean(graph: NodeGraph, h: np.ndarray) -> np.ndarray:
    a = graph.adjacency.toarray().astype(float)
    return np.array([row @ h / row.sum() if row.any() else 0 * h[0] for row in a])


def unit(h: np.ndarray) -> np.ndarray:
    return np.array([row / np.linalg.norm(row) if row.any() else row for row in h])


def standard(h: np.ndarray) -> np.ndarray:
    columns = [(column - column.mean()) / column.std() for column in h.T if column.std() > 1e-6]
    return np.column_stack(columns) / np.sqrt(len(columns))


def views(graph: NodeGraph) -> dict[str, np.ndarray]:
    inputs = precompute(graph, ConcordSettings())
    return {name: embedding.z for name, embedding in inputs.projections.embeddings.items()}


def test_hops_average_the_leading_directions_of_tf_idf() -> None:
    graph = many_words()
    x = graph.features.toarray().astype(float)
    x = unit(x * (np.log((1 + graph.n) / (1 + (x != 0).sum(axis=0))) + 1))
    centred = x - x.mean(axis=0)
    v = np.linalg.svd(centred, full_matrices=False)[2][:N_OWN].T
    u = centred @ v
    found = views(graph)
    assert list(found) == NAMES
    for name, expected in (
        ("own", u),
        ("hop1", neighbour_mean(graph, u)),
        ("hop2", neighbour_mean(graph, neighbour_mean(graph, u))),
    ):
        z = unit(expected)
        np.testing.assert_allclose(found[name] @ found[name].T, z @ z.T, atol=0.02)  # signs of directions are free
    assert not found["hop1"][5].any()


def test_few_columns_are_standardised_before_and_after_averaging() -> None:
    x = np.column_stack([RNG.normal(50, 9, 90), RNG.random(90) < 0.3, np.full(90, 7.0), RNG.normal(0, 1e-3, 90)])
    graph = NodeGraph(x, blocks(90).edges, blocks(90).labels)
    found = views(graph)
    kept = [0, 1, 3]  # column 2 is constant
    np.testing.assert_allclose(found["own"][:, kept], standard(x), atol=1e-4)
    assert not found["own"][:, 2].any()
    np.testing.assert_allclose(found["hop1"][:, kept], standard(neighbour_mean(graph, standard(x))), atol=1e-3)


def test_sizes_are_log_degree_and_mass_and_their_means() -> None:
    graph = many_words()
    mass = graph.features.toarray().sum(axis=1)
    own = np.column_stack([np.log1p(graph.degree), np.log1p(mass)])
    expected = standard(np.hstack([own, neighbour_mean(graph, own)]))
    np.testing.assert_allclose(views(graph)["sizes"], np.clip(expected, -1.5, 1.5), atol=1e-4)


@pytest.mark.parametrize("few", [False, True])
def test_sparse_and_dense_storage_give_the_same_views(few: bool) -> None:
    graph = blocks(90) if few else many_words()
    dense = NodeGraph(graph.features.toarray(), graph.edges, graph.labels)
    for (name, one), other in zip(views(graph).items(), views(dense).values(), strict=True):
        np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-3, err_msg=name)


def test_nodes_without_neighbours_in_the_feature_graph_keep_their_own() -> None:
    x = np.zeros((5, 200))
    x[:3, :2] = 1
    graph = NodeGraph(x, [(0, 1), (3, 4)], [0, 1, 0, 1, 0])
    mean = precompute(graph, ConcordSettings()).feature_mean.toarray()
    np.testing.assert_allclose(mean.sum(axis=1), 1)
    np.testing.assert_array_equal(mean[3:], np.eye(5)[3:])


def test_each_relation_and_direction_has_views_of_its_own() -> None:
    graph = blocks(90)
    half = len(graph.edges) // 2
    relations = {"a": graph.edges[:half], "b": graph.edges[half:]}
    both = precompute(graph.with_relations(relations), ConcordSettings())
    hops, spectral = ("hop1", "hop2"), ("propagated", "structure")
    expected = ["own", *(f"{r}.{v}" for v in (*hops, *spectral) for r in "ab"), "similar", "sizes"]
    assert list(both.projections.embeddings) == expected
    alone = NodeGraph(graph.features, relations["a"], graph.labels)
    for name in (*hops, *spectral):
        z = both.projections.embeddings[f"a.{name}"].z
        np.testing.assert_allclose(z @ z.T, views(alone)[name] @ views(alone)[name].T, atol=1e-3, err_msg=name)
    assert both.projections.embeddings["sizes"].z.shape == (90, 6)
    one_way = graph.with_relations({"a": graph.edges}, directed=True)
    directed = precompute(one_way, ConcordSettings()).projections.embeddings
    names = ["own", "a.out.hop1", "a.in.hop1", "a.out.hop2", "a.in.hop2", "a.propagated", "a.structure"]
    assert list(directed) == [*names, "similar", "sizes"]
    reverse = graph.with_relations({"a": graph.edges[:, ::-1]}, directed=True)
    other = precompute(reverse, ConcordSettings()).projections.embeddings
    np.testing.assert_allclose(other["a.in.hop1"].z, directed["a.out.hop1"].z, atol=1e-6)
    np.testing.assert_allclose(other["a.propagated"].z, directed["a.propagated"].z, atol=1e-5)


@pytest.mark.parametrize("width", [16, 200])
def test_views_of_vectors_stand_beside_those_of_features(width):
    rng = np.random.default_rng(0)
    classes = np.arange(240) % 3
    edges = [(i, (i + step) % 240) for i in range(240) for step in (3, 7)]
    vectors = (rng.normal(size=(3, width))[classes] + rng.normal(size=(240, width))).astype(np.float32)
    words = NodeGraph(rng.random((240, 30)), edges, classes)
    alone = precompute(words, ConcordSettings()).projections.embeddings
    both = precompute(words.with_vectors(vectors), ConcordSettings()).projections.embeddings
    for name, view in alone.items():
        np.testing.assert_array_equal(both[name].z, view.z)
    assert both.keys() - alone.keys() == {MEANING + name for name in ("own", "hop1", "hop2", "propagated", "similar")}
    centred = vectors - vectors.mean(axis=0)
    if width == 200:  # of unit rows, in their leading directions
        x = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        centred = (x - x.mean(axis=0)) @ both[MEANING + "own"].components
    literal, ours = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (centred, both[MEANING + "own"].z))
    if width == 200:
        np.testing.assert_allclose(ours, literal, atol=1e-4)
    else:  # few columns are standardised
        np.testing.assert_allclose(both[MEANING + "own"].z, centred / centred.std(axis=0) / 4, atol=1e-4)
