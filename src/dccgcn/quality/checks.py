"""Input checks of all metrics: arrays of equal length, known labels, rows of probabilities."""

from typing import Any

import numpy as np

from dccgcn.errors import DccgcnError
from dccgcn.text import first_few


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


def probabilities(given: Any) -> np.ndarray:
    """(n, c) probabilities in double precision; rows that are not probabilities are refused."""
    p = np.asarray(given, dtype=np.float64)
    if p.ndim != 2 or p.shape[0] == 0 or p.shape[1] < 2:
        raise DccgcnError(f"Probabilities must be a matrix of nodes by two or more classes, not of shape {p.shape}.")
    # float32 softmax over many classes is off by about 1e-6; logits are off by far more
    bad = np.flatnonzero(~((p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1) < 1e-3)))
    if len(bad):
        raise DccgcnError(
            f"{len(bad)} rows are not probabilities, at positions {first_few(bad)}.",
            "Rows must be non-negative and sum to one: apply softmax to logits.",
        )
    return p
