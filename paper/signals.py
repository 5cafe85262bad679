"""Confidence signals of a run: how well each one ranks errors last, and the calibration error.

The first channel of a dual-channel method is "one model" in the paper's sense: its own confidence, margin and entropy
compete there with the other channel's disagreement about the same predictions.
"""

from typing import Any

import numpy as np
from scipy.stats import entropy

from dccgcn.concord.confidence import top_two_margin
from dccgcn.methods.prediction import Prediction
from dccgcn.quality import calibration

SIGNALS = ("confidence", "margin", "entropy", "agreement", "agreement, then margin", "trust")
FINAL, FIRST = "final", "first"  # the final predictions, and those of the first channel alone
COVERAGES = np.linspace(0.05, 1, 20)  # where a stored risk-coverage curve is kept
BINS = 15  # of equal mass
_DIGITS = 5


def column(part: str, metric: str, signal: str = "") -> str:
    """The name of a stored number.

    >>> column("final", "auroc", "agreement, then margin")
    'final_auroc_agreement_then_margin'
    """
    return "_".join([part, metric, *signal.replace(",", "").split()])


def trust_columns(prediction: Prediction, test: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """Calibration and ranking quality on the test nodes.

    Of the final predictions, of the first of two channels, and of the margin of the predictions before correction
    (the pool) for errors of the final ones. An AUROC is left out where all predictions are right, or all wrong.
    """
    agree = None if prediction.channels_agree is None else prediction.channels_agree[test]
    own = None if prediction.trust is None else prediction.trust[test]
    columns = _judged(FINAL, prediction.probabilities[test], truth, agree, own)
    if agree is not None and len(prediction.channels) == 2:
        first = next(iter(prediction.channels.values()))
        columns |= _judged(FIRST, first[test], truth, agree, None)
    if prediction.uncorrected is not None:
        right = prediction.y_pred[test] == truth
        columns["pool_auroc_margin"] = calibration.auroc(top_two_margin(prediction.uncorrected[test]), right)
    return {name: _short(value) for name, value in columns.items() if value is not None}


def _judged(
    part: str, p: np.ndarray, truth: np.ndarray, agree: np.ndarray | None, own: np.ndarray | None
) -> dict[str, Any]:
    confidence, right = p.max(axis=1).astype(np.float64), p.argmax(axis=1) == truth
    bars = calibration.bars(confidence, right, BINS)
    columns: dict[str, Any] = {
        column(part, "gap"): confidence.mean() - right.mean(),  # positive: over-confident
        column(part, "ece"): calibration.calibration_error(bars),
    }
    if part == FINAL:
        columns["bins"] = [x for bar in bars for x in (bar.count, bar.confidence, bar.accuracy)]
    for signal, score in _scores(p, agree, own).items():
        curve = calibration.risk_coverage(score, right)
        at = np.maximum(1, np.round(COVERAGES * len(score))).astype(int) - 1
        columns[column(part, "auroc", signal)] = calibration.auroc(score, right)
        columns[column(part, "aurc", signal)] = curve.area
        if part == FINAL:
            columns[column(part, "risk", signal)] = curve.risk[at].tolist()
    return columns


def _scores(p: np.ndarray, agree: np.ndarray | None, own: np.ndarray | None) -> dict[str, np.ndarray]:
    """Signals by name; a higher score means a more trusted prediction."""
    margin = top_two_margin(p)
    scores = {"confidence": p.max(axis=1), "margin": margin, "entropy": -entropy(p.astype(np.float64), axis=1)}
    if agree is not None:
        scores["agreement"] = agree.astype(np.float64)
        scores["agreement, then margin"] = 2.0 * agree + margin
    if own is not None:
        scores["trust"] = own
    return scores


def _short(value: Any) -> Any:
    return [round(float(x), _DIGITS) for x in value] if isinstance(value, list) else round(float(value), _DIGITS)
