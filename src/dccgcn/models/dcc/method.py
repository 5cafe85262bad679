"""DCC-GCN from graph to prediction: build the operators, train, select, calibrate."""

import numpy as np
import torch
from torch import Tensor

from dccgcn.autograd import Pattern
from dccgcn.errors import Finding
from dccgcn.graph import NodeGraph
from dccgcn.models.base import Method
from dccgcn.models.dcc import objective
from dccgcn.models.dcc.calibration import calibrate, calibrate_all, calibration_weights
from dccgcn.models.dcc.model import CHANNELS, DccGcn
from dccgcn.models.dcc.selection import high_confidence
from dccgcn.models.dcc.settings import DccSettings
from dccgcn.models.prediction import Prediction
from dccgcn.models.receptive_field import ReceptiveField
from dccgcn.models.torch_operator import TorchOperator
from dccgcn.models.training import seeded, train_full_batch
from dccgcn.operators import hops, knn_operator, topology_operator
from dccgcn.progress import Progress

Operators = tuple[TorchOperator, TorchOperator]  # of the topology, of the feature graph


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: DccSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes. The paper has no validation set."""
    operators = build_operators(graph, settings, progress)
    with seeded(seed):
        model = DccGcn(graph.n, graph.d, graph.c, settings)
    step = TrainingStep(graph, train, operators, model, seed)
    train_full_batch(step.loss, model.groups(), settings.lr, settings.epochs, progress)
    return classify(graph, operators, model)


def build_operators(graph: NodeGraph, settings: DccSettings, progress: Progress | None = None) -> Operators:
    """The graphs of the two channels: topology G and features G'."""
    report = (lambda done, of: progress("feature graph", done, of)) if progress else None
    topology = topology_operator(graph, settings.normalisation)
    features = knn_operator(graph, settings.k, settings.normalisation, report)
    return TorchOperator.of(topology), TorchOperator.of(features)


class TrainingStep:
    """The loss of Eq. 12, computed on the part of the graph that it depends on.

    Eq. 11 reads labelled nodes only. Without calibration their receptive field is enough; with it, a labelled node may
    be low-confidence and then needs its m-hop neighbours too.
    """

    def __init__(self, graph: NodeGraph, train: np.ndarray, operators: Operators, model: DccGcn, seed: int) -> None:
        self.model, self.operators, self.seed = model, operators, seed
        train = np.unique(train)
        self.train = torch.as_tensor(train)
        self.labels = torch.as_tensor(graph.labels[train])
        s = model.settings
        self.calibrates_from = s.calibrate_from * s.epochs if s.calibration else s.epochs
        self.train_fields = [ReceptiveField.of(graph, s.features, operator, train) for operator in operators]
        if self.calibrates_from < s.epochs:
            neighbours = [hops(operator.arrays.adjacency, train, s.m) for operator in operators]
            nodes = np.unique(np.concatenate([train, *(rows.indices for rows in neighbours)]))
            self.calibration_fields = [ReceptiveField.of(graph, s.features, operator, nodes) for operator in operators]
            self.calibration_nodes = torch.as_tensor(nodes)
            self.train_positions = torch.as_tensor(np.searchsorted(nodes, train))  # among calibration_nodes
            self.neighbourhoods = [Pattern.of(rows[:, nodes]) for rows in neighbours]

    def loss(self, epoch: int) -> Tensor:
        """Eq. 12, plus the cross-entropy that trains the channels' classifiers."""
        model, s = self.model, self.model.settings
        calibrating = epoch >= self.calibrates_from
        distances, embeddings = [], []
        for c, field in enumerate(self.calibration_fields if calibrating else self.train_fields):
            d, weights = model.edge_weights(self.operators[c], c)
            distances.append(d)
            embeddings.append(model.channels[c](field, weights, (self.seed, epoch, c)))
        labelled = [h[self.train_positions] for h in embeddings] if calibrating else embeddings
        channel_logits = [classifier(h) for classifier, h in zip(model.classifiers, labelled, strict=True)]
        if calibrating:
            logits = self.calibrated_logits(embeddings)
        else:
            logits = [w(h) for w, h in zip(model.output_weights, labelled, strict=False)]
        cross = objective.l_cross(torch.stack(logits).sum(0) + model.b, self.labels, s.reduction)
        for logits_c in channel_logits:
            cross = cross + s.head_weight * objective.l_cross(logits_c, self.labels, s.reduction)
        return objective.total(cross, self.smooth(distances), self.label(), s.lambda1, s.lambda2)

    def calibrated_logits(self, embeddings: list[Tensor]) -> list[Tensor]:
        """Eq. 7-8 for the labelled nodes: each channel's summand of their logits, (labelled, c)."""
        model, s = self.model, self.model.settings
        with torch.no_grad():
            high = high_confidence(*(f(h) for f, h in zip(model.classifiers, embeddings, strict=True)))
        calibrated = []
        for c, w in enumerate(model.output_weights):
            logits = w(embeddings[c])  # (calibration nodes, c)
            mu, inverse_sigma = model.mu(c), model.s(c)
            r, has_neighbour = calibration_weights(
                self.neighbourhoods[c], mu[self.train], inverse_sigma[self.train], mu[self.calibration_nodes],
                inverse_sigma[self.calibration_nodes], high, s.influence, s.influence_bias, s.calibration_sum,
            )  # fmt: skip
            chosen = has_neighbour & ~high[self.train_positions]
            calibrated.append(calibrate(logits[self.train_positions], self.neighbourhoods[c], r, chosen, logits))
        return calibrated

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
def classify(graph: NodeGraph, operators: Operators, model: DccGcn) -> Prediction:
    """Sections 3.3 and 3.4 for all nodes: select, calibrate, classify (Eq. 8)."""
    s = model.settings
    model.eval()
    embeddings = []
    for c, operator in enumerate(operators):
        field = ReceptiveField.of(graph, s.features, operator, np.arange(graph.n))
        embeddings.append(model.channels[c](field, model.edge_weights(operator, c)[1]))
    channel_logits = [classifier(h) for classifier, h in zip(model.classifiers, embeddings, strict=True)]
    high = high_confidence(*channel_logits)

    uncalibrated, calibrated = [], []  # each channel's summand of the logits, (n, c)
    corrected = torch.zeros_like(high)
    for c, w in enumerate(model.output_weights):
        logits = w(embeddings[c])
        uncalibrated.append(logits)
        if s.calibration and not high.all():
            logits, changed = calibrate_all(
                operators[c].arrays.adjacency, s.m, logits, model.mu(c), model.s(c), high,
                s.influence, s.influence_bias, s.calibration_sum,
            )  # fmt: skip
            corrected |= changed
        calibrated.append(logits)
    return Prediction(
        probabilities=_softmax(torch.stack(calibrated).sum(0) + model.b),
        channels={name: _softmax(logits) for name, logits in zip(CHANNELS, channel_logits, strict=True)},
        channels_agree=high.cpu().numpy(),
        uncorrected=_softmax(torch.stack(uncalibrated).sum(0) + model.b),
        corrected=corrected.cpu().numpy(),
        embeddings={name: h.cpu().numpy() for name, h in zip(CHANNELS, embeddings, strict=True)},
        findings=(*operators[1].arrays.findings, *_findings(high, corrected, s)),
    )


def _softmax(logits: Tensor) -> np.ndarray:
    return logits.softmax(1).cpu().numpy()


def _findings(high: Tensor, corrected: Tensor, s: DccSettings) -> list[Finding]:
    low = int((~high).sum())
    if low == 0:
        return [Finding("note", "no-disagreement", "The channels agree on every node; there is nothing to calibrate.")]
    if low == len(high):
        return [
            Finding("warning", "no-agreement", "The channels agree on no node; there is nothing to calibrate from.")
        ]
    uncalibrated = int((~high & ~corrected).sum())
    if s.calibration and uncalibrated:
        return [
            Finding(
                "note",
                "uncalibrated",
                f"{uncalibrated} of {low} low-confidence nodes have no high-confidence neighbour within {s.m} hops "
                "and keep their embedding.",
            )
        ]
    return []


METHOD = Method(
    name="dcc-gcn",
    settings=DccSettings,
    fit=fit,
)
