"""How well nodes are ranked by the probability of one class: what counts where the class is rare."""

from typing import Any

import numpy as np

from dccgcn.errors import DccgcnError
from dccgcn.quality import checks


def average_precision(is_member: Any, score: Any) -> float:
    """Mean precision at the members of a class, nodes sorted by falling score; nodes of equal score count together.

    >>> average_precision([True, False, True], [0.9, 0.5, 0.4])
    0.8333333333333333
    """
    member, score = _ranked(is_member, score)
    last = np.append(score[1:] != score[:-1], True)  # of each group of equal scores
    found = np.cumsum(member)[last]
    precision = found / (np.flatnonzero(last) + 1)
    return float((np.diff(found, prepend=0) * precision).sum() / member.sum())


def recall_at(is_member: Any, score: Any, k: int) -> float:
    """Share of the members of a class among the k nodes of highest score.

    >>> recall_at([True, False, True], [0.9, 0.5, 0.4], 2)
    0.5
    """
    member, _ = _ranked(is_member, score)
    return float(member[:k].sum() / member.sum())


def _ranked(is_member: Any, score: Any) -> tuple[np.ndarray, np.ndarray]:
    member, score = checks.aligned(is_member=is_member, score=score)
    member = member.astype(bool)
    if not member.any():
        raise DccgcnError("No node is of the class.", "Score a class that occurs among the nodes.")
    order = np.argsort(-score, kind="stable")
    return member[order], score[order]
