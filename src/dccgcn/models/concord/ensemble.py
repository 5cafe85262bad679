"""The concord: how far each voice is believed, what they say together, and which answers become labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dccgcn.kernels import softmax_rows
from dccgcn.models.concord.members import Labels, Voice, learn, speak_each
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import scarcity

FOLDS = 5
_PASSES = 2  # weights need the concord and the concord needs weights


@dataclass(frozen=True, eq=False)
class Concord:
    """What the voices say together, and each of them."""

    f: np.ndarray  # (n, classes), repaired
    before: np.ndarray  # the same without repair
    said: list[np.ndarray]  # log P of each voice
    joined: np.ndarray  # what the one head on all representations says
    channels: dict[str, np.ndarray]  # what the voices of each channel say together
    believed: dict[str, float]  # how far each channel is believed; sums to 1
    agree: np.ndarray  # (n,) the channels give the same class
    support: sp.csr_array  # (n, n) from which neighbours an answer was repaired


def pooled(said: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """F ∝ Π_v P_v^(w_v / Σw): the weighted geometric mean of what the voices say                         (C7)"""
    total = np.zeros_like(said[0])
    for log_p, weight in zip(said, weights, strict=True):
        total += np.float32(weight / weights.sum()) * log_p
    return softmax_rows(total, np.zeros(total.shape[1], total.dtype), total.shape[1])


def weighed(
    said: Sequence[np.ndarray], hits: np.ndarray, n_labels: int, standing: np.ndarray, settings: ConcordSettings
) -> tuple[np.ndarray, np.ndarray]:
    """F, and the weight of each voice: the log-odds of its being right, from held-out labels and from agreement.

    r_v = (hits_v + prior · agreement_v) / (labels + prior),   w_v = log((C-1) r_v / (1 - r_v))^sharpness  (C8)

    ``standing`` are the weights that the voices have before they are judged.
    """
    c, answers, weights = said[0].shape[1], [log_p.argmax(axis=1) for log_p in said], standing
    for _ in range(_PASSES):
        answer = pooled(said, weights).argmax(axis=1)
        agreement = (1 + (c - 1) * np.array([beyond_chance(own, answer, c) for own in answers])) / c
        right = np.clip((hits + settings.prior * agreement) / (n_labels + settings.prior), 0.02, 0.98)
        # a voice no better than chance is all but silent, never an advocate of the opposite
        weights = np.maximum(np.log((c - 1) * right / (1 - right)), 0.01) ** settings.sharpness
    return pooled(said, weights), weights


def beyond_chance(one: np.ndarray, other: np.ndarray, c: int) -> float:
    """How far two say the same more often than their frequencies of classes would let them, 0 to 1 (Cohen's kappa).

    Who gives one answer to all nodes agrees with whoever mostly gives it, and has said nothing.
    """
    chance = float((np.bincount(one, minlength=c) / len(one)) @ (np.bincount(other, minlength=c) / len(other)))
    return max(0.0, float((one == other).mean()) - chance) / max(1 - chance, 1e-9)


def held_out_hits(
    voices: Sequence[Voice], labels: Labels, settings: ConcordSettings, seed: int
) -> tuple[np.ndarray, int]:
    """How many of the given labels each voice finds when it has not seen them, (voices,), and all of them together."""
    y = labels.targets.argmax(axis=1)
    fold = _folds(y, seed)
    parts = [labels.only(fold != f) for f in range(fold.max() + 1)]
    trainings = [(learn(voices, part, settings, [None] * len(voices)), part) for part in parts]
    hits, together = np.zeros(len(voices)), 0
    for f, said in enumerate(speak_each(voices, trainings, settings, labels.nodes)):
        unseen, truth = [log_p[fold == f] for log_p in said], y[fold == f]
        hits += [(log_p.argmax(axis=1) == truth).sum() for log_p in unseen]
        together += int((pooled(unseen, np.ones(len(unseen))).argmax(axis=1) == truth).sum())
    return hits, together


def _folds(y: np.ndarray, seed: int) -> np.ndarray:
    """Each class dealt out over the folds in turn, after a shuffle; as many folds as the largest class can fill."""
    rng = np.random.default_rng(seed)
    folds = int(np.clip(np.bincount(y).max(), 2, FOLDS))
    fold = np.zeros(len(y), int)
    for j in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == j))
        fold[members] = (np.arange(len(members)) + j) % folds
    return fold


def inferred(f: np.ndarray, given: Labels, share: float, settings: ConcordSettings, frequent: np.ndarray) -> Labels:
    """The given labels, and of each class the nodes with the largest margins, as many as it is frequent.

    Without that, the largest class takes over within a few rounds. All of them together weigh as much as
    ``pseudo_weight`` given labels of each class, and less where labels are not scarce, so that what was given is never
    outvoted.
    """
    n, c = f.shape
    total = settings.pseudo_weight * c * scarcity(len(given.nodes) / c, settings.enough)
    answer, gap = f.argmax(axis=1), margin(f)
    gap[given.nodes] = -1
    chosen = []
    for j in range(c):
        wanted = min(int(np.ceil(share * n / c * frequent[j])), settings.most)
        of_class = np.flatnonzero((answer == j) & (gap >= 0))
        chosen.append(of_class[np.argsort(-gap[of_class], kind="stable")[:wanted]])
    new = np.concatenate(chosen)
    weight = min(1.0, total / max(len(new), 1))
    return Labels(
        np.concatenate([given.nodes, new]),
        np.concatenate([given.targets, np.eye(c, dtype=np.float32)[answer[new]]]),
        np.concatenate([given.weights, np.full(len(new), weight)]),
    )


def margin(f: np.ndarray) -> np.ndarray:
    """Largest less second largest probability, (n,)."""
    top = np.partition(f, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])
