"""DCC-GCN's classification of all nodes against dense matrices, and its ablations."""

import numpy as np
import pytest
import torch

from dccgcn.methods.base import Task
from dccgcn.networks.dcc.method import build_operators, classify, fit
from helpers import literal
from helpers.small_dcc import TRAIN, N, doubled, random_model, settings_of, small_graph, torn_model


@pytest.mark.parametrize(
    "options",
    [{}, {"influence": "softmax", "propagation": "product"}, {"calibration_sum": "plain", "m": 1}, {"share_mu": False}],
)
@pytest.mark.parametrize("aggregation", [True, False])
def test_classify_against_dense_matrices(graph, options, aggregation):
    s = settings_of(aggregation=aggregation, **options)
    model = torn_model(graph, s)
    prediction = classify(graph, build_operators(graph, s), model)
    parameters = doubled(model)
    for calibrating, found in ((True, prediction.probabilities), (False, prediction.uncorrected)):
        _, seen = literal.step_loss(graph, TRAIN, s, parameters, calibrating)
        np.testing.assert_allclose(found, seen["logits"].softmax(1).detach(), rtol=2e-4, atol=1e-6)
    _, seen = literal.step_loss(graph, TRAIN, s, parameters, True)
    assert prediction.channels_agree.tolist() == seen["high"].tolist()
    assert prediction.corrected.tolist() == seen["corrected"].tolist()
    assert prediction.corrected.any()
    same = [p.argmax(axis=1) for p in prediction.channels.values()]
    np.testing.assert_array_equal(prediction.channels_agree, same[0] == same[1])


@pytest.mark.parametrize("channel_classifier", ["padded", "mlp"])
@pytest.mark.parametrize("aggregation", [True, False])
@pytest.mark.parametrize("rounds", [1, 2, 3, 10])
def test_calibration_in_rounds_against_dense_matrices(graph, channel_classifier, aggregation, rounds):
    s = settings_of(
        channel_classifier=channel_classifier, aggregation=aggregation, calibration_rounds=rounds, m=1,
        calibration_bias=1e-9, output_activation=False,
    )  # fmt: skip
    joined = 0
    for seed in range(12):
        model = random_model(graph, s, seed)
        prediction = classify(graph, build_operators(graph, s), model)
        _, seen = literal.step_loss(graph, TRAIN, s, doubled(model), True, rounds)
        expected = seen["logits"].softmax(1).detach()
        np.testing.assert_allclose(prediction.probabilities, expected, rtol=2e-3, atol=1e-5)
        assert prediction.channels_agree.tolist() == seen["high"].tolist()  # the selection, before any calibration
        assert prediction.corrected.tolist() == seen["corrected"].tolist()
        joined += int((seen["trusted"] & ~seen["high"]).sum())
    assert joined > 0


def test_classify_does_not_drop_units(graph):
    calm, dropping = settings_of(), settings_of(dropout=0.9)
    operators = build_operators(graph, calm)
    first, second = (classify(graph, operators, random_model(graph, s)) for s in (calm, dropping))
    np.testing.assert_array_equal(first.probabilities, second.probabilities)


@pytest.mark.parametrize("options", [{}, {"influence": "softmax", "share_mu": False}])
def test_permuting_the_nodes_permutes_the_predictions(options):
    order = np.random.default_rng(7).permutation(N)
    s = settings_of(**options)
    graph, permuted = small_graph(), small_graph(order=order)
    model, moved = torn_model(graph, s), random_model(permuted, s)
    state = model.state_dict()
    for name in state:
        if name.startswith(("mu_scores", "log_s")):  # a row per node
            state[name] = state[name][order]
    moved.load_state_dict(state)
    here = classify(graph, build_operators(graph, s), model)
    there = classify(permuted, build_operators(permuted, s), moved)
    np.testing.assert_allclose(there.probabilities, here.probabilities[order], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(there.uncorrected, here.uncorrected[order], rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(there.channels_agree, here.channels_agree[order])
    np.testing.assert_array_equal(there.corrected, here.corrected[order])


# ablations


def test_without_calibration_nothing_changes_afterwards(graph):
    prediction = fit(Task(graph, TRAIN), settings_of(calibration=False))
    assert not prediction.channels_agree.all()
    np.testing.assert_array_equal(prediction.uncorrected, prediction.probabilities)
    assert not prediction.corrected.any()


@pytest.mark.parametrize("aggregation", [True, False])
def test_without_aggregation_the_second_channel_only_selects(graph, aggregation):
    s = settings_of(aggregation=aggregation)
    model, operators = random_model(graph, s), build_operators(graph, s)
    first = classify(graph, operators, model)
    with torch.no_grad():
        model.channels[1].theta2 += 1
    second = classify(graph, operators, model)
    assert not np.array_equal(first.channels["features"], second.channels["features"])
    assert np.array_equal(first.uncorrected, second.uncorrected) == (not aggregation)
