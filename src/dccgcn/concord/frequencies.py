"""How frequent classes are, where the user knows that: labels that are drawn class by class do not tell.

Without it classes count as equally frequent, which is right for most graphs or not far from it. Where one class is
rare, fraud or faults, it is not: the rounds would look for as many nodes of it as of the others, and find them.

    F_ij ∝ F_ij v_j,   v such that class j is the answer for a share φ_j of all nodes                     (C12)
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dccgcn.errors import SettingsError, some
from dccgcn.kernels import softmax_rows

_SLACK = 0.02  # frequencies are rounded by those who write them
_STEPS = 60
_STEP = 0.3  # of the way, as the answers of other classes move too
_LEAST = 1e-9


def relative_frequencies(classes: Sequence[Any], known: Mapping[str, float]) -> np.ndarray:
    """Each class's frequency, times the number of classes: 1 where all are equally frequent, (classes,).

    ``known`` holds frequencies by name; classes that it does not name share the rest alike.
    """
    names = [str(name) for name in classes]
    if strangers := [name for name in known if name not in names]:
        raise SettingsError(
            f"Option frequencies: {some(strangers)} {'is not a class' if len(strangers) == 1 else 'are not classes'}.",
            f"The classes are {some(names, 20)}.",
        )
    unknown = [name for name in names if name not in known]
    rest = 1 - sum(known.values())
    if rest < -_SLACK or (unknown and rest <= 0) or (not unknown and rest > _SLACK):
        raise SettingsError(
            f"Option frequencies: those that are given sum to {1 - rest:.4g}, and {len(unknown)} of the {len(names)} "
            "classes are not named.",
            "All together must be 1; classes that are not named share the rest.",
        )
    shares = np.array([known.get(name, rest / max(len(unknown), 1)) for name in names])
    return len(names) * shares / shares.sum() if known else np.ones(len(names))


def as_frequent(f: np.ndarray, frequent: np.ndarray) -> np.ndarray:
    """F of (C12), as near as answers for whole nodes can come, (n, classes)."""
    n, c = f.shape
    scores, v = np.log(np.maximum(f, _LEAST)), np.zeros(c, f.dtype)
    for _ in range(_STEPS):
        answered = np.bincount((scores + v).argmax(axis=1), minlength=c) + 0.5  # a class that has none can come back
        v += (_STEP * np.log(frequent * n / c / answered)).astype(f.dtype)
    return softmax_rows(scores, v, c)
