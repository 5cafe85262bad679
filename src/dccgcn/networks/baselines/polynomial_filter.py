"""p(S) X: features filtered by a polynomial of S = D̃^-1/2 (A+I) D̃^-1/2, without forming the result.

p(S) X is dense (365 MB on Flickr) and never needed as a whole. S is symmetric, so its rows for the labelled nodes are
(p(S) E)ᵀ X, where E has a unit column for each of them; for all nodes (p(S) X) W = p(S) (X W). Both are narrow.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dccgcn.features import Scaling, normalise_rows, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods.base import Task
from dccgcn.networks.autograd import FeatureMatrix
from dccgcn.networks.torch_operator import TorchOperator
from dccgcn.networks.training import train_full_batch, validation_score

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


def train_on_labelled_rows(task: Task, network: nn.Module, features: FilteredFeatures, s: Any) -> None:
    """Train network(rows, epoch) → logits on the labelled rows only; it is in evaluation mode afterwards."""
    x, labels = features.rows(task.train), torch.as_tensor(task.labels)
    groups = [{"params": list(network.parameters()), "weight_decay": s.weight_decay}]
    score = validation_score(task, network, features.rows, network)
    train_full_batch(
        lambda epoch: F.cross_entropy(network(x, epoch), labels), groups, s.lr, s.epochs, task.progress, score
    )
    network.eval()
