"""The graph networks: each trains as its formula in dense matrices does, and accepts degenerate graphs."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Task, get_method
from dccgcn.networks.baselines import attention, grand, krylov, propagation
from dccgcn.networks.training import seeded
from helpers import literal, literal_gnn
from helpers.runs import toy

TRAIN = np.array([0, 1, 2, 6, 7, 9])


@pytest.fixture(scope="module", params=["dense", "sparse"])
def graph(request):
    rng = np.random.default_rng(0)
    x = np.abs(rng.normal(size=(15, 9)))
    if request.param == "sparse":
        x = sp.csr_array(x * (rng.random(x.shape) < 0.2) + np.eye(15, 9))
    return NodeGraph(x, rng.integers(0, 14, (25, 2)), np.arange(15) % 3)


def fit(name, graph, seed=4, **options):
    method = get_method(name)
    return method.fit(Task(graph, TRAIN, seed), method.settings.of(options))


def test_mlp_is_gcn_without_edges(graph):
    alone = NodeGraph(graph.features, np.empty((0, 2), int), graph.labels)
    found, expected = fit("mlp", graph, epochs=20), fit("gcn", alone, epochs=20)
    assert found.probabilities.tobytes() == expected.probabilities.tobytes()


def test_knn_gcn_is_gcn_on_the_nearest_neighbours(graph):
    near = literal.feature_adjacency(literal.dense_features(graph), 3)
    other = NodeGraph(graph.features, sp.csr_array(near), graph.labels)
    found, expected = fit("knn-gcn", graph, epochs=20, k=3), fit("gcn", other, epochs=20)
    assert found.probabilities.tobytes() == expected.probabilities.tobytes()


# The others against dense matrices: formula, gradient, loss and weight decay at once

# network on a graph, its logits by formula, and the parameters that are decayed (None: all)
NETWORKS = {
    "gat": (attention.Gat, literal_gnn.gat, None),
    "agnn": (attention.Agnn, literal_gnn.agnn, None),
    "appnp": (propagation.Appnp, literal_gnn.appnp, {"first.weight"}),
    "dagnn": (propagation.Dagnn, literal_gnn.dagnn, None),
    "grand": (grand.Grand, literal_gnn.grand, None),
    "krylov": (krylov.Krylov, literal_gnn.krylov, None),
}
NO_DROPOUT = {
    "grand": {"drop_node": 0, "input_dropout": 0, "hidden_dropout": 0, "order": 3},
    "gat": {"dropout": 0, "heads": 3, "hidden": 4, "output_heads": 2},
    "agnn": {"dropout": 0, "layers": 3, "first_beta": 0.5, "features": "unit"},
    "krylov": {"dropout": 0, "blocks": 4, "hidden": 300},
    "appnp": {"dropout": 0, "steps": 3, "alpha": 0.2},
    "dagnn": {"dropout": 0, "steps": 3},
}


def train_densely(name, graph, s, seed):
    """Probabilities after Adam on the formula, from the same start."""
    build, logits, decayed = NETWORKS[name]
    with seeded(seed):
        start = dict(build(Task(graph, TRAIN), s).named_parameters())
    p = {key: value.detach().double().requires_grad_() for key, value in start.items()}
    groups = [
        {"params": [value], "weight_decay": s.weight_decay if decayed is None or key in decayed else 0}
        for key, value in p.items()
    ]
    x, a = dense_inputs(graph, s.features)
    truth = torch.from_numpy(np.eye(graph.c)[graph.labels[TRAIN]])

    def loss_of(_):
        found = logits(p, x, a, s)
        loss = literal.l_cross(found[TRAIN], truth, "mean")
        if name == "grand":  # all samples are the same
            probabilities = found.softmax(1)
            sharp = probabilities.detach() ** (1 / s.temperature)
            sharp = sharp / sharp.sum(1, keepdim=True)
            loss = loss + s.consistency * ((probabilities - sharp) ** 2).sum(1).mean()
        return loss

    literal.train(loss_of, torch.optim.Adam(groups, lr=s.lr), s.epochs)
    return logits(p, x, a, s).softmax(1).detach().numpy()


@pytest.mark.parametrize("name", NETWORKS)
def test_trains_as_dense_matrices_do(graph, name):
    options = {"epochs": 20, "lr": 0.01, "weight_decay": 0.05, **NO_DROPOUT[name]}
    s = get_method(name).settings.of(options)
    found = fit(name, graph, seed=4, **options).probabilities
    np.testing.assert_allclose(found, train_densely(name, graph, s, 4), atol=1e-4)


def test_grand_drops_whole_nodes_and_scales_the_others(graph, monkeypatch):
    s = grand.GrandSettings(input_dropout=0, drop_node=0.5, samples=40)
    with seeded(0):
        network = grand.Grand(Task(graph, TRAIN), s)
        seen = []
        monkeypatch.setattr(network, "mean_propagation", lambda h: seen.append(h) or h)
        network.sample_logits()
    x, _ = dense_inputs(graph, s.features)
    whole = (x.float() @ network.first.weight)[:, None]  # (n, 1, hidden)
    found = seen[0].view(graph.n, s.samples, s.hidden)
    kept = found.abs().sum(2, keepdim=True) > 0
    torch.testing.assert_close(found, 2 * whole * kept)
    assert 0.4 < kept.float().mean() < 0.6


def test_grand_samples_without_drops_are_its_predictions(graph):
    with seeded(0):
        network = grand.Grand(Task(graph, TRAIN), grand.GrandSettings(**NO_DROPOUT["grand"], samples=3))
    samples, whole = network.sample_logits(), network(network.inputs_of(np.arange(graph.n)))
    for sample in samples:
        torch.testing.assert_close(sample, whole)


def test_grand_normalises_the_columns_of_x_bar_and_the_hidden_units(graph):
    s = grand.GrandSettings(**NO_DROPOUT["grand"], samples=2, batch_norm=True)
    with seeded(0):
        network = grand.Grand(Task(graph, TRAIN), s)
    x, a = dense_inputs(graph, s.features)
    weights = {key: p.detach().double() for key, p in network.named_parameters()}
    found = literal_gnn.normalised_grand(weights, x, a, s)
    for logits in (network(network.inputs_of(np.arange(graph.n))), *network.sample_logits()):
        torch.testing.assert_close(logits.double(), found, atol=1e-3, rtol=1e-3)


def test_grands_consistency_loss():
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 5))
    found = grand.consistency_loss(torch.from_numpy(p), 0.4)
    assert float(found) == pytest.approx(literal_gnn.consistency_loss(p, 0.4))


@pytest.mark.parametrize("name", NETWORKS)
def test_dropout_in_training_only(graph, name):
    network = NETWORKS[name][0](Task(graph, TRAIN), get_method(name).settings())
    everything = network.inputs_of(np.arange(graph.n))
    forward = network.sample_logits if name == "grand" else lambda: network(everything)
    assert not torch.equal(forward(), forward())
    network.eval()
    state = torch.get_rng_state()
    assert torch.equal(network(everything), network(everything))
    assert torch.equal(torch.get_rng_state(), state)  # so validation does not change the training


@pytest.mark.parametrize("name", NETWORKS)
def test_a_part_predicts_and_trains_as_the_whole_does(graph, name):
    network = NETWORKS[name][0](Task(graph, TRAIN), get_method(name).settings()).eval()
    nodes = np.array([9, 2, 4])  # in any order
    some, all_of_them = network(network.inputs_of(nodes)), network(network.inputs_of(np.arange(graph.n)))[nodes]
    torch.testing.assert_close(some, all_of_them)
    parameters = list(network.parameters())
    by_part, by_whole = (torch.autograd.grad(found.square().sum(), parameters) for found in (some, all_of_them))
    torch.testing.assert_close(by_part, by_whole)


def test_networks_stop_after_so_many_epochs_without_improvement():
    graph, epochs = toy(n=30), []
    method = get_method("appnp")
    settings = method.settings(epochs=40, patience=2, lr=1e-12, hidden=4, steps=1)
    method.fit(Task(graph, np.array([0, 10, 20]), 0, lambda *at: epochs.append(at), np.array([5, 15, 25])), settings)
    assert 2 < len(epochs) < 10


def dense_inputs(graph, scaling):
    x = torch.from_numpy(literal.normalise_rows(literal.dense_features(graph), scaling))
    return x, literal.dense_adjacency(graph)
