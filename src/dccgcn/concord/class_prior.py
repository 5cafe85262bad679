"""Class frequencies φ: known ones, or those of labels that were drawn at random.

    F_ij ∝ F_ij √v_j,   v such that argmax_j F_ij v_j is class j for a share φ_j of the nodes                  (C10)

Known frequencies shift F before the refit and after it. Square roots keep most of the gain of the full prior and lose
less where φ is inaccurate. Labels drawn class by class carry no information about φ, those drawn at random do:

    F_ij ∝ F_ij v_j,   φ_j = (m_j + m0 p_j) / (m + m0)                                                   (C10')

m_j of the m labels are of class j, and so are a share p_j of the predictions; F is shifted once, after the refit.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dccgcn.errors import SettingsError
from dccgcn.kernels import softmax_rows
from dccgcn.runtime import row_count, row_sum
from dccgcn.text import first_few

_TOLERANCE = 0.02  # of the sum: users round
_N_STEPS = 60
_STEP = 0.3  # damping, as the shares of all classes change together
_EPSILON = 1e-9
_PREDICTED_SHARES = 300  # m0, labels that the predicted shares count for


def relative_prior(classes: Sequence[Any], class_prior: Mapping[str, float]) -> np.ndarray:
    """C φ, (classes,): 1 where all classes are equally frequent. Classes not named share the rest equally."""
    names = [str(name) for name in classes]
    if wrong := [name for name in class_prior if name not in names]:
        raise SettingsError(
            f"Option class_prior: {first_few(wrong)} {'is not a class' if len(wrong) == 1 else 'are not classes'}.",
            f"The classes are {first_few(names, 20)}.",
        )
    unnamed = [name for name in names if name not in class_prior]
    rest = 1 - sum(class_prior.values())
    if rest < -_TOLERANCE or (unnamed and rest <= 0) or (not unnamed and rest > _TOLERANCE):
        raise SettingsError(
            f"Option class_prior: the frequencies sum to {1 - rest:.4g}, and {len(unnamed)} of the {len(names)} "
            "classes are not named.",
            "All together must sum to 1; classes that are not named share the rest equally.",
        )
    shares = np.array([class_prior.get(name, rest / max(len(unnamed), 1)) for name in names])
    return len(names) * shares / shares.sum() if class_prior else np.ones(len(names))


def shift_to_prior(f: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """F of (C10), (n, classes); ``prior`` is C φ."""
    scores = np.log(np.maximum(f, _EPSILON))
    return softmax_rows(scores, log_shift(scores, prior) / 2, f.shape[1])


def shift_to_labels(f: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """F of (C10'), (n, classes); ``counts``: labels of each class, (classes,)."""
    scores, c = np.log(np.maximum(f, _EPSILON)), f.shape[1]
    predicted = row_sum(np.bincount(f.argmax(axis=1), minlength=c)) / row_count(len(f))
    shares = (counts + _PREDICTED_SHARES * predicted) / (counts.sum() + _PREDICTED_SHARES)
    return softmax_rows(scores, log_shift(scores, c * np.maximum(shares, _EPSILON)), c)


def log_shift(scores: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """log v of (C10), (classes,), by damped fixed-point iteration: the step that comes nearest."""
    n, c = row_count(len(scores)), scores.shape[1]
    wanted, v = prior * n / c, np.zeros(c, scores.dtype)
    nearest, least = v, np.inf
    for _ in range(_N_STEPS):
        predicted = row_sum(np.bincount((scores + v).argmax(axis=1), minlength=c))
        if (distance := np.abs(predicted - wanted).sum()) < least:
            nearest, least = v, distance
        v = v + (_STEP * np.log(wanted / (predicted + 0.5))).astype(v.dtype)  # finite for an empty class
    return nearest
