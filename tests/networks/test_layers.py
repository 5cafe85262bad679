"""A network on its receptive field gives what it gives on the whole graph."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from dccgcn.features import knn_operator, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.networks.layers import ReceptiveField, TorchOperator, TwoLayerGcn, receptive_layers
from helpers import literal

N = 60


@pytest.fixture(scope="module", params=["sparse features", "dense features"])
def graph(request):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 15)) * (rng.random((N, 15)) < (0.15 if request.param[0] == "s" else 1))
    edges = rng.integers(0, N - 3, (70, 2))  # the last three nodes have no edge
    return NodeGraph(sp.csr_array(x) if request.param[0] == "s" else x, edges, edge_weights=rng.uniform(0.5, 2, 70))


@pytest.fixture(params=["topology", "features"])
def operator(request, graph):
    topology = request.param == "topology"
    return TorchOperator.of(topology_operator(graph, "symmetric") if topology else knn_operator(graph, 2, "row"))


def run(graph, operator, outputs, activation, weights):
    torch.manual_seed(3)
    channel = TwoLayerGcn(graph.d, 6, 4, dropout=0.5, output_activation=activation).eval()
    weights = weights.clone().requires_grad_()
    out = channel(ReceptiveField.of(graph, "unit", operator, outputs), weights)
    return channel, weights, out


@pytest.mark.parametrize("activation", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_field_gives_the_rows_of_the_whole(graph, operator, activation, seed):
    rng = np.random.default_rng(seed)
    outputs = np.sort(rng.choice(N, [1, 5, 25][seed], replace=False))
    alpha = operator.alpha * torch.from_numpy(rng.uniform(0.5, 2, operator.pattern.entries)).float()
    whole, on_whole, everything = run(graph, operator, np.arange(N), activation, alpha)
    part, on_part, some = run(graph, operator, outputs, activation, alpha)
    torch.testing.assert_close(some, everything[outputs])

    pull = torch.from_numpy(rng.normal(size=some.shape)).float()
    some.backward(pull)
    everything[outputs].backward(pull)
    torch.testing.assert_close(part.theta1.grad, whole.theta1.grad)
    torch.testing.assert_close(part.theta2.grad, whole.theta2.grad)
    torch.testing.assert_close(on_part.grad, on_whole.grad)


def test_each_layer_reads_the_nodes_one_step_further_and_no_others(graph, operator):
    outputs = np.array([2, 5, N - 1])
    layers = receptive_layers(operator, outputs, depth=3)
    dense = operator.arrays.adjacency.toarray() > 0
    for layer, m in zip(layers, (3, 2, 1), strict=True):
        expected = set(outputs.tolist()).union(*(literal.within_hops(dense, u, m) for u in outputs))
        assert layer.inputs.tolist() == sorted(expected)
        assert layer.pattern.shape == (len(layer.outputs), len(layer.inputs))
        assert layer.inputs[layer.output_positions].tolist() == layer.outputs.tolist()
    assert [layer.outputs.tolist() for layer in layers[:-1]] == [layer.inputs.tolist() for layer in layers[1:]]


def test_propagation_is_the_product_with_the_matrix(graph, operator):
    h = torch.randn(N, 3)
    torch.testing.assert_close(operator.propagate(h), torch.from_numpy(operator.arrays.matrix.toarray()) @ h)
    assert TorchOperator.of(operator.arrays) is operator  # made once


@pytest.mark.parametrize("count", [20, N])
def test_field_takes_outputs_in_any_order(graph, operator, count):
    order = np.random.default_rng(1).permutation(N)[:count]
    _, _, shuffled = run(graph, operator, order, False, operator.alpha)
    _, _, whole = run(graph, operator, np.arange(N), False, operator.alpha)
    torch.testing.assert_close(shuffled, whole[order])
