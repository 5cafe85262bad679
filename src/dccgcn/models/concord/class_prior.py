"""How frequent classes are, where the user knows that: labels that are drawn class by class do not tell.

Without it classes count as equally frequent, which is right for most graphs or not far from it. Where one class is
rare, fraud or faults, it is not: the rounds would look for as many nodes of it as of the others, and find them.

    ψ_j ∝ √φ_j,   F_ij ∝ F_ij √v_j,   v such that by F_ij v_j class j is the answer for a share φ_j         (C12)

φ are the frequencies, ψ is what rounds and accord are told of them, and F is changed so before its echo and after. Half
the way has nearly all of the gain, and forgives who is not quite right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dccgcn.errors import SettingsError
from dccgcn.kernels import softmax_rows
from dccgcn.text import first_few

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
            f"Option frequencies: {first_few(strangers)} "
            f"{'is not a class' if len(strangers) == 1 else 'are not classes'}.",
            f"The classes are {first_few(names, 20)}.",
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


def half_way(frequent: np.ndarray) -> np.ndarray:
    """C ψ of (C12) from C φ, (classes,)."""
    root = np.sqrt(frequent)
    return np.asarray(root / root.mean())


def as_frequent(f: np.ndarray, frequent: np.ndarray) -> np.ndarray:
    """F of (C12), (n, classes); frequent is C φ."""
    scores = np.log(np.maximum(f, _LEAST))
    return softmax_rows(scores, offsets(scores, frequent) / 2, f.shape[1])


def offsets(scores: np.ndarray, frequent: np.ndarray) -> np.ndarray:
    """log v, with which classes are as frequent among the answers as whole nodes allow, (classes,)."""
    n, c = scores.shape
    v = np.zeros(c, scores.dtype)
    for _ in range(_STEPS):
        answered = np.bincount((scores + v).argmax(axis=1), minlength=c) + 0.5  # a class that has none can come back
        v += (_STEP * np.log(frequent * n / c / answered)).astype(v.dtype)
    return v
