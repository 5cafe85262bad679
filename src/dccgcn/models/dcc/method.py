"""DCC-GCN from graph to prediction: build the views, train, select, calibrate."""

import numpy as np
import torch
from torch import Tensor

from dccgcn.errors import Finding
from dccgcn.graph import NodeGraph
from dccgcn.kernels import Pattern
from dccgcn.models.base import Method
from dccgcn.models.dcc import objective
from dccgcn.models.dcc.calibration import calibrate, calibrate_all, calibration_weights
from dccgcn.models.dcc.model import CHANNELS, DccGcn
from dccgcn.models.dcc.selection import high_confidence
from dccgcn.models.dcc.settings import DccSettings
from dccgcn.models.prediction import Prediction
from dccgcn.models.training import Progress, seeded, train_full_batch
from dccgcn.operators import Operator, ReceptiveField, hops, knn_operator, topology_operator


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: DccSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes. The paper has no validation set."""
    views = build_views(graph, settings, progress)
    with seeded(seed):
        model = DccGcn(graph.n, graph.d, graph.c, settings)
    step = TrainingStep(graph, train, views, model, seed)
    train_full_batch(step.loss, model.groups(), settings.lr, settings.epochs, progress)
    return classify(graph, views, model)


def build_views(graph: NodeGraph, settings: DccSettings, progress: Progress | None = None) -> tuple[Operator, Operator]:
    """The graphs of the two channels: topology G and features G'."""
    tell = (lambda done, of: progress("feature graph", done, of)) if progress else None
    return (
        topology_operator(graph, settings.normalisation),
        knn_operator(graph, settings.k, settings.normalisation, tell),
    )


class TrainingStep:
    """The loss of Eq. 12, computed on the part of the graph that it depends on.

    Eq. 11 sees labelled nodes only. Without calibration they need their own receptive field; with it, a labelled
    node may be low-confidence, and then needs its m-hop neighbours too.
    """

    def __init__(
        self, graph: NodeGraph, train: np.ndarray, views: tuple[Operator, Operator], model: DccGcn, seed: int
    ) -> None:
        self.model, self.views, self.seed = model, views, seed
        train = np.unique(train)
        self.train = torch.as_tensor(train)
        self.labels = torch.as_tensor(graph.labels[train])
        s = model.settings
        self.calibrates_from = s.calibrate_from * s.epochs if s.calibration else s.epochs
        self.plain = [ReceptiveField.of(graph, s.features, view, train) for view in views]
        if self.calibrates_from < s.epochs:
            reached = [hops(view.adjacency, train, s.m) for view in views]
            near = np.unique(np.concatenate([train, *(r.indices for r in reached)]))
            self.near = [ReceptiveField.of(graph, s.features, view, near) for view in views]
            self.near_nodes = torch.as_tensor(near)
            self.train_in_near = torch.as_tensor(np.searchsorted(near, train))
            self.neighbourhoods = [Pattern.of(r[:, near]) for r in reached]

    def loss(self, epoch: int) -> Tensor:
        """Eq. 12, plus the cross-entropy that trains the heads."""
        model, s = self.model, self.model.settings
        calibrating = epoch >= self.calibrates_from
        distances, embeddings = [], []
        for c, inputs in enumerate(self.near if calibrating else self.plain):
            d, weights = model.edge_weights(self.views[c], c)
            distances.append(d)
            embeddings.append(model.channels[c](inputs, weights, (self.seed, epoch, c)))
        own = [h[self.train_in_near] for h in embeddings] if calibrating else embeddings
        head_logits = [head(h) for head, h in zip(model.heads, own, strict=True)]
        parts = (
            self.calibrated_parts(embeddings) if calibrating else [p(h) for p, h in zip(model.parts, own, strict=False)]
        )
        cross = objective.l_cross(torch.stack(parts).sum(0) + model.b, self.labels, s.reduction)
        for logits in head_logits:
            cross = cross + s.head_weight * objective.l_cross(logits, self.labels, s.reduction)
        return objective.total(cross, self.smooth(distances), self.label(), s.lambda1, s.lambda2)

    def calibrated_parts(self, embeddings: list[Tensor]) -> list[Tensor]:
        """Eq. 7-8 for the labelled nodes: each channel's share of their logits, (labelled, c)."""
        model, s = self.model, self.model.settings
        with torch.no_grad():
            high = high_confidence(*(head(h) for head, h in zip(model.heads, embeddings, strict=True)))
        parts = []
        for c, part in enumerate(model.parts):
            logits = part(embeddings[c])  # (near, c)
            mu, inverse_sigma = model.mu(c), model.s(c)
            r, found = calibration_weights(
                self.neighbourhoods[c], mu[self.train], inverse_sigma[self.train], mu[self.near_nodes],
                inverse_sigma[self.near_nodes], high, s.influence, s.influence_bias, s.calibration_sum,
            )  # fmt: skip
            repaired = found & ~high[self.train_in_near]
            parts.append(calibrate(logits[self.train_in_near], self.neighbourhoods[c], r, repaired, logits))
        return parts

    def smooth(self, distances: list[Tensor]) -> Tensor:
        """Eq. 9 over the edges of one or both graphs."""
        s = self.model.settings
        graphs = distances if s.smooth_over == "both" else distances[:1]
        return torch.stack([objective.l_smooth(d, len(self.model.mu_scores[0]), s.reduction) for d in graphs]).sum()

    def label(self) -> Tensor:
        """Eq. 10 for each set of label distributions."""
        model, s = self.model, self.model.settings
        terms = [
            objective.l_label(model.mu(c)[self.train], model.s(c)[self.train], self.labels, s.phi, s.reduction)
            for c in range(len(model.mu_scores))
        ]
        return torch.stack(terms).sum()


@torch.no_grad()
def classify(graph: NodeGraph, views: tuple[Operator, Operator], model: DccGcn) -> Prediction:
    """Sections 3.3 and 3.4 for all nodes: select, calibrate, classify."""
    s = model.settings
    model.eval()
    everything = np.arange(graph.n)
    embeddings = []
    for c, view in enumerate(views):
        inputs = ReceptiveField.of(graph, s.features, view, everything)
        embeddings.append(model.channels[c](inputs, model.edge_weights(view, c)[1]))
    head_logits = [head(h) for head, h in zip(model.heads, embeddings, strict=True)]
    high = high_confidence(*head_logits)

    before, after = [], []
    repaired = torch.zeros_like(high)
    for c, part in enumerate(model.parts):
        logits = part(embeddings[c])
        before.append(logits)
        if s.calibration and not high.all():
            logits, mended = calibrate_all(
                views[c].adjacency, s.m, logits, model.mu(c), model.s(c), high,
                s.influence, s.influence_bias, s.calibration_sum,
            )  # fmt: skip
            repaired |= mended
        after.append(logits)
    return Prediction(
        probabilities=_softmax(torch.stack(after).sum(0) + model.b),
        channels={name: _softmax(logits) for name, logits in zip(CHANNELS, head_logits, strict=True)},
        channels_agree=high.cpu().numpy(),
        uncorrected=_softmax(torch.stack(before).sum(0) + model.b),
        corrected=repaired.cpu().numpy(),
        embeddings={name: h.cpu().numpy() for name, h in zip(CHANNELS, embeddings, strict=True)},
        findings=(*views[1].findings, *_findings(high, repaired, s)),
    )


def _softmax(logits: Tensor) -> np.ndarray:
    return logits.softmax(1).cpu().numpy()


def _findings(high: Tensor, repaired: Tensor, s: DccSettings) -> list[Finding]:
    low = int((~high).sum())
    if low == 0:
        return [Finding("note", "no-disagreement", "The channels agree on every node; there is nothing to calibrate.")]
    if low == len(high):
        return [
            Finding("warning", "no-agreement", "The channels agree on no node; there is nothing to calibrate from.")
        ]
    unrepaired = int((~high & ~repaired).sum())
    if s.calibration and unrepaired:
        return [
            Finding(
                "note",
                "unrepaired",
                f"{unrepaired} of {low} low-confidence nodes have no high-confidence neighbour within {s.m} hops "
                "and keep their own embedding.",
            )
        ]
    return []


METHOD = Method(
    name="dcc-gcn",
    summary="Two channels select what they agree on and repair the rest from it.",
    reference="Shi et al., Select and Calibrate the Low-confidence, Neurocomputing",
    settings=DccSettings,
    fit=fit,
)
