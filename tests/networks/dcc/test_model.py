"""A training step of DCC-GCN against dense matrices."""

from itertools import product

import numpy as np
import pytest
import torch

from dccgcn.methods.base import Task
from dccgcn.networks.dcc.method import TrainingStep, build_operators
from helpers import literal
from helpers.small_dcc import TRAIN, N, doubled, random_model, settings_of, torn_model


def compare_step(graph, s, epoch, calibrating):
    """The loss of a step and all its gradients against the literal one."""
    model = torn_model(graph, s)
    loss = TrainingStep(Task(graph, TRAIN), build_operators(graph, s), model).loss(epoch)
    loss.backward()
    parameters = doubled(model)
    expected, seen = literal.step_loss(graph, TRAIN, s, parameters, calibrating)
    expected.backward()
    assert 0 < seen["high"].sum() < N
    assert seen["corrected"][TRAIN].any() == calibrating  # so that the labelled nodes' own calibration is in the loss
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            known = parameters[name].grad
            assert parameter.grad is not None, name
            tolerance = 1e-5 * max(1.0, float(known.abs().max()))
            torch.testing.assert_close(parameter.grad.double(), known, rtol=1e-4, atol=tolerance, msg=name)


def choices(**values):
    """Every combination of the values."""
    return [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]


KINDS = {
    "weights": choices(
        influence=["softmax", "inverse"],
        propagation=["product", "normalised", "influence"],
        calibration_sum=["normalised", "plain"],
    ),
    "label distributions": choices(
        mu=["softmax", "free"],
        share_mu=[True, False],
        smooth_over=["topology", "both"],
        penalty_reduction=["sum", "mean"],
    ),
    "classification": choices(
        channel_classifier=["padded", "mlp"],
        aggregation=[True, False],
        cross_entropy_reduction=["mean", "sum"],
        calibration_bias=[1e-9, 1.0],
        output_activation=[False],
    ),
}


@pytest.mark.parametrize("calibrate_from", [0.0, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_step_with_every_combination_of_choices(graph, calibrate_from, kind):
    for options in KINDS[kind]:
        compare_step(graph, settings_of(calibrate_from=calibrate_from, **options), 0, calibrate_from == 0)


@pytest.mark.parametrize("calibrate_from", [0.0, 1.0])
@pytest.mark.parametrize(
    "options",
    [
        {"aggregation": False},
        {"output_activation": True, "channel_classifier": "mlp"},
        {"aggregation": False, "output_activation": True, "share_mu": False},
        {"learn_sigma": False},
        {"normalisation": "symmetric", "features": "raw"},
        {"normalisation": "none", "features": "row"},
        {"m": 1},
        {"m": 3, "influence": "softmax"},
        {"phi": 0.3, "head_weight": 0.2, "lambda1": 2.0, "lambda2": 0.0, "influence_bias": 0.2},
        {"influence_bias": 0.2, "calibration_bias": 3.0},
        {"channel_classifier": "padded", "calibration_rounds": 10},
        {"k": N - 1},
    ],
    ids=lambda options: ", ".join(f"{name}={value}" for name, value in options.items()),
)
def test_step_with_the_other_choices(graph, calibrate_from, options):
    compare_step(graph, settings_of(calibrate_from=calibrate_from, **options), 0, calibrate_from == 0)


def test_step_calibrates_from_the_epoch_asked_for(graph):
    for epoch in range(4):
        compare_step(graph, settings_of(calibrate_from=0.5), epoch, calibrating=epoch >= 2)
    compare_step(graph, settings_of(calibrate_from=0.0, calibration=False), 0, calibrating=False)


def test_step_takes_training_nodes_in_any_order_and_once(graph):
    s = settings_of(calibrate_from=0.0)
    model, operators = torn_model(graph, s), build_operators(graph, s)
    shuffled = np.array([20, 3, 3, 0, 2, 16, 12, 11, 7])
    losses = [TrainingStep(Task(graph, train), operators, model).loss(0).item() for train in (TRAIN, shuffled)]
    assert losses[0] == losses[1]


@pytest.mark.parametrize("calibrate_from", [0.0, 1.0])
@pytest.mark.parametrize("calibration_bias", [1e-9, 1.0])
def test_step_is_finite_where_every_distribution_is_the_same(graph, calibrate_from, calibration_bias):
    s = settings_of(calibrate_from=calibrate_from, calibration_bias=calibration_bias)
    model = random_model(graph, s)
    with torch.no_grad():
        model.mu_scores[0].fill_(0.3)
    loss = TrainingStep(Task(graph, TRAIN), build_operators(graph, s), model).loss(0)
    loss.backward()
    assert loss.isfinite()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_weight_decay_spares_the_label_distributions(graph):
    model = random_model(graph, settings_of(share_mu=False, weight_decay=0.1))
    network, free = model.groups()
    assert network["weight_decay"] == 0.1
    assert "weight_decay" not in free
    assert {id(p) for p in free["params"]} == {id(p) for p in [*model.mu_scores, *model.log_s]}
    assert len(network["params"]) + len(free["params"]) == len(list(model.parameters()))
    fixed = random_model(graph, settings_of(learn_sigma=False))
    assert {id(p) for p in fixed.groups()[1]["params"]} == {id(p) for p in fixed.mu_scores}
