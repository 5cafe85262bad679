"""Members of the ensemble: softmax regressions on embeddings, smoothed on a graph, and label propagation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dccgcn.kernels import log_shares, ppr_smooth
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.neighbour_mi import mi_loss, refine_head
from dccgcn.models.concord.precompute import CHANNELS, EmbeddingSpec
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.softmax_regression import fit_head, predict_proba
from dccgcn.operators import Operator

JOINT, LABELS = "joint", "labels"  # channels beside topology and features

_FLOOR = 1e-4  # added to probabilities: a zero would veto the class in the pool
_LABEL_FLOOR = 0.02  # the same for propagated labels, which are less certain
_LABEL_STEPS = 40
_LABEL_TELEPORT = 0.05


@dataclass(frozen=True, eq=False)
class Member:
    """One classifier of all nodes. Members of the same embedding have the same head."""

    embedding: str  # name of z
    channel: str  # "topology", "features", JOINT or LABELS
    graph: str  # name of the operator
    operator: Operator  # on which its predictions are smoothed
    z: np.ndarray | None = None  # (n, r); None: propagates labels, without a head
    head: np.ndarray | None = None  # (W; b), (r + 1, classes); None until it is fitted


def member_layout(specs: Sequence[EmbeddingSpec]) -> list[tuple[str, str, str]]:
    """(embedding, channel, graph) of each member, in order.

    One for each embedding of a channel, two for all of them concatenated (smoothed on either graph), one for labels.
    """
    own = [(spec.name, channel, channel) for spec in specs if (channel := spec.channel)]
    return [*own, *((JOINT, JOINT, graph) for graph in CHANNELS), (LABELS, LABELS, "topology")]


def initial_weights(members: Sequence[Member]) -> np.ndarray:
    """(members,) weights before reliabilities are known: topology, features and joint count equally.

    More members use the topology than the features. With equal weights a noisy topology would outvote the features.
    """
    group = ["topology" if member.channel == LABELS else member.channel for member in members]
    return np.array([1 / group.count(channel) for channel in group])


def fit_heads(
    members: Sequence[Member],
    labels: Labels,
    settings: ConcordSettings,
    mi_steps: int = 0,
    prior: np.ndarray | None = None,
) -> list[Member]:
    """The members with heads fitted to the labels (C4), from their present heads on.

    Members of one channel take ``mi_steps`` steps on the loss with neighbour mutual information (C5). Joint members do
    not, so that some of the ensemble is independent of the graphs. ``prior`` is C ψ.
    """
    heads: dict[str, np.ndarray] = {}
    for member in members:
        if member.z is None or member.embedding in heads:
            continue
        head = member.head
        refined = mi_steps > 0 and settings.mi_weight > 0 and member.channel != JOINT
        if head is None or not refined:
            head = fit_head(member.z[labels.nodes], labels.targets, labels.weights, settings.l2, head)
        if refined:
            loss = partial(
                mi_loss,
                member.z,
                adjacency=member.operator.adjacency,
                weight=settings.mi_weight * labels.targets.shape[1],
                labels=labels,
                l2=settings.l2,
                prior=prior,
            )
            head = refine_head(head, loss, mi_steps)
        heads[member.embedding] = head
    return [replace(member, head=heads.get(member.embedding)) for member in members]


def log_proba(members: Sequence[Member], labels: Labels, settings: ConcordSettings) -> list[np.ndarray]:
    """log P of each member, (n, classes) each."""
    return log_proba_each([(members, labels)], settings)[0]


def log_proba_each(
    trainings: Sequence[tuple[Sequence[Member], Labels]],
    settings: ConcordSettings,
    nodes: np.ndarray | slice = slice(None),
) -> list[list[np.ndarray]]:
    """log P of each member after each training, at some nodes.

    All predictions that are smoothed on one graph are smoothed side by side, which is several times as fast.
    """
    members, c = trainings[0][0], trainings[0][1].targets.shape[1]
    log_probs = [[np.empty(0)] * len(members) for _ in trainings]
    unsmoothed: dict[str, np.ndarray] = {}  # by embedding: all trainings side by side
    for v, member in enumerate(members):
        if member.z is not None and member.embedding not in unsmoothed:
            heads = [head for fitted, _ in trainings if (head := fitted[v].head) is not None]
            unsmoothed[member.embedding] = predict_proba(member.z, *heads)
    for graph in dict.fromkeys(member.graph for member in members):
        here = [v for v, member in enumerate(members) if member.graph == graph]
        operator = members[here[0]].operator
        if with_head := [v for v in here if members[v].z is not None]:
            p = np.hstack([unsmoothed[members[v].embedding] for v in with_head])
            p = ppr_smooth(operator.matrix, p, settings.teleport, settings.n_smoothing)[nodes]
            parts = iter(np.split(log_shares(p, _FLOOR, c), len(with_head) * len(trainings), axis=1))
            for v in with_head:
                for of_training in log_probs:
                    of_training[v] = np.ascontiguousarray(next(parts))
        if without_head := [v for v in here if members[v].z is None]:
            propagated = propagate_labels(operator, [labels for _, labels in trainings])
            for of_training, p in zip(log_probs, propagated, strict=True):
                for v in without_head:
                    of_training[v] = np.log(p[nodes] + _LABEL_FLOOR)
    return log_probs


def propagate_labels(operator: Operator, label_sets: Sequence[Labels]) -> list[np.ndarray]:
    """Class probabilities from each set of labels by (C6), (n, classes) each; uniform where no label reaches.

    Every class is given the same total mass.
    """
    n, c = operator.matrix.shape[0], label_sets[0].targets.shape[1]
    y = np.zeros((n, len(label_sets), c), np.float32)
    for i, labels in enumerate(label_sets):
        y[labels.nodes, i] = labels.targets * labels.weights[:, None]
    q = ppr_smooth(operator.matrix, y.reshape(n, -1), _LABEL_TELEPORT, _LABEL_STEPS).reshape(n, len(label_sets), c)
    q /= np.maximum(q.sum(axis=0), 1e-9)
    mass = q.sum(axis=2, keepdims=True)
    p = np.where(mass > 1e-12, q / np.maximum(mass, 1e-12), np.float32(1 / c))
    return [p[:, i] for i in range(len(label_sets))]
