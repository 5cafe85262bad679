"""Quality of confidence scores: calibration errors, and rankings of predictions by trust."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dccgcn.errors import DccgcnError
from dccgcn.quality.metrics import aligned


@dataclass(frozen=True)
class Bin:
    """One bin of a reliability diagram."""

    count: int
    confidence: float  # mean
    accuracy: float


def bars(stated: Any, right: Any, bins: int = 15) -> tuple[Bin, ...]:
    """The non-empty bins of a reliability diagram of any stated probability of being right.

    Bins have equal mass and keep equal confidences together, so that no bin depends on the order of the nodes: a node's
    bin is determined by the number of less confident nodes.
    """
    stated, right = aligned(stated=stated, right=right)
    if bins < 1:
        raise DccgcnError(f"A reliability diagram needs one bin or more, not {bins}.")
    which = np.searchsorted(np.sort(stated), stated, side="left") * bins // len(stated)
    parts = (which == b for b in np.unique(which))
    return tuple(Bin(int(inside.sum()), float(stated[inside].mean()), float(right[inside].mean())) for inside in parts)


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
