"""SGC (Wu et al., ICML 2019): softmax(S^K X W + b) with S = D̃^-1/2 (A+I) D̃^-1/2."""

from dccgcn.graph import NodeGraph
from dccgcn.networks.baselines.polynomial_filter import FilteredFeatures, apply_power
from dccgcn.networks.baselines.regression import RegressionSettings, regression_method
from dccgcn.settings import steps


class SgcSettings(RegressionSettings):
    """The defaults of the released code. Its authors tune the weight decay by dataset, on the validation nodes."""

    k: int = steps(2, "Number of propagation steps, K.")


def filtered_features(graph: NodeGraph, settings: SgcSettings) -> FilteredFeatures:
    """S^K X."""
    return FilteredFeatures.of(graph, settings.features, lambda propagate, h: apply_power(propagate, h, settings.k))


METHOD = regression_method("sgc", SgcSettings, filtered_features)
