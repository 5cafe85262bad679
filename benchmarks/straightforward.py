"""DCC-GCN's training step in a straightforward PyG style, the reference of ``python -m benchmarks step``.

Features are dense, messages are gathered and scattered, influence is computed in each layer, and every low-confidence
node is calibrated at the full width of its embedding. The loss equals that of dcc.method.TrainingStep for equal
parameters, which allows a comparison to rounding error.
"""

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.utils import scatter, softmax

from dccgcn.features import normalise_rows
from dccgcn.graph import NodeGraph
from dccgcn.networks.dcc.model import DccGcn
from dccgcn.networks.layers import TorchOperator


class StraightforwardStep:
    """The loss of Eq. 12 on the whole graph."""

    def __init__(
        self, graph: NodeGraph, train: np.ndarray, operators: tuple[TorchOperator, TorchOperator], model: DccGcn
    ) -> None:
        self.model, self.n = model, graph.n
        features = normalise_rows(graph.features, model.settings.features)
        self.x = torch.from_numpy(features.toarray() if sp.issparse(features) else features)
        self.train = torch.from_numpy(np.unique(train))
        self.labels = torch.from_numpy(graph.labels[self.train.numpy()])
        self.edges = [torch.stack([o.pattern.cols, o.pattern.rows]) for o in operators]  # source, target
        self.alphas = [o.alpha for o in operators]
        self.pairs = [within_hops(o.arrays.adjacency, model.settings.m) for o in operators]

    def loss(self) -> Tensor:
        """Eq. 12: cross-entropy of the joint classifier and of both heads, with the terms of Eq. 9 and 10."""
        model, s = self.model, self.model.settings
        embeddings = [self.channel(c) for c in range(2)]
        channel_logits = self.channel_logits(embeddings)
        high = channel_logits[0].argmax(1) == channel_logits[1].argmax(1)
        if s.calibration:
            embeddings = [self.calibrated(c, h, high) for c, h in enumerate(embeddings)]
        used = 2 if s.aggregation else 1
        z = torch.cat(embeddings[:used], dim=1)
        logits = z @ torch.cat([w.weight for w in model.output_weights][:used], dim=1).T + model.b
        loss = self.cross_entropy(logits)
        for logits_c in channel_logits:
            loss = loss + s.head_weight * self.cross_entropy(logits_c)
        return loss + s.lambda1 * self.smooth() + s.lambda2 * self.label()

    def channel_logits(self, embeddings: list[Tensor]) -> list[Tensor]:
        """Section 3.3: Eq. 8's layer on embeddings padded with zeros, or an MLP per channel; (n, c) each."""
        model = self.model
        if model.settings.channel_classifier == "mlp":
            return [f(h) for f, h in zip(model.classifiers, embeddings, strict=True)]
        first, second = embeddings
        zeros = torch.zeros_like(first)
        w = torch.cat([block.weight for block in model.output_weights], dim=1)
        padded = torch.cat([first, zeros], dim=1), torch.cat([zeros, second], dim=1)
        return [h @ w.T + model.b for h in padded]

    def cross_entropy(self, logits: Tensor) -> Tensor:
        """Eq. 11."""
        how = self.model.settings.cross_entropy_reduction
        return F.cross_entropy(logits[self.train], self.labels, reduction=how)

    def channel(self, c: int) -> Tensor:
        """Eq. 6, two layers; (n, embedding width)."""
        layer = self.model.channels[c]
        p, training = layer.dropout, self.model.training
        h = self.propagate(c, F.dropout(self.x, p, training) @ layer.theta1)
        h = F.dropout(h.relu(), p, training)
        h = self.propagate(c, h @ layer.theta2)
        return h.relu() if layer.output_activation else h

    def propagate(self, c: int, h: Tensor) -> Tensor:
        source, target = self.edges[c]
        weights = self.weights(c)
        return scatter(weights[:, None] * h[source], target, dim=0, dim_size=self.n, reduce="sum")

    def weights(self, c: int) -> Tensor:
        """Weights of the propagation, one per edge of a channel."""
        s, (_, target) = self.model.settings, self.edges[c]
        r = 1 / (self.distance(c, *self.edges[c]) + s.influence_bias)
        if s.influence == "softmax":
            r = softmax(r, target, num_nodes=self.n)
        if s.propagation == "influence":
            return r
        product = r * self.alphas[c]
        if s.propagation == "product":
            return product
        return product / scatter(product, target, dim_size=self.n, reduce="sum")[target]

    def distance(self, c: int, source: Tensor, target: Tensor) -> Tensor:
        """Eq. 5, one per edge."""
        mu, inverse_sigma = self.model.mu(c), self.model.s(c)
        difference = mu[source] - mu[target]
        return (difference * (inverse_sigma[source] + inverse_sigma[target]) * difference).sum(1)

    def calibrated(self, c: int, h: Tensor, high: Tensor) -> Tensor:
        """Eq. 7 for all low-confidence nodes."""
        s = self.model.settings
        source, target = self.pairs[c]
        used = high[source] & ~high[target]
        source, target = source[used], target[used]
        r = 1 / (self.distance(c, source, target) + s.calibration_bias)
        if s.influence == "softmax":
            r = softmax(r, target, num_nodes=self.n)
        elif s.calibration_sum == "normalised":
            r = r / scatter(r, target, dim_size=self.n, reduce="sum")[target]
        z = scatter(r[:, None] * h[source], target, dim=0, dim_size=self.n, reduce="sum")
        corrected = torch.zeros(self.n, dtype=torch.bool)
        corrected[target] = True
        return torch.where(corrected[:, None], z, h)

    def smooth(self) -> Tensor:
        """Eq. 9."""
        s = self.model.settings
        total = torch.zeros(())
        for c in range(2 if s.smooth_over == "both" else 1):
            d = self.distance(c, *self.edges[c])
            total = total + d.sum() / 2 / (1 if s.penalty_reduction == "sum" else max(1, (len(d) - self.n) / 2))
        return total

    def label(self) -> Tensor:
        """Eq. 10."""
        model, s = self.model, self.model.settings
        total = torch.zeros(())
        for c in range(len(model.mu_scores)):
            mu, inverse_sigma = model.mu(c)[self.train], model.s(c)[self.train]
            y = F.one_hot(self.labels, mu.shape[1])
            terms = ((mu - y).square() * (inverse_sigma + 1 / s.phi)).sum(1)
            total = total + (terms.sum() if s.penalty_reduction == "sum" else terms.mean())
        return total


def within_hops(adjacency: sp.csr_array, m: int) -> tuple[Tensor, Tensor]:
    """Source and target of all pairs within m hops, by repeated products of the whole matrix."""
    step = sp.csr_array(adjacency, dtype=np.int64)
    reach = step
    for _ in range(m - 1):
        reach = sp.csr_array(((reach + reach @ step) > 0).astype(np.int64))
    reach.setdiag(0)
    reach.eliminate_zeros()
    pairs = sp.coo_array(reach)
    return torch.from_numpy(pairs.col.astype(np.int64)), torch.from_numpy(pairs.row.astype(np.int64))
