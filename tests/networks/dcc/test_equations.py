"""Each equation of Section 3 against its literal form."""

import numpy as np
import pytest
import torch

from dccgcn.features import hop_blocks, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.networks.autograd import dropout_key
from dccgcn.networks.autograd.dropout_ops import keep_mask
from dccgcn.networks.dcc import equations
from dccgcn.networks.dcc.equations import (
    calibrate_all,
    distance,
    influence,
)
from dccgcn.networks.layers import ReceptiveField, TorchOperator, TwoLayerGcn
from helpers import literal

N, C = 25, 3
KINDS = [("softmax", "normalised"), ("inverse", "normalised"), ("inverse", "plain")]


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, N - 2, (35, 2))  # the last two nodes have no edge
    return NodeGraph(rng.normal(size=(N, 6)), edges, edge_weights=rng.uniform(0.5, 2, 35))


@pytest.fixture(scope="module")
def operator(graph):
    return TorchOperator.of(topology_operator(graph, "symmetric"))


@pytest.fixture
def labels_of_nodes():
    """μ and Σ⁻¹ in double precision."""
    rng = np.random.default_rng(1)
    return torch.from_numpy(rng.normal(size=(N, C))), torch.from_numpy(rng.uniform(0.2, 3, (N, C)))


def rows_of(pattern):
    return [range(pattern.indptr[v], pattern.indptr[v + 1]) for v in range(pattern.shape[0])]


def test_eq_5_distance(operator, labels_of_nodes):
    mu, s = labels_of_nodes
    d = distance(operator.pattern, mu, s)
    for e, (v, u) in enumerate(zip(operator.pattern.rows, operator.pattern.cols, strict=True)):
        assert float(d[e]) == pytest.approx(literal.distance(mu[u], s[u], mu[v], s[v]), abs=1e-12)
        assert v != u or d[e] == 0


@pytest.mark.parametrize("kind", ["softmax", "inverse"])
@pytest.mark.parametrize("bias", [0.01, 1.0])
def test_influence(operator, labels_of_nodes, kind, bias):
    d = distance(operator.pattern, *labels_of_nodes)
    r = influence(operator.pattern, d, kind, bias)
    for entries in rows_of(operator.pattern):
        np.testing.assert_allclose(r[list(entries)], literal.influence(d[list(entries)].tolist(), kind, bias))


@pytest.mark.parametrize("kind", ["softmax", "inverse"])
def test_row_33_influence_is_finite_where_the_distance_is_nothing(operator, kind):
    mu = torch.ones(N, C, requires_grad=True)
    s = torch.ones(N, C, requires_grad=True)
    r = influence(operator.pattern, distance(operator.pattern, mu, s), kind, 0.1)
    r.sum().backward()
    assert r.isfinite().all()
    assert mu.grad.isfinite().all()
    assert s.grad.isfinite().all()
    if kind == "inverse":
        torch.testing.assert_close(r, torch.full_like(r, 10))


@pytest.mark.parametrize("activation", [False, True])
@pytest.mark.parametrize("dropout_at", [None, (3, 7, 1)], ids=["evaluation", "training"])
def test_eq_6_channel(graph, operator, labels_of_nodes, activation, dropout_at):
    channel = TwoLayerGcn(graph.d, 5, 4, dropout=0.5, output_activation=activation).train(dropout_at is not None)
    weights = (
        influence(operator.pattern, distance(operator.pattern, *labels_of_nodes), "inverse", 1.0).float()
        * operator.alpha
    )
    found = channel(ReceptiveField.of(graph, "raw", operator, np.arange(N)), weights, dropout_at or (0, 0, 0)).detach()

    def dropped(h, site):
        if dropout_at is None:
            return h
        return h * keep_mask(torch.from_numpy(h), 0.5, dropout_key(*dropout_at[:2], site)).numpy() * 2

    def layer(h, theta):
        rows = []
        for v in range(N):
            row = np.zeros(theta.shape[1])
            for e in range(operator.pattern.indptr[v], operator.pattern.indptr[v + 1]):
                row += float(weights[e]) * (h[operator.pattern.indices[e]] @ theta)
            rows.append(row)
        return np.array(rows)

    theta1, theta2 = (theta.detach().double().numpy() for theta in (channel.theta1, channel.theta2))
    h1 = np.maximum(layer(dropped(graph.features.astype(float), 2), theta1), 0)
    h2 = layer(dropped(h1, 3), theta2)
    np.testing.assert_allclose(found, np.maximum(h2, 0) if activation else h2, rtol=1e-4, atol=1e-5)


@pytest.fixture(params=[0.0, 0.3, 0.7, 1.0], ids=lambda share: f"{share:.0%} high")
def high(request):
    drawn = torch.from_numpy(np.random.default_rng(2).random(N) < request.param)
    if 0 < request.param < 1:
        drawn[-2:] = torch.tensor([True, False])  # of the two nodes without an edge, one is to be corrected
    return drawn


@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("bias", [1e-9, 0.5])
@pytest.mark.parametrize(("kind", "total"), KINDS)
def test_eq_7_calibration(graph, labels_of_nodes, high, m, bias, kind, total):
    mu, s = labels_of_nodes
    h = torch.from_numpy(np.random.default_rng(3).normal(size=(N, 5)))
    z, corrected = calibrate_all(graph.adjacency, m, h, mu, s, high, kind, bias, total)
    dense = graph.adjacency.toarray()
    arrays = (t.numpy() for t in (h, mu, s, high))
    expected, changed = literal.calibrated(dense, m, *arrays, kind, bias, total)
    np.testing.assert_allclose(z, expected, rtol=1e-10)
    assert corrected.tolist() == changed.tolist()
    assert z.isfinite().all()
    assert torch.equal(z[~corrected], h[~corrected])  # high-confidence, or no high-confidence neighbour
    assert not corrected[-2:].any()
    assert torch.equal(h, torch.from_numpy(np.random.default_rng(3).normal(size=(N, 5))))  # left as given


@pytest.mark.parametrize("max_entries", [1, 9, 50])
@pytest.mark.parametrize(("kind", "total"), KINDS)
def test_calibration_in_blocks_is_calibration(monkeypatch, graph, labels_of_nodes, max_entries, kind, total):
    high = torch.arange(N) % 3 == 0
    h = torch.from_numpy(np.random.default_rng(3).normal(size=(N, 5)))
    arguments = graph.adjacency, 2, h, *labels_of_nodes, high, kind, 0.5, total
    whole = calibrate_all(*arguments)
    calls = []

    def small(*args):
        for block in hop_blocks(*args, max_entries=max_entries):
            calls.append(block)
            yield block

    monkeypatch.setattr(equations, "hop_blocks", small)
    blocks = calibrate_all(*arguments)
    assert len(calls) > 1
    assert torch.equal(blocks[0], whole[0])
    assert torch.equal(blocks[1], whole[1])
