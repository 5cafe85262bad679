"""Accuracy of predictions: overall, by class, of rankings, before and after calibration."""

from typing import Any

import numpy as np

from dccgcn.errors import DccgcnError
from dccgcn.text import first_few


def accuracy(truth: Any, prediction: Any) -> float:
    """Share of correct predictions, the paper's ACC."""
    truth, prediction = aligned_labels(truth, prediction=prediction)
    return float((truth == prediction).mean())


def macro_f1(truth: Any, prediction: Any) -> float:
    """Mean F1 over the classes present in the truth, the paper's F1.

    A class that is never predicted counts 0. A class that is predicted but does not occur in the truth is
    left out of the mean; its false positives already lower the recall of the true classes.
    """
    truth, prediction = aligned_labels(truth, prediction=prediction)
    classes, n_true = np.unique(truth, return_counts=True)
    n_predicted = np.array([(prediction == k).sum() for k in classes])
    n_right = np.array([((prediction == k) & (truth == k)).sum() for k in classes])
    return float((2 * n_right / (n_true + n_predicted)).mean())


def average_precision(is_member: Any, score: Any) -> float:
    """Mean precision at the members of a class, nodes sorted by falling score; nodes of equal score count together."""
    member, score = _members(is_member, score)
    _, tie, n = np.unique(-score, return_inverse=True, return_counts=True)
    hits = np.bincount(tie, weights=member)
    return float(hits @ (np.cumsum(hits) / np.cumsum(n)) / member.sum())


def recall_at(is_member: Any, score: Any, k: int) -> float:
    """Share of the members of a class among the k nodes of highest score, the first of equals.

    >>> recall_at([True, False, True], [0.9, 0.5, 0.4], 2)
    0.5
    """
    member, score = _members(is_member, score)
    return float(member[np.argsort(-score, kind="stable")[:k]].sum() / member.sum())


def _members(is_member: Any, score: Any) -> tuple[np.ndarray, np.ndarray]:
    member, score = aligned(is_member=is_member, score=score)
    if not member.any():
        raise DccgcnError("No node is of the class.", "Score a class that occurs among the nodes.")
    return member.astype(bool), score


def aligned(**named: Any) -> tuple[np.ndarray, ...]:
    """One-dimensional arrays of equal length, not empty, without NaN."""
    arrays = {name: np.asarray(values) for name, values in named.items()}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise DccgcnError(f"{name} must have one value per node, but has shape {array.shape}.")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise DccgcnError(
                f"{name} is NaN or infinite at positions {first_few(np.flatnonzero(~np.isfinite(array)))}.",
                "Leave these entries out, or find out where they come from.",
            )
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise DccgcnError(f"The lengths differ: {listed}.", "All must list the same nodes in the same order.")
    if 0 in lengths.values():
        raise DccgcnError("There is nothing to score: no nodes were given.", "Pass at least one.")
    return tuple(arrays.values())


def aligned_labels(truth: Any, **predictions: Any) -> tuple[np.ndarray, ...]:
    """The truth and the predictions, aligned; an unlabelled node (-1) cannot be scored."""
    arrays = aligned(truth=truth, **predictions)
    if arrays[0].dtype.kind in "if":
        unknown = np.flatnonzero(arrays[0] < 0)
        if len(unknown):
            raise DccgcnError(
                f"The truth of {len(unknown)} nodes is unknown (-1), at positions {first_few(unknown)}.",
                "Score the labelled nodes only.",
            )
    return arrays
