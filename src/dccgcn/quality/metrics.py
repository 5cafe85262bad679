"""Accuracy of predictions: overall, by class, by pair of channels, before and after calibration."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dccgcn.quality import checks


def accuracy(truth: Any, prediction: Any) -> float:
    """Share of correct predictions, the paper's ACC."""
    truth, prediction = checks.labels(truth, prediction=prediction)
    return float((truth == prediction).mean())


def macro_f1(truth: Any, prediction: Any) -> float:
    """Mean F1 over the classes present in the truth, the paper's F1.

    A class that is never predicted counts 0. A class that is predicted but does not occur in the truth is
    left out of the mean; its false positives already lower the recall of the true classes.
    """
    truth, prediction = checks.labels(truth, prediction=prediction)
    classes, n_true = np.unique(truth, return_counts=True)
    n_predicted = np.array([(prediction == k).sum() for k in classes])
    n_right = np.array([((prediction == k) & (truth == k)).sum() for k in classes])
    return float((2 * n_right / (n_true + n_predicted)).mean())


@dataclass(frozen=True)
class ConfidenceSplit:
    """Accuracy of the high- and low-confidence nodes; None for an empty set."""

    accuracy_high: float | None  # before calibration
    accuracy_low_before: float | None
    accuracy_low_after: float | None
    agreement: float  # share of high-confidence nodes


def confidence_split(truth: Any, prediction_before: Any, prediction_after: Any, agree: Any) -> ConfidenceSplit:
    """Accuracy of the high- and the low-confidence nodes before and after calibration (Section 5.1, Figure 4)."""
    truth, before, after, agree = checks.labels(
        truth, prediction_before=prediction_before, prediction_after=prediction_after, agree=agree
    )
    high = agree.astype(bool)
    return ConfidenceSplit(
        accuracy_high=_share(before == truth, high),
        accuracy_low_before=_share(before == truth, ~high),
        accuracy_low_after=_share(after == truth, ~high),
        agreement=float(high.mean()),
    )


def _share(right: np.ndarray, among: np.ndarray) -> float | None:
    return float(right[among].mean()) if among.any() else None
