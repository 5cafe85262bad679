"""Confidence: the probability that a prediction is right, from held-out labels and four kinds of evidence.

    logit x = β0 m / (m + m0) logit p̄                                                                 (C11)
    trust_i = sigmoid(logit x + u (β1 e_i + β2 L_i)),   u = max(0, (x - g) / (1 - g))                  (C12)

x is the accuracy on this graph: the pool's own mean confidence p̄, whose temperature held-out labels have set, and the
less of it the fewer these are. m are the labels that can be held out, g is the share of them that guessing would
recover, u what is beyond it. e is the first principal component of the normal scores of four columns: the margin of F,
the mean vote of the channels, and the class margins of two leave-one-out refits (C8). Ranks are used because the level
of confidence differs between graphs far more than its order. L is the log-odds of the prediction in the pool, less
their mean. Where nothing is beyond chance, no evidence counts. Below z = 4 (C13), h being the held-out labels that the
pool recovers, nothing is promised. The constants are the same for every graph; they are fitted by
``paper.trust``.

    z = (h - m g) / √(m g (1-g))                                                                      (C13)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtri

from dccgcn.errors import Finding
from dccgcn.features import cross
from dccgcn.runtime import ranks, row_count, row_mean

GATE = 4.0  # z from which trust is promised
_CHANCE_LEVEL = 2.0  # z below which the graph does not tell the classes apart
_LARGEST_LOG_ODDS = 3.9
_LEAST_CONFIDENCE = 0.02  # and 1 less the largest one, of p̄ in (C11)
_BLOCK = 65536  # nodes at a time


@dataclass(frozen=True)
class TrustModel:
    """The constants of (C11) and (C12)."""

    beta0: float = 1.195
    m0: float = 4.659
    beta1: float = 1.067
    beta2: float = 0.316


@dataclass(frozen=True)
class HeldOut:
    """How well the pool recovers labels that it was not trained on."""

    n_recovered: float  # h: mean over the repeats
    n_checkable: int  # m: labels whose class has another one
    chance: float  # g: expected share recovered by guessing

    @property
    def z(self) -> float:
        """(C13): recovered labels beyond chance, in standard deviations; 0 without checkable labels."""
        return self._z(self.n_recovered)

    @property
    def is_promised(self) -> bool:
        """Whether labels are recovered clearly beyond chance, z ≥ 4."""
        return self.z >= GATE

    @property
    def best_z(self) -> float:
        """z if all labels were recovered."""
        return self._z(self.n_checkable)

    def _z(self, recovered: float) -> float:
        m, g = self.n_checkable, self.chance
        return (recovered - m * g) / float(np.sqrt(m * g * (1 - g))) if m and g < 1 else 0.0


@dataclass(frozen=True, eq=False)
class Evidence:
    """What distinguishes the predictions of one graph."""

    e: np.ndarray  # (n,)
    log_odds: np.ndarray  # L, (n,)
    mean_confidence: float  # p̄


def expected_accuracy(held_out: HeldOut, mean_confidence: float, model: TrustModel) -> float:
    """x of (C11)."""
    m, p = held_out.n_checkable, float(np.clip(mean_confidence, _LEAST_CONFIDENCE, 1 - _LEAST_CONFIDENCE))
    return float(expit(model.beta0 * m / (m + model.m0) * logit(p)))


def trust(evidence: Evidence, held_out: HeldOut, model: TrustModel | None = None) -> np.ndarray:
    """(C12), (n,)."""
    model = model or TrustModel()
    x, g = expected_accuracy(held_out, evidence.mean_confidence, model), held_out.chance
    u = max(0.0, (x - g) / (1 - g)) if g < 1 else 0.0
    return np.asarray(expit(logit(x) + u * (model.beta1 * evidence.e + model.beta2 * evidence.log_odds)))


def evidence_of(
    f: np.ndarray,
    pooled: np.ndarray,
    log_probs: Sequence[np.ndarray],
    weights: np.ndarray,
    refits: Sequence[np.ndarray],
) -> Evidence:
    """e, L and p̄. f, pooled, each of log_probs and of refits: (n, classes)."""
    predicted, rows = f.argmax(axis=1), np.arange(len(f))
    columns = [
        top_two_margin(f),
        mean_vote(log_probs, weights, predicted),
        *(class_margin(r, predicted) for r in refits),
    ]
    log_odds = np.clip(logit(pooled[rows, predicted].astype(np.float64)), -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)
    e = first_pc(np.column_stack([normal_scores(column) for column in columns]))
    return Evidence(e, log_odds - row_mean(log_odds), float(row_mean(pooled.max(axis=1))))


def first_pc(scores: np.ndarray) -> np.ndarray:
    """The first principal component, (n,): unit variance, or 0 where all scores are."""
    values, vectors = np.linalg.eigh(cross(scores, scores) / row_count(len(scores)))
    leading = vectors[:, -1]
    return np.asarray(scores @ leading * np.sign(leading.sum()) / np.sqrt(max(values[-1], 1e-12)))


def normal_scores(values: np.ndarray) -> np.ndarray:
    """Standard normal quantiles of the ranks; 0 where all values are equal."""
    return np.asarray(ndtri((ranks(values) - 0.5) / row_count(len(values))))


def top_two_margin(f: np.ndarray) -> np.ndarray:
    """(n,) largest minus second largest probability."""
    top = np.partition(f, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def class_margin(scores: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """(n,) score of the predicted class minus the largest other one."""
    rows, others = np.arange(len(predicted)), scores.copy()
    others[rows, predicted] = -np.inf
    return np.asarray(scores[rows, predicted] - others.max(axis=1))


def mean_vote(log_probs: Sequence[np.ndarray], weights: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """(n,) weighted mean over the channels of the predicted class's probability."""
    rows = np.arange(len(predicted))
    shares = weights / weights.sum()
    votes = (share * np.exp(log_p[rows, predicted]) for share, log_p in zip(shares, log_probs, strict=True))
    return np.asarray(sum(votes))


def promise_findings(held_out: HeldOut) -> list[Finding]:
    """Why nothing is trusted, if nothing is promised."""
    if held_out.is_promised:
        return []
    m = held_out.n_checkable
    recovered = (
        f"Cross-validation recovers {round(held_out.n_recovered)} of {m} labels; guessing would recover "
        f"{round(m * held_out.chance)}. "
        if m
        else "No class has a second label, so that none can be checked. "
    )
    if held_out.z < _CHANCE_LEVEL and held_out.best_z >= GATE:
        text = "This graph does not tell these classes apart; label more, or check the columns."
        return [Finding("warning", "uninformative", recovered + text)]
    text = "Too few labels to promise anything; label more, or audit a sample."
    return [Finding("warning", "too-few-labels", recovered + text)]


def rescale_to_confidence(f: np.ndarray, target: np.ndarray) -> np.ndarray:
    """F^β, normalised, with one β per node such that its largest probability is its trust, but at least 1/C.

    The order of the classes stays. β is found by bisection.
    """
    p = np.empty(f.shape, np.float32)
    for start in range(0, len(f), _BLOCK):
        rows = slice(start, start + _BLOCK)
        p[rows] = _rescaled(f[rows], target[rows])
    return p


def _rescaled(f: np.ndarray, target: np.ndarray) -> np.ndarray:
    c = f.shape[1]
    target = np.clip(target, 1 / c + 1e-4, 1 - 1e-4)
    log_f = np.log(np.maximum(f, 1e-12)).astype(np.float64)
    log_f -= log_f.max(axis=1, keepdims=True)
    low, high = np.full(len(f), -12.0), np.full(len(f), 12.0)  # log β
    for _ in range(24):
        middle = (low + high) / 2
        largest = 1 / (np.exp(np.exp(middle)[:, None] * log_f) @ np.ones(c))
        low, high = np.where(largest < target, middle, low), np.where(largest < target, high, middle)
    p = np.exp(np.exp(high)[:, None] * log_f)
    return np.asarray(p / p.sum(axis=1, keepdims=True))
