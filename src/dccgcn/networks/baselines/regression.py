"""Softmax regression on filtered features, for SGC and SSGC."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dccgcn.features import Scaling, scaling
from dccgcn.graph import NodeGraph
from dccgcn.methods.arrays import ArraySpec, Sizes
from dccgcn.methods.base import Method, Task
from dccgcn.methods.prediction import Prediction
from dccgcn.networks.baselines.neural import prediction_from_logits
from dccgcn.networks.baselines.polynomial_filter import FilteredFeatures, train_on_labelled_rows
from dccgcn.networks.training import seeded
from dccgcn.settings import Settings, count, rate, weight


class RegressionSettings(Settings):
    """The settings that both released codes share."""

    lr: float = rate(0.2, "Learning rate of Adam.")
    weight_decay: float = weight(5e-6, "L2 penalty on all parameters.")
    epochs: int = count(100, "Training epochs.")
    features: Scaling = scaling("row")


Filtered = Callable[[NodeGraph, Any], FilteredFeatures]  # filtered(graph, settings) is p(S) X


class SoftmaxRegression(nn.Linear):
    """x W + b, (rows, d) → (rows, classes)."""

    def forward(self, x: Tensor, epoch: int = 0) -> Tensor:
        return super().forward(x)


def fit_regression(filtered: Filtered, task: Task, s: RegressionSettings) -> Prediction:
    """softmax(p(S) X W + b), trained on the labelled rows only."""
    features = filtered(task.graph, s)
    with seeded(task.seed):
        linear = SoftmaxRegression(task.graph.d, task.graph.c)
    train_on_labelled_rows(task, linear, features, s)
    w, b = linear.weight.detach().T.contiguous(), linear.bias.detach()
    return classify(features, {"weight": w.cpu().numpy(), "bias": b.cpu().numpy()})


def classify(features: FilteredFeatures, model: Mapping[str, np.ndarray]) -> Prediction:
    """softmax(p(S) X W + b) for all nodes, including nodes added after training."""
    logits = features.times(torch.as_tensor(model["weight"])) + torch.as_tensor(model["bias"])
    return replace(prediction_from_logits(logits), model=dict(model))


def predict_new(
    filtered: Filtered, model: Mapping[str, np.ndarray], graph: NodeGraph, settings: RegressionSettings
) -> Prediction:
    """Classify a graph with appended nodes, with the weights of training."""
    return classify(filtered(graph, settings), model)


def model_specs(model: Mapping[str, np.ndarray], sizes: Sizes, settings: Any) -> dict[str, ArraySpec]:
    """W (d, classes) and b (classes,)."""
    return {"weight": ArraySpec((sizes.d, sizes.c)), "bias": ArraySpec((sizes.c,))}


def regression_method(name: str, settings: type[RegressionSettings], filtered: Filtered) -> Method:
    """The method of a filter."""
    fit, predict = partial(fit_regression, filtered), partial(predict_new, filtered)
    return Method(name=name, settings=settings, fit=fit, predict_new=predict, model_specs=model_specs)
