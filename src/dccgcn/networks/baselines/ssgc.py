"""SSGC (Zhu & Koniusz, ICLR 2021): softmax regression on α X + (1-α)/K Σ_{k=1..K} S^k X, S as in SGC.

The paper's sum; an early version of its code also multiplied the k-th term by (1-α)^k.
"""

from torch import Tensor

from dccgcn.graph import NodeGraph
from dccgcn.networks.baselines.polynomial_filter import FilteredFeatures, Propagation
from dccgcn.networks.baselines.regression import RegressionSettings, regression_method
from dccgcn.settings import share, steps, weight


class SsgcSettings(RegressionSettings):
    """The settings of the released code for Cora."""

    weight_decay: float = weight(1e-5, "L2 penalty on all parameters.")
    k: int = steps(16, "Number of propagation steps, K.")
    alpha: float = share(0.05, "Share α of the unpropagated features.")


def filtered_features(graph: NodeGraph, settings: SsgcSettings) -> FilteredFeatures:
    """α X + (1-α)/K Σ_{k=1..K} S^k X."""
    s = settings
    return FilteredFeatures.of(graph, s.features, lambda propagate, h: ssgc_filter(propagate, h, s.k, s.alpha))


def ssgc_filter(propagate: Propagation, h: Tensor, k: int, alpha: float) -> Tensor:
    """α h + (1-α)/k Σ_{i=1..k} S^i h, (n, width) → (n, width)."""
    total = alpha * h
    for _ in range(k):
        h = propagate(h)
        total += (1 - alpha) / k * h
    return total


METHOD = regression_method("ssgc", SsgcSettings, filtered_features)
