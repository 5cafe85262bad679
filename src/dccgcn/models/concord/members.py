"""The voices: what each channel answers, smoothed on a graph, as log probabilities.

A voice is a representation (of the topology, of the features, or of both joined) with a head, whose answers are
smoothed on one of the two graphs, or the labels alone, spread along the edges. All of them answer for every node.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dccgcn.kernels import log_shares, ppr_smooth
from dccgcn.models.concord.neighbour_mi import attuned, loss
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.softmax_regression import answer, fit_head
from dccgcn.operators import Operator

_FLOOR = 1e-4  # no voice rules a class out: its logarithm would silence all others
_LABEL_FLOOR = 0.02  # labels that never arrive say little; certainty of a spread label even less
_LABEL_STEPS = 40
_LABEL_TELEPORT = 0.05


@dataclass(frozen=True, eq=False)
class Voice:
    """One opinion. Voices of one representation share its head."""

    channel: str  # "topology", "features", "joined" or "labels"
    z: np.ndarray | None  # (n, r); None: the labels alone
    view: Operator  # the graph on which its answers are smoothed


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels that the voices learn from, given and inferred."""

    nodes: np.ndarray  # (m,)
    targets: np.ndarray  # (m, classes)
    weights: np.ndarray  # (m,)

    def only(self, which: np.ndarray | slice) -> "Labels":
        """Some of them."""
        return Labels(self.nodes[which], self.targets[which], self.weights[which])


Heads = Sequence[np.ndarray | None]  # of each voice; None for labels alone


def standing(voices: Sequence[Voice]) -> np.ndarray:
    """The weight of each voice before it is judged, (voices,): either channel and both joined count alike.

    There are more voices along the edges than others. Where edges are noise they would outvote the rest by number.
    """
    group = ["topology" if voice.channel == "labels" else voice.channel for voice in voices]
    return np.array([1 / group.count(channel) for channel in group])


def learn(
    voices: Sequence[Voice],
    labels: Labels,
    settings: ConcordSettings,
    before: Heads,
    steps: int = 0,
    frequent: np.ndarray | None = None,
) -> Heads:
    """A head for each voice. The heads of the round before are where to begin.

    A channel's own voices take some steps towards what neighbours in its graph bear out and how frequent classes are;
    the joined ones learn from labels alone, so that not all voices follow the graphs.
    """
    heads: dict[int, np.ndarray] = {}
    for voice, start in zip(voices, before, strict=True):
        if voice.z is None or id(voice.z) in heads:
            continue
        listens = steps > 0 and settings.accord > 0 and voice.channel != "joined"
        head = start
        if head is None or not listens:
            head = fit_head(voice.z[labels.nodes], labels.targets, labels.weights, settings.ridge, start)
        if listens:
            weight = settings.accord * labels.targets.shape[1]
            graph = voice.view.adjacency
            loss_at = partial(
                loss, voice.z, a=graph, weight=weight, labels=labels, ridge=settings.ridge, frequent=frequent
            )
            head = attuned(head, loss_at, steps)
        heads[id(voice.z)] = head
    return [None if voice.z is None else heads[id(voice.z)] for voice in voices]


def speak(voices: Sequence[Voice], heads: Heads, labels: Labels, settings: ConcordSettings) -> list[np.ndarray]:
    """log P of each voice, (n, classes) each."""
    return speak_each(voices, [(heads, labels)], settings)[0]


def speak_each(
    voices: Sequence[Voice],
    trainings: Sequence[tuple[Heads, Labels]],
    settings: ConcordSettings,
    nodes: np.ndarray | slice = slice(None),
) -> list[list[np.ndarray]]:
    """log P of each voice after each training, at some of the nodes.

    Whatever is smoothed on one graph is smoothed side by side, which takes a fraction of the time.
    """
    said = [[np.empty(0)] * len(voices) for _ in trainings]
    first = _first_answers(voices, [heads for heads, _ in trainings])
    for view in {id(voice.view): voice.view for voice in voices}.values():
        here = [v for v, voice in enumerate(voices) if voice.view is view]
        if talking := [v for v in here if voices[v].z is not None]:
            start = np.hstack([first[id(voices[v].z)] for v in talking])
            p = smoothed(view, start, settings.teleport, settings.smoothing)[nodes]
            log_p = log_shares(p, _FLOOR, trainings[0][1].targets.shape[1])
            parts = iter(np.split(log_p, len(talking) * len(trainings), axis=1))
            for v in talking:
                for told in said:
                    told[v] = np.ascontiguousarray(next(parts))
        if spreading := [v for v in here if voices[v].z is None]:
            for told, p in zip(said, spread_labels(view, [labels for _, labels in trainings]), strict=True):
                for v in spreading:
                    told[v] = np.log(p[nodes] + _LABEL_FLOOR)
    return said


def _first_answers(voices: Sequence[Voice], trainings: Sequence[Heads]) -> dict[int, np.ndarray]:
    """What each representation says before it is smoothed, after all trainings side by side, by the representation."""
    first: dict[int, np.ndarray] = {}
    for v, voice in enumerate(voices):
        if voice.z is not None and id(voice.z) not in first:
            first[id(voice.z)] = answer(voice.z, *(head for heads in trainings if (head := heads[v]) is not None))
    return first


def smoothed(view: Operator, p: np.ndarray, teleport: float, steps: int) -> np.ndarray:
    """P ← (1-a) S P + a P0, which tends to personalised PageRank of the answers                          (C6)"""
    return ppr_smooth(view.matrix, p, teleport, steps)


def spread_labels(view: Operator, given: Sequence[Labels]) -> list[np.ndarray]:
    """Each set of labels smoothed, each class given the same mass; uniform where none arrives, (n, classes) each."""
    n, c = view.matrix.shape[0], given[0].targets.shape[1]
    y = np.zeros((n, len(given), c), np.float32)
    for nth, labels in enumerate(given):
        y[labels.nodes, nth] = labels.targets * labels.weights[:, None]
    q = smoothed(view, y.reshape(n, -1), _LABEL_TELEPORT, _LABEL_STEPS).reshape(n, len(given), c)
    q /= np.maximum(q.sum(axis=0), 1e-9)
    mass = q.sum(axis=2, keepdims=True)
    p = np.where(mass > 1e-12, q / np.maximum(mass, 1e-12), np.float32(1 / c))
    return [p[:, nth] for nth in range(len(given))]
