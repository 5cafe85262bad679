"""p(S) X: features filtered by a polynomial of S = D̃^-1/2 (A+I) D̃^-1/2, without forming the result.

p(S) X is dense (365 MB on Flickr) and never needed as a whole. S is symmetric, so its rows for the labelled nodes are
(p(S) E)ᵀ X, where E has a unit column for each of them; for all nodes (p(S) X) W = p(S) (X W). Both are narrow.

Softmax regression on filtered features, for SGC and SSGC.

SGC (Wu et al., ICML 2019): softmax(S^K X W + b) with S = D̃^-1/2 (A+I) D̃^-1/2.

SSGC (Zhu & Koniusz, ICLR 2021): softmax regression on α X + (1-α)/K Σ_{k=1..K} S^k X, S as in SGC.

The paper's sum; an early version of its code also multiplied the k-th term by (1-α)^k.

GLP, generalised label propagation (Li et al., CVPR 2019): a two-layer perceptron on filtered features.

Z = relu(p(S) X W0) W1, with S = D̃^-1/2 (A+I) D̃^-1/2 and one of two low-pass filters, L = I - S:
renormalisation (RNM)  p(S) = S^k
auto-regressive (AR)   p(S) = (I + αL)^-1, as in its code by the first ⌈4α⌉ terms of its series.
The fewer the labels, the stronger the filter must be. (IGCN of the same paper filters inside a GCN instead.)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from dccgcn.features import Scaling, normalise_rows, scaling, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods import ArraySpec, Method, Prediction, Sizes, Task
from dccgcn.networks.autograd import FeatureMatrix, dropout, dropout_key, relu_dropout
from dccgcn.networks.layers import TorchOperator
from dccgcn.networks.training import Network, fit_network, prediction_from_logits
from dccgcn.settings import Settings, count, rate, share, steps, weight

BLOCK = 512  # columns filtered at once; results do not depend on it

Propagation = Callable[[Tensor], Tensor]  # h → S h, both (n, width)


def propagation(graph: NodeGraph) -> Propagation:
    """Multiplication by S."""
    return TorchOperator.of(topology_operator(graph, "symmetric")).propagate


def apply_power(propagate: Propagation, h: Tensor, k: int) -> Tensor:
    """S^k h."""
    for _ in range(k):
        h = propagate(h)
    return h


def neumann_series(propagate: Propagation, h: Tensor, a: float, terms: int) -> Tensor:
    """a/(1+a) Σ_{k < terms} (S/(1+a))^k h, which tends to (I + (I - S)/a)^-1 h."""
    total = h
    for _ in range(terms - 1):  # Horner's rule
        total = h + propagate(total) / (1 + a)
    return total * (a / (1 + a))


def ppr_filter(propagate: Propagation, h: Tensor, alpha: float, steps: int) -> Tensor:
    """Personalised PageRank: Z ← (1-α) S Z + α h, starting from h."""
    z = h
    for _ in range(steps):
        z = (1 - alpha) * propagate(z) + alpha * h
    return z


@dataclass(frozen=True, eq=False)
class FilteredFeatures:
    """The matrix p(S) X, given by X and the filter h → p(S) h."""

    x: Any  # (n, d), an array or a SciPy matrix
    p: Callable[[Tensor], Tensor]

    @classmethod
    def of(cls, graph: NodeGraph, scaling: Scaling, p: Callable[[Propagation, Tensor], Tensor]) -> "FilteredFeatures":
        """p(propagate, h) is p(S) h, from the multiplication h → S h."""
        propagate = propagation(graph)
        return cls(normalise_rows(graph.features, scaling), lambda h: p(propagate, h))

    def rows(self, nodes: np.ndarray) -> Tensor:
        """(p(S) X) of these nodes, (nodes, d)."""
        n, d = self.x.shape
        out = np.empty((len(nodes), d), dtype=np.float32)
        for start in range(0, len(nodes), BLOCK):
            block = nodes[start : start + BLOCK]
            unit = np.zeros((n, len(block)), dtype=np.float32)
            unit[block, np.arange(len(block))] = 1
            out[start : start + BLOCK] = (self.x.T @ self.p(torch.as_tensor(unit)).cpu().numpy()).T
        return torch.as_tensor(out)

    @torch.no_grad()
    def times(self, theta: Tensor) -> Tensor:
        """(p(S) X) theta for all nodes: (d, width) → (n, width)."""
        return self.p(FeatureMatrix.of(self.x).times(theta))


class RegressionSettings(Settings):
    """The settings that both released codes share."""

    lr: float = rate(0.2, "Learning rate of Adam.")
    weight_decay: float = weight(5e-6, "L2 penalty on all parameters.")
    epochs: int = count(100, "Training epochs.")
    features: Scaling = scaling("row")


Filtered = Callable[[NodeGraph, Any], FilteredFeatures]  # filtered(graph, settings) is p(S) X


class SoftmaxRegression(Network):
    """softmax(p(S) X W + b), trained on the labelled rows only, (nodes, d) → (nodes, c)."""

    def __init__(self, filtered: Filtered, task: Task, s: RegressionSettings) -> None:
        super().__init__()
        self.features, self.linear = filtered(task.graph, s), nn.Linear(task.graph.d, task.graph.c)

    def inputs_of(self, nodes: np.ndarray) -> Tensor:
        return self.features.rows(nodes)

    def forward(self, rows: Tensor) -> Tensor:
        return self.linear(rows)

    def predict(self, n: int) -> Prediction:
        w, b = self.linear.weight.detach().T.contiguous(), self.linear.bias.detach()
        return predict_all(self.features, {"weight": w.cpu().numpy(), "bias": b.cpu().numpy()})


def predict_all(features: FilteredFeatures, model: Mapping[str, np.ndarray]) -> Prediction:
    """softmax(p(S) X W + b) for all nodes, including nodes added after training."""
    logits = features.times(torch.as_tensor(model["weight"])) + torch.as_tensor(model["bias"])
    return replace(prediction_from_logits(logits), model=dict(model))


def predict_new(
    filtered: Filtered, model: Mapping[str, np.ndarray], graph: NodeGraph, settings: RegressionSettings
) -> Prediction:
    """Classify a graph with appended nodes, with the weights of training."""
    return predict_all(filtered(graph, settings), model)


def model_specs(model: Mapping[str, np.ndarray], sizes: Sizes, settings: Any) -> dict[str, ArraySpec]:
    """W (d, classes) and b (classes,)."""
    return {"weight": ArraySpec((sizes.d, sizes.c)), "bias": ArraySpec((sizes.c,))}


def regression_method(name: str, settings: type[RegressionSettings], filtered: Filtered) -> Method:
    """The method of a filter."""
    fit = partial(fit_network, partial(SoftmaxRegression, filtered))
    return Method(
        name=name, settings=settings, fit=fit, predict_new=partial(predict_new, filtered), model_specs=model_specs
    )


class SgcSettings(RegressionSettings):
    """The defaults of the released code. Its authors tune the weight decay by dataset, on the validation nodes."""

    k: int = steps(2, "Number of propagation steps, K.")


def sgc_features(graph: NodeGraph, settings: SgcSettings) -> FilteredFeatures:
    """S^K X."""
    return FilteredFeatures.of(graph, settings.features, lambda propagate, h: apply_power(propagate, h, settings.k))


SGC = regression_method("sgc", SgcSettings, sgc_features)


class SsgcSettings(RegressionSettings):
    """The settings of the released code for Cora."""

    weight_decay: float = weight(1e-5, "L2 penalty on all parameters.")
    k: int = steps(16, "Number of propagation steps, K.")
    alpha: float = share(0.05, "Share α of the unpropagated features.")


def ssgc_features(graph: NodeGraph, settings: SsgcSettings) -> FilteredFeatures:
    """α X + (1-α)/K Σ_{k=1..K} S^k X."""
    s = settings
    return FilteredFeatures.of(graph, s.features, lambda propagate, h: ssgc_sum(propagate, h, s.k, s.alpha))


def ssgc_sum(propagate: Propagation, h: Tensor, k: int, alpha: float) -> Tensor:
    """α h + (1-α)/k Σ_{i=1..k} S^i h, (n, width) → (n, width)."""
    total = alpha * h
    for _ in range(k):
        h = propagate(h)
        total += (1 - alpha) / k * h
    return total


SSGC = regression_method("ssgc", SsgcSettings, ssgc_features)


FEW = 12  # labels per class: the middle between 4 and 20, for which the paper has settings


class GlpSettings(Settings):
    """The settings of the paper and its code for citation networks."""

    filter: Literal["rnm", "ar"] = Field("ar", description="Renormalisation filter S^k, or auto-regressive one.")
    k: int | None = Field(
        None, ge=1, description=f"Exponent of the RNM filter; none: 10 below {FEW} labels per class, else 5."
    )
    alpha: float | None = Field(
        None, gt=0, description=f"Strength of the AR filter; none: 20 below {FEW} labels per class, else 10."
    )
    hidden: int = count(16, "Width of the hidden layer.")
    dropout: float = share(0.5, "Share of features and hidden units dropped in training.")
    lr: float = rate(0.01, "Learning rate of Adam.")
    weight_decay: float = weight(5e-4, "L2 penalty on both layers.")
    epochs: int = count(200, "Training epochs.")
    features: Scaling = scaling("row")


class Perceptron(Network):
    """dropout(relu(dropout(p(S) X) W0)) W1, without biases, (nodes, d) → (nodes, c)."""

    def __init__(self, task: Task, s: GlpSettings) -> None:
        super().__init__()
        graph, self.dropout, self.seed = task.graph, s.dropout, task.seed
        k, alpha = filter_strength(s, len(task.train) / graph.c)

        def p(propagate: Propagation, h: Tensor) -> Tensor:
            if s.filter == "rnm":
                return apply_power(propagate, h, k)
            return neumann_series(propagate, h, 1 / alpha, ceil(4 * alpha))

        self.features = FilteredFeatures.of(graph, s.features, p)
        self.w0 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(graph.d, s.hidden)))
        self.w1 = nn.Parameter(nn.init.xavier_uniform_(torch.empty(s.hidden, graph.c)))

    def inputs_of(self, nodes: np.ndarray) -> Tensor:
        return self.features.rows(nodes)

    def forward(self, rows: Tensor, epoch: int = 0) -> Tensor:
        p = self.dropout if self.training else 0.0
        h = dropout(rows, p, dropout_key(self.seed, epoch, 0)) @ self.w0  # (nodes, hidden)
        return relu_dropout(h, p, dropout_key(self.seed, epoch, 1)) @ self.w1

    def loss(self, rows: Tensor, labels: Tensor, epoch: int) -> Tensor:
        return F.cross_entropy(self(rows, epoch), labels)

    def classify_all(self, n: int) -> Tensor:
        return self.features.times(self.w0).relu() @ self.w1


def filter_strength(settings: GlpSettings, labels_per_class: float) -> tuple[int, float]:
    """k and α as set, else by the number of labels."""
    k, alpha = (10, 20.0) if labels_per_class < FEW else (5, 10.0)
    return settings.k or k, settings.alpha or alpha


GLP = Method(name="glp", settings=GlpSettings, fit=partial(fit_network, Perceptron))
