"""Confidence signals of a run: how well each one ranks errors last, and the calibration error."""

from typing import Any

import numpy as np

from dccgcn.evaluation import trust
from dccgcn.models.prediction import Prediction

COVERAGES = np.linspace(0.05, 1, 20)  # where a stored risk-coverage curve is kept
BINS = 15  # of equal mass


def trust_record(prediction: Prediction, test: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """Plain numbers for the final predictions and, of a dual-channel method, for those of its first channel alone.

    The first channel is "one model" in the paper's sense: its own confidence, margin and entropy compete there with
    the other channel's disagreement about the same predictions. "other_auroc": how well the confidence, margin and
    entropy of each channel, of the predictions before correction (the pool), and of the joint model, find errors of
    the final predictions.
    """
    agree = None if prediction.channels_agree is None else prediction.channels_agree[test]
    own = None if prediction.trust is None else prediction.trust[test]
    record = {"final": _judged(prediction.probabilities[test], truth, agree, own)}
    others = {"pool": prediction.uncorrected, "joint": prediction.joint, **prediction.channels}
    right = prediction.y_pred[test] == truth
    if found := {name: _areas(p[test], right) for name, p in others.items() if p is not None}:
        record["other_auroc"] = found
    if agree is not None and len(prediction.channels) == 2:
        first = next(iter(prediction.channels.values()))
        record["first_channel"] = _judged(first[test], truth, agree, None)
    return record


def _judged(p: np.ndarray, truth: np.ndarray, agree: np.ndarray | None, own: np.ndarray | None) -> dict[str, Any]:
    right = p.argmax(axis=1) == truth
    bars = trust.reliability(p, truth, BINS)
    return {
        "accuracy": _short(right.mean()),
        "confidence_gap": _short(trust.confidence_gap(p, truth)),  # positive: over-confident
        "ece": _short(trust.ece(p, truth, BINS)),
        "bins": [[bar.count, _short(bar.confidence), _short(bar.accuracy)] for bar in bars],
        "signals": {name: _ranked(score, right) for name, score in _scores(p, agree, own).items()},
    }


def _scores(p: np.ndarray, agree: np.ndarray | None, own: np.ndarray | None) -> dict[str, np.ndarray]:
    """Signals by name; a higher score means a more trusted prediction."""
    margin = trust.margin(p)
    scores = {"confidence": trust.confidence(p), "margin": margin, "entropy": trust.negative_entropy(p)}
    if agree is not None:
        scores["agreement"] = agree.astype(np.float64)
        scores["agreement, then margin"] = 2.0 * agree + margin
    if own is not None:
        scores["trust"] = own
    return scores


def _ranked(score: np.ndarray, right: np.ndarray) -> dict[str, Any]:
    curve = trust.risk_coverage(score, right)
    area = trust.auroc(score, right)
    at = np.maximum(1, np.round(COVERAGES * len(score))).astype(int) - 1
    return {
        "auroc": None if area is None else _short(area),
        "aurc": _short(curve.area),
        "risk": [_short(risk) for risk in curve.risk[at]],
    }


def _areas(p: np.ndarray, right: np.ndarray) -> dict[str, float | None]:
    """The AUROC of each signal."""
    areas = {name: trust.auroc(score, right) for name, score in _scores(p, None, None).items()}
    return {name: None if area is None else _short(area) for name, area in areas.items()}


def _short(value: Any) -> float:
    return round(float(value), 5)
