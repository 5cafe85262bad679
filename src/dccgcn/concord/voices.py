"""The voices: what each channel answers, smoothed on a graph, as log probabilities.

A voice is a representation (of the topology, of the features, or of both joined) with a head, whose answers are
smoothed on one of the two graphs, or the labels alone, spread along the edges. All of them answer for every node.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dccgcn.concord.head import answer, fit_head
from dccgcn.concord.settings import ConcordSettings
from dccgcn.kernels import spmm
from dccgcn.views import View

_FLOOR = 1e-4  # no voice rules a class out: its logarithm would silence all others
_LABEL_FLOOR = 0.02  # labels that never arrive say little; certainty of a spread label even less
_LABEL_STEPS = 40
_LABEL_TELEPORT = 0.05


@dataclass(frozen=True, eq=False)
class Voice:
    """One opinion. Voices of one representation share its head."""

    channel: str  # "topology", "features", "joined" or "labels"
    z: np.ndarray | None  # (n, r); None: the labels alone
    view: View  # the graph on which its answers are smoothed


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels that the voices learn from, given and inferred."""

    nodes: np.ndarray  # (m,)
    targets: np.ndarray  # (m, classes)
    weights: np.ndarray  # (m,)


def learn(
    voices: Sequence[Voice],
    labels: Labels,
    settings: ConcordSettings,
    before: Sequence[np.ndarray | None],
) -> list[np.ndarray | None]:
    """A head for each voice; None for labels alone. The heads of the round before are where to begin."""
    heads: dict[int, np.ndarray] = {}
    for voice, start in zip(voices, before, strict=True):
        if voice.z is not None and id(voice.z) not in heads:
            rows = voice.z[labels.nodes]
            heads[id(voice.z)] = fit_head(rows, labels.targets, labels.weights, settings.ridge, start)
    return [None if voice.z is None else heads[id(voice.z)] for voice in voices]


def speak(
    voices: Sequence[Voice], heads: Sequence[np.ndarray | None], labels: Labels, settings: ConcordSettings
) -> list[np.ndarray]:
    """log P of each voice, (n, classes) each."""
    said: dict[int, np.ndarray] = {}
    first: dict[int, np.ndarray] = {}  # what a representation answers, by its identity
    on: dict[int, list[int]] = {}  # the voices smoothed on each graph, side by side in one go
    for v, (voice, head) in enumerate(zip(voices, heads, strict=True)):
        if voice.z is None or head is None:
            said[v] = np.log(spread_labels(voice.view, labels) + _LABEL_FLOOR)
        else:
            if id(voice.z) not in first:
                first[id(voice.z)] = answer(voice.z, head)
            on.setdefault(id(voice.view), []).append(v)
    for group in on.values():
        p = smoothed(
            voices[group[0]].view,
            np.hstack([first[id(voices[v].z)] for v in group]),
            settings.teleport,
            settings.smoothing,
        )
        for v, part in zip(group, np.split(p, len(group), axis=1), strict=True):
            said[v] = np.log(part / part.sum(axis=1, keepdims=True) + _FLOOR)
    return [said[v] for v in range(len(voices))]


def smoothed(view: View, p: np.ndarray, teleport: float, steps: int) -> np.ndarray:
    """P ← (1-a) S P + a P0, which tends to personalised PageRank of the answers                          (C5)"""
    start = torch.as_tensor(np.ascontiguousarray(p))
    current = start
    for _ in range(steps):
        current = spmm(view.pattern, view.alpha, current).mul_(1 - teleport).add_(start, alpha=teleport)
    return current.cpu().numpy()


def spread_labels(view: View, labels: Labels) -> np.ndarray:
    """The labels smoothed, each class given the same mass; uniform where none arrives, (n, classes)."""
    n, c = view.matrix.shape[0], labels.targets.shape[1]
    y = np.zeros((n, c), np.float32)
    y[labels.nodes] = labels.targets * labels.weights[:, None]
    q = smoothed(view, y, _LABEL_TELEPORT, _LABEL_STEPS)
    q /= np.maximum(q.sum(axis=0), 1e-9)
    mass = q.sum(axis=1, keepdims=True)
    return np.where(mass > 1e-12, q / np.maximum(mass, 1e-12), np.float32(1 / c))
