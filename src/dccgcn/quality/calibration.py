"""Quality of confidence scores: calibration errors, and rankings of predictions by trust."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dccgcn.errors import DccgcnError
from dccgcn.quality.metrics import aligned, aligned_labels, checked_probabilities

Scheme = Literal["equal-mass", "equal-width"]


def confidence(probabilities: Any) -> np.ndarray:
    """(n,) probability of the predicted class."""
    return checked_probabilities(probabilities).max(axis=1)


def margin(probabilities: Any) -> np.ndarray:
    """(n,) difference of the two largest probabilities."""
    top = np.partition(checked_probabilities(probabilities), -2, axis=1)
    return top[:, -1] - top[:, -2]


def negative_entropy(probabilities: Any) -> np.ndarray:
    """(n,) Σ p log p: 0 for a certain prediction, -log c for a uniform one."""
    p = checked_probabilities(probabilities)
    return np.sum(p * np.log(np.where(p > 0, p, 1.0)), axis=1)


def confidence_gap(probabilities: Any, truth: Any) -> float:
    """Mean confidence minus accuracy: positive is over-confident, negative under-confident.

    >>> confidence_gap([[0.6, 0.4], [0.6, 0.4]], [0, 0])
    -0.4
    """
    stated, right = _confidence_and_right(probabilities, truth)
    return float(stated.mean() - right.mean())


@dataclass(frozen=True)
class Bin:
    """One bin of a reliability diagram."""

    lower: float  # equal-width: the edges, lower < confidence <= upper;
    upper: float  # equal-mass: the smallest and the largest confidence in the bin
    count: int
    confidence: float  # mean
    accuracy: float


def reliability(probabilities: Any, truth: Any, bins: int = 15, scheme: Scheme = "equal-mass") -> tuple[Bin, ...]:
    """The non-empty bins of a reliability diagram of the predicted classes' probabilities."""
    return bars(*_confidence_and_right(probabilities, truth), bins, scheme)


def bars(stated: Any, right: Any, bins: int = 15, scheme: Scheme = "equal-mass") -> tuple[Bin, ...]:
    """The non-empty bins of a reliability diagram of any stated probability of being right.

    Equal-mass bins keep equal confidences together, so that no bin depends on the order of the nodes: a node's bin
    is determined by the number of less confident nodes.
    """
    stated, right = aligned(stated=stated, right=right)
    if bins < 1:
        raise DccgcnError(f"A reliability diagram needs one bin or more, not {bins}.")
    edges = np.linspace(0, 1, bins + 1)
    if scheme == "equal-mass":
        which = np.searchsorted(np.sort(stated), stated, side="left") * bins // len(stated)
    elif scheme == "equal-width":
        which = np.searchsorted(edges[1:-1], stated, side="left")
    else:
        raise DccgcnError(f"There is no binning scheme {scheme!r}.", "Use 'equal-mass' or 'equal-width'.")
    made = []
    for b in np.unique(which):
        inside = which == b
        s = stated[inside]
        lower, upper = (edges[b], edges[b + 1]) if scheme == "equal-width" else (s.min(), s.max())
        made.append(Bin(float(lower), float(upper), len(s), float(s.mean()), float(right[inside].mean())))
    return tuple(made)


def ece(probabilities: Any, truth: Any, bins: int = 15, scheme: Scheme = "equal-mass") -> float:
    """Expected calibration error: Σ_b (n_b / n) · |accuracy_b - confidence_b|."""
    return calibration_error(reliability(probabilities, truth, bins, scheme))


def calibration_error(diagram: Sequence[Bin]) -> float:
    """Expected calibration error of a reliability diagram: the mean over the nodes of |accuracy - confidence|."""
    n = sum(bar.count for bar in diagram)
    return sum(bar.count * abs(bar.accuracy - bar.confidence) for bar in diagram) / n


def auroc(score: Any, right: Any) -> float | None:
    """Probability that a correct prediction scores above a wrong one, ties counting half; None without both kinds."""
    score, right = aligned(score=score, right=right)
    right = right.astype(bool)
    if right.all() or not right.any():
        return None
    from sklearn.metrics import roc_auc_score  # slow to import

    return float(roc_auc_score(right, score))


@dataclass(frozen=True)
class RiskCoverage:
    """Error rate among the most trusted predictions, for every coverage."""

    coverage: np.ndarray  # (n,) 1/n, 2/n, … 1
    risk: np.ndarray  # (n,)

    @property
    def area(self) -> float:
        """Mean risk over all coverages (AURC): lower is better; a random ranking has the error rate."""
        return float(self.risk.mean())


def risk_coverage(score: Any, right: Any) -> RiskCoverage:
    """The risk at each coverage, most trusted nodes first.

    Tied nodes each count the error rate of their tie, which is the mean over all its orders, so the curve does not
    depend on the order of the nodes.
    """
    score, right = aligned(score=score, right=right)
    n = len(score)
    _, tie, size = np.unique(-score.astype(np.float64), return_inverse=True, return_counts=True)
    errors = np.bincount(tie, weights=~right.astype(bool))
    expected = np.repeat(errors / size, size)  # (n,) from the most to the least trusted
    covered = np.arange(1, n + 1)
    return RiskCoverage(coverage=covered / n, risk=np.cumsum(expected) / covered)


def _confidence_and_right(probabilities: Any, truth: Any) -> tuple[np.ndarray, np.ndarray]:
    """Each node's confidence and whether its prediction is right."""
    p = checked_probabilities(probabilities)
    truth, predicted = aligned_labels(truth, prediction=p.argmax(axis=1))
    if truth.dtype.kind not in "iu" or truth.max() >= p.shape[1]:
        raise DccgcnError(
            f"The truth must be positions among the {p.shape[1]} columns of probabilities.",
            "Pass class codes, as in NodeGraph.labels, rather than class names.",
        )
    return p.max(axis=1), truth == predicted
