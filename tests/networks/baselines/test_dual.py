"""DGCN, ConfGCN and AM-GCN: each against its literal version, and on degenerate graphs."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dccgcn.features import topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Task
from dccgcn.networks.baselines import am_gcn, confgcn, dgcn
from dccgcn.networks.training import seeded
from helpers import literal_dual

TRAIN = np.array([0, 1, 2, 6, 7, 9])


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    return NodeGraph(np.abs(rng.normal(size=(15, 6))), rng.integers(0, 14, (25, 2)), np.arange(15) % 3)


@pytest.mark.parametrize("length", [2, 3])
def test_walks_cooccur_as_often_as_expected(length):
    adjacency = np.zeros((5, 5))  # a triangle with a tail, and a node alone
    for u, v in ((0, 1), (1, 2), (0, 2), (2, 3)):
        adjacency[u, v] = adjacency[v, u] = 1
    matrix = sp.csr_array(adjacency + np.eye(5))
    found = dgcn.cooccurrence_counts(matrix, 40_000, length, np.random.default_rng(0)).toarray()
    expected = literal_dual.expected_counts(adjacency, 40_000, length)
    assert (found == found.T).all()
    np.testing.assert_allclose(found, expected, rtol=0.04)


def test_ppmi_is_the_formula(graph):
    counts = dgcn.cooccurrence_counts(topology_operator(graph, "none").matrix, 20, 2, np.random.default_rng(1))
    assert dgcn.ppmi(sp.csr_array(np.ones((3, 3)))).nnz == 0  # all co-occur equally often
    expected = literal_dual.ppmi(counts.toarray())
    np.testing.assert_allclose(dgcn.ppmi(counts).toarray(), expected, atol=1e-9)
    degree = expected.sum(1)
    scaled = expected / np.sqrt(np.outer(degree, degree))
    np.testing.assert_allclose(dgcn.symmetric_normalise(dgcn.ppmi(counts)).toarray(), scaled, atol=1e-6)


def test_the_weight_of_agreement_ramps_up():
    assert dgcn.ramp_up(0, 2.0, 120) == pytest.approx(2 * np.exp(-5))
    assert dgcn.ramp_up(60, 2.0, 120) == pytest.approx(2 * np.exp(-1.25))
    assert dgcn.ramp_up(120, 2.0, 120) == dgcn.ramp_up(300, 2.0, 120) == 2.0


@pytest.mark.parametrize(
    "options",
    [{}, {"supervised": "cross-entropy", "optimiser": "adam", "weight_decay": 0.01, "output_activation": False}],
)
def test_dgcn_trains_as_dense_matrices_do(graph, options):
    s = dgcn.DgcnSettings(dropout=0, epochs=30, ramp_up=20, hidden=8, features="unit", **options)
    prediction = dgcn.METHOD.fit(Task(graph, TRAIN, 4), s)
    matrix = topology_operator(graph, "none").matrix
    counts = dgcn.cooccurrence_counts(matrix, s.walks, s.walk_length, np.random.default_rng(4)).toarray()
    z_a, z_p = literal_dual.dgcn(graph, TRAIN, s, 4, counts)
    np.testing.assert_allclose(prediction.probabilities, z_a, atol=1e-4)
    np.testing.assert_allclose(prediction.channels["ppmi"], z_p, atol=1e-4)


# ConfGCN

EVERY_TERM = {"l_smooth": 0.3, "l_label": 0.7, "l_const": 0.5, "l_reg": 0.9, "gamma": 2.0, "bias": 0.4, "l2": 0.3}


@pytest.mark.parametrize("options", [{}, EVERY_TERM, {**EVERY_TERM, "activation": True}])
def test_confgcn_trains_as_dense_matrices_do(graph, options):
    s = confgcn.ConfGcnSettings(dropout=0, epochs=30, hidden=8, lr=0.05, **options)
    found = confgcn.METHOD.fit(Task(graph, TRAIN, 4), s).probabilities
    np.testing.assert_allclose(found, literal_dual.confgcn(graph, TRAIN, s, 4), atol=1e-4)


@pytest.mark.parametrize(
    ("quick", "slow"), [(am_gcn.hsic, literal_dual.hsic), (am_gcn.gram_difference, literal_dual.gram_difference)]
)
def test_losses_without_n_by_n_matrices_are_the_same(quick, slow):
    rng = np.random.default_rng(0)
    pairs = [[torch.from_numpy(rng.normal(size=(40, 7)) + 1).requires_grad_() for _ in range(2)] for _ in range(2)]
    for z, twin in zip(*pairs, strict=True):
        twin.data = z.data.clone()
    found, expected = quick(*pairs[0]), slow(*pairs[1])
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    found.backward()
    expected.backward()
    for z, twin in zip(*pairs, strict=True):
        torch.testing.assert_close(z.grad, twin.grad, rtol=1e-8, atol=1e-12)


def test_the_gram_difference_vanishes_in_single_precision_where_the_embeddings_agree():
    z = torch.from_numpy(np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32))
    assert abs(am_gcn.gram_difference(z, 3 * z)) < 1e-6


def test_later_neighbours_are_half_of_the_feature_graph(graph):
    found = am_gcn.later_neighbours(graph, 3)
    expected = literal_dual.later_neighbours(graph.features, 3)
    assert (found.adjacency.toarray() == expected).all()
    np.testing.assert_allclose(found.matrix.toarray().sum(1), 1, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"feature_edges": "either", "features": "row", "beta": 0}])
def test_am_gcn_trains_as_dense_matrices_do(graph, options):
    s = am_gcn.AmGcnSettings(
        **{"hidden1": 12, "hidden2": 6, "k": 3, "dropout": 0, "lr": 0.01, "beta": 0.5, "theta": 0.2, **options}
    )
    with seeded(4):
        start = dict(am_gcn.AmGcn(Task(graph, TRAIN), s).named_parameters())
    found = am_gcn.METHOD.fit(Task(graph, TRAIN, 4), s).probabilities
    np.testing.assert_allclose(found, literal_dual.am_gcn(graph, TRAIN, s, start), atol=1e-4)


# All three

# The benchmark of GCN itself
