"""DCC-GCN from graph to prediction: build the operators, train, select, calibrate."""

import numpy as np
import torch
from torch import Tensor

from dccgcn.errors import Finding
from dccgcn.features import hops, knn_operator, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.methods import Method, Prediction, Task
from dccgcn.networks.autograd import Pattern
from dccgcn.networks.dcc import equations
from dccgcn.networks.dcc.equations import calibrate, calibrate_all, calibration_weights, high_confidence
from dccgcn.networks.dcc.model import CHANNELS, DccGcn
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.networks.layers import ReceptiveField, TorchOperator
from dccgcn.networks.training import seeded, train_full_batch
from dccgcn.progress import Progress

Operators = tuple[TorchOperator, TorchOperator]  # of the topology, of the feature graph


def fit(task: Task, settings: DccSettings) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes. The paper has no validation set."""
    graph = task.graph
    operators = build_operators(graph, settings, task.progress)
    with seeded(task.seed):
        model = DccGcn(graph.n, graph.d, graph.c, settings)
    step = TrainingStep(task, operators, model)
    train_full_batch(step.loss, model.groups(), settings.lr, settings.epochs, task.progress)
    return classify(graph, operators, model)


def build_operators(graph: NodeGraph, settings: DccSettings, progress: Progress | None = None) -> Operators:
    """The graphs of the two channels: topology G and features G'."""
    topology = topology_operator(graph, settings.normalisation)
    features = knn_operator(graph, settings.k, settings.normalisation, progress)
    return TorchOperator.of(topology), TorchOperator.of(features)


class TrainingStep:
    """The loss of Eq. 12, computed on the part of the graph that it depends on.

    Eq. 11 reads labelled nodes only. Without calibration their receptive field is enough; with it, a labelled node may
    be low-confidence and then needs its m-hop neighbours too.
    """

    def __init__(self, task: Task, operators: Operators, model: DccGcn) -> None:
        self.model, self.operators, self.seed = model, operators, task.seed
        graph, train = task.graph, np.unique(task.train)
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
        """Eq. 12, plus the cross-entropy of the channels' own classifications."""
        model, s = self.model, self.model.settings
        calibrating = epoch >= self.calibrates_from
        distances, embeddings = [], []
        for c, field in enumerate(self.calibration_fields if calibrating else self.train_fields):
            d, weights = model.edge_weights(self.operators[c], c)
            distances.append(d)
            embeddings.append(model.channels[c](field, weights, (self.seed, epoch, c)))
        summands = model.summands(embeddings)
        if calibrating:
            labelled = [h[self.train_positions] for h in embeddings]
            channel_logits = model.channel_logits(labelled, [part[self.train_positions] for part in summands])
            summands = self.calibrated_summands(embeddings, summands)
        else:
            channel_logits = model.channel_logits(embeddings, summands)
        cross = equations.l_cross(model.joint_logits(summands), self.labels, s.cross_entropy_reduction)
        for logits in channel_logits:
            cross = cross + s.head_weight * equations.l_cross(logits, self.labels, s.cross_entropy_reduction)
        return equations.total(cross, self.smooth(distances), self.label(), s.lambda1, s.lambda2)

    def calibrated_summands(self, embeddings: list[Tensor], summands: list[Tensor]) -> list[Tensor]:
        """Eq. 7 for the labelled nodes, once: each channel's summand of Eq. 8.

        Shapes: (calibration nodes, hidden2) and (calibration nodes, c) → (labelled, c), for each channel.
        """
        model, s = self.model, self.model.settings
        with torch.no_grad():
            high = high_confidence(*model.channel_logits(embeddings, summands))
        calibrated = []
        for c, logits in enumerate(summands if s.aggregation else summands[:1]):
            mu, inverse_sigma = model.mu(c), model.s(c)
            r, has_neighbour = calibration_weights(
                self.neighbourhoods[c], mu[self.train], inverse_sigma[self.train], mu[self.calibration_nodes],
                inverse_sigma[self.calibration_nodes], high, s.influence, s.calibration_bias, s.calibration_sum,
            )  # fmt: skip
            chosen = has_neighbour & ~high[self.train_positions]
            calibrated.append(calibrate(logits[self.train_positions], self.neighbourhoods[c], r, chosen, logits))
        return calibrated

    def smooth(self, distances: list[Tensor]) -> Tensor:
        """Eq. 9 over the edges of one or both graphs."""
        s = self.model.settings
        graphs = distances if s.smooth_over == "both" else distances[:1]
        return torch.stack(
            [equations.l_smooth(d, len(self.model.mu_scores[0]), s.penalty_reduction) for d in graphs]
        ).sum()

    def label(self) -> Tensor:
        """Eq. 10 for each set of label distributions."""
        model, s = self.model, self.model.settings
        terms = [
            equations.l_label(model.mu(c)[self.train], model.s(c)[self.train], self.labels, s.phi, s.penalty_reduction)
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
    uncalibrated = model.summands(embeddings)
    channel_logits = model.channel_logits(embeddings, uncalibrated)
    high = high_confidence(*channel_logits)
    calibrated, corrected = uncalibrated, torch.zeros_like(high)
    if s.calibration and not high.all():
        calibrated, corrected = calibrated_summands(operators, model, embeddings, uncalibrated, high)
    return Prediction(
        probabilities=_softmax(model.joint_logits(calibrated)),
        channels={name: _softmax(logits) for name, logits in zip(CHANNELS, channel_logits, strict=True)},
        channels_agree=high.cpu().numpy(),
        uncorrected=_softmax(model.joint_logits(uncalibrated)),
        corrected=corrected.cpu().numpy(),
        embeddings={name: h.cpu().numpy() for name, h in zip(CHANNELS, embeddings, strict=True)},
        findings=(*operators[1].arrays.findings, *_findings(high, corrected, s)),
    )


def calibrated_summands(
    operators: Operators, model: DccGcn, embeddings: list[Tensor], summands: list[Tensor], high: Tensor
) -> tuple[list[Tensor], Tensor]:
    """Eq. 7 for the low-confidence nodes of all: each channel's summand of Eq. 8, and which nodes changed, (n,) bool.

    Each further round adds the calibrated nodes on which the channels now agree to the high-confidence ones. A linear
    layer may come before the calibration and an MLP may not, so that one in further rounds needs calibrated embeddings.
    """
    s = model.settings
    rounds, joint = s.calibration_rounds, len(CHANNELS) if s.aggregation else 1
    wide = rounds > 1 and s.channel_classifier == "mlp"
    values = embeddings if wide else summands
    values = values if rounds > 1 else values[:joint]  # channels whose calibration counts
    corrected = torch.zeros_like(high)
    for number in range(rounds):
        found = [
            calibrate_all(
                operators[c].arrays.adjacency, s.m, value, model.mu(c), model.s(c), high,
                s.influence, s.calibration_bias, s.calibration_sum,
            )
            for c, value in enumerate(values)
        ]  # fmt: skip
        values, changed = [z for z, _ in found], torch.stack([mask for _, mask in found])
        corrected |= changed[:joint].any(0)
        if number + 1 < rounds:
            agree = high_confidence(*model.channel_logits(values, model.summands(values) if wide else values))
            newly_agreeing = ~high & changed.any(0) & agree
            if not newly_agreeing.any():
                break
            high = high | newly_agreeing
    return (model.summands(values) if wide else values), corrected


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


METHOD = Method(name="dcc-gcn", settings=DccSettings, fit=fit)
