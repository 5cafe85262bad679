"""SGC (Wu et al., ICML 2019): softmax(S^K X W + b) with S = D̃^-1/2 (A+I) D̃^-1/2."""

from collections.abc import Mapping

import numpy as np

from dccgcn.graph import NodeGraph
from dccgcn.models.base import Method
from dccgcn.models.baselines.polynomial_filter import FilteredFeatures, apply_power
from dccgcn.models.baselines.regression import RegressionSettings, classify, fit_regression, model_specs
from dccgcn.models.prediction import Prediction
from dccgcn.progress import Progress
from dccgcn.settings import steps


class SgcSettings(RegressionSettings):
    """The defaults of the released code. Its authors tune the weight decay by dataset, on the validation nodes."""

    k: int = steps(2, "Number of propagation steps, K.")


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: SgcSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes."""
    return fit_regression(filtered_features(graph, settings), graph, train, settings, seed, progress, validation)


def predict_new(model: Mapping[str, np.ndarray], graph: NodeGraph, settings: SgcSettings) -> Prediction:
    """Classify a graph with appended nodes, with the weights of training."""
    return classify(filtered_features(graph, settings), model)


def filtered_features(graph: NodeGraph, settings: SgcSettings) -> FilteredFeatures:
    """S^K X."""
    return FilteredFeatures.of(graph, settings.features, lambda propagate, h: apply_power(propagate, h, settings.k))


METHOD = Method(
    name="sgc",
    settings=SgcSettings,
    fit=fit,
    predict_new=predict_new,
    model_specs=model_specs,
)
