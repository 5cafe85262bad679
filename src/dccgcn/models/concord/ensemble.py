"""The ensemble: reliability weights, the log opinion pool, and pseudo-labels chosen from it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dccgcn.kernels import softmax_rows
from dccgcn.models.concord.labels import Labels
from dccgcn.models.concord.members import Member, fit_heads, log_proba_each
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import scarcity

N_FOLDS = 5
_N_PASSES = 2  # weights depend on the pool and the pool on weights


@dataclass(frozen=True, eq=False)
class EnsembleOutput:
    """Predictions of the ensemble and its parts."""

    f: np.ndarray  # (n, classes): corrected and refitted
    joint: np.ndarray  # (n, classes): pool of the joint members
    channels: dict[str, np.ndarray]  # (n, classes): pool of each channel's members
    channel_weights: dict[str, float]  # sum to 1
    agree: np.ndarray  # (n,) bool: both channels predict the same class
    support: sp.csr_array  # (n, n): weights of the neighbours in each corrected prediction


def log_opinion_pool(log_probs: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    """F ∝ Π_v P_v^(w_v / Σw), the weighted geometric mean                                            (C7)"""
    total = np.zeros_like(log_probs[0])
    for log_p, weight in zip(log_probs, weights, strict=True):
        total += np.float32(weight / weights.sum()) * log_p
    return softmax_rows(total, np.zeros(total.shape[1], total.dtype), total.shape[1])


def reliability_weights(
    log_probs: Sequence[np.ndarray], hits: np.ndarray, n_given: int, initial: np.ndarray, settings: ConcordSettings
) -> tuple[np.ndarray, np.ndarray]:
    """F, (n, classes), and the weight of each member, (members,), by its estimated reliability r_v.

    r_v = (hits_v + π · agreement_v) / (n_given + π),   w_v = max(log((C-1) r_v / (1 - r_v)), 0.01)^power    (C8)
    """
    c, predicted, weights = log_probs[0].shape[1], [log_p.argmax(axis=1) for log_p in log_probs], initial
    pseudocount = settings.agreement_pseudocount
    for _ in range(_N_PASSES):
        pooled = log_opinion_pool(log_probs, weights).argmax(axis=1)
        agreement = (1 + (c - 1) * np.array([clipped_kappa(own, pooled, c) for own in predicted])) / c
        r = np.clip((hits + pseudocount * agreement) / (n_given + pseudocount), 0.02, 0.98)
        # a member at or below chance level keeps a tiny weight; its predictions are not inverted
        weights = np.maximum(np.log((c - 1) * r / (1 - r)), 0.01) ** settings.weight_power
    return log_opinion_pool(log_probs, weights), weights


def clipped_kappa(a: np.ndarray, b: np.ndarray, c: int) -> float:
    """Cohen's kappa of two predictions, at least 0.

    Plain agreement would reward a constant classifier, which trivially agrees with the majority class.
    """
    chance = float((np.bincount(a, minlength=c) / len(a)) @ (np.bincount(b, minlength=c) / len(b)))
    return max(0.0, float((a == b).mean()) - chance) / max(1 - chance, 1e-9)


def cv_hits(members: Sequence[Member], given: Labels, settings: ConcordSettings, seed: int) -> tuple[np.ndarray, int]:
    """Given labels that each member recovers in cross-validation, (members,), and that their unweighted pool does."""
    y = given.targets.argmax(axis=1)
    fold = assign_folds(y, seed)
    training_sets = [given.subset(fold != i) for i in range(fold.max() + 1)]
    trainings = [(fit_heads(members, labels, settings), labels) for labels in training_sets]
    hits, n_recovered = np.zeros(len(members)), 0
    for i, log_probs in enumerate(log_proba_each(trainings, settings, given.nodes)):
        held_out, truth = [log_p[fold == i] for log_p in log_probs], y[fold == i]
        hits += [(log_p.argmax(axis=1) == truth).sum() for log_p in held_out]
        n_recovered += int((log_opinion_pool(held_out, np.ones(len(held_out))).argmax(axis=1) == truth).sum())
    return hits, n_recovered


def assign_folds(y: np.ndarray, seed: int) -> np.ndarray:
    """(m,) stratified folds, at most N_FOLDS and no more than the largest class has labels."""
    rng = np.random.default_rng(seed)
    n_folds = int(np.clip(np.bincount(y).max(), 2, N_FOLDS))
    fold = np.zeros(len(y), int)
    for j in np.unique(y):
        of_class = rng.permutation(np.flatnonzero(y == j))
        fold[of_class] = (np.arange(len(of_class)) + j) % n_folds
    return fold


def select_pseudo_labels(
    f: np.ndarray, given: Labels, fraction: float, settings: ConcordSettings, prior: np.ndarray
) -> Labels:
    """The given labels, and for each class j the fraction · n / C · prior_j nodes with the largest margins of F.

    Without class balance the largest class takes over within a few rounds. The total weight of the pseudo-labels is
    ``pseudo_weight`` · q given labels per class, so that they never outweigh scarce given ones.
    """
    n, c = f.shape
    total_weight = settings.pseudo_weight * c * scarcity(len(given.nodes) / c, settings.scarcity_scale)
    predicted, margins = f.argmax(axis=1), margin(f)
    margins[given.nodes] = -1
    selected = []
    for j in range(c):
        wanted = min(int(np.ceil(fraction * n / c * prior[j])), settings.max_pseudo_per_class)
        of_class = np.flatnonzero((predicted == j) & (margins >= 0))
        selected.append(of_class[np.argsort(-margins[of_class], kind="stable")[:wanted]])
    new = np.concatenate(selected)
    weight = min(1.0, total_weight / max(len(new), 1))
    return Labels(
        np.concatenate([given.nodes, new]),
        np.concatenate([given.targets, np.eye(c, dtype=np.float32)[predicted[new]]]),
        np.concatenate([given.weights, np.full(len(new), weight)]),
    )


def margin(f: np.ndarray) -> np.ndarray:
    """(n,) largest minus second largest probability."""
    top = np.partition(f, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])
