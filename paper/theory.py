"""Section 3.1's theorems as the paper states them, the exact identities, and the counts of two channels.

p1, p2 are the channels' accuracies, c is the number of classes, N_r = rN nodes are right in both channels and
N_w = wN wrong in both with the same class. The 1 - r - w where the channels disagree are the low-confidence nodes;
p_low is the first channel's accuracy on them. Appendix equations go by the numbers of the paper's source, 13 to 22.

**Theorem 1 is not a bound.** The first channel is right where both are and on a share p_low of the disagreement:
p1 = r + (1 - r - w)·p_low. Eq. 17 writes N_a = N_r + N_w in place of N_r, counting as right the nodes on which both
channels are wrong in the same way. Its solution, Eq. 18's left side, is too small by exactly w / (1 - r - w); the
inequality that follows is true of that expression and not of p_low. Independent channels break it whenever w > 0.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from dccgcn.errors import DccgcnError
from dccgcn.quality.metrics import aligned_labels

T = TypeVar("T", float, np.ndarray)  # a number, or a grid of them


def independent_r(p1: T, p2: T) -> T:
    """Eq. 13: r of two independent channels, p1·p2."""
    return p1 * p2


def independent_w(p1: T, p2: T, c: int) -> T:
    """Eq. 13: w of two independent channels with symmetric errors (Assumption 1), (1 - p1)(1 - p2) / (c - 1)."""
    if c < 2:
        raise DccgcnError(f"Two classes or more are needed to be wrong, not {c}.")
    return (1 - p1) * (1 - p2) / (c - 1)


# Theorem 1


def theorem1_bound(p1: T, p2: T) -> T:
    """Eq. 2, right side: the claimed upper bound on p_low. It is not a bound; see the module's docstring."""
    return _ratio(p1 * (1 - p2), 1 - p1 * p2)


def theorem1_equality(p1: T, p2: T, r: T) -> T:
    """Eq. 2, middle: (p1 - r) / (1 - p1·p2), which is p_low only if the channels agree on p1·p2 of the nodes."""
    return _ratio(p1 - r, 1 - p1 * p2)


def eq18_left(p1: T, p2: T, c: int, gamma: float = 0.0) -> T:
    """Eq. 18, left side: (p1 - a) / (1 - a) with the agreement a = p1·p2 + (1 - p1)(1 - p2)/(c - 1) + γ."""
    a = independent_r(p1, p2) + independent_w(p1, p2, c) + gamma
    return _ratio(p1 - a, 1 - a)


def low_accuracy(p1: T, r: T, w: T) -> T:
    """p_low = (p1 - r) / (1 - r - w), exactly and without any assumption; NaN where nothing disagrees."""
    return _ratio(p1 - r, 1 - r - w)


# Theorem 2


def theorem2_bound(p1: T, agreement: T) -> T:
    """Eq. 3 and 22 with the agreement a = r + w in place of its expansion: gain < (1 - p1)·a."""
    return (1 - p1) * agreement


def theorem2_corrected(p1: T, r: T, w: T) -> T:
    """Theorem 2 counting correct predictions only: gain < (1 - p1)·r - p1·w, which is Eq. 22's bound less w.

    Assumes that calibration changes predictions of low-confidence nodes only, that there are such nodes, and
    Assumption 2, p'_low < p1. Then p1 + gain = r + (1 - r - w)·p'_low < r + (1 - r - w)·p1. The bound equals
    (1 - r - w)(p1 - p_low), so it is positive just where the words of Theorem 1, p_low < p1, are true.
    """
    return (1 - p1) * r - p1 * w


def gain(p1: T, r: T, w: T, p_low_after: T) -> T:
    """Eq. 19 counting correct predictions only: r + (1 - r - w)·p'_low - p1, exact if agreeing nodes are unchanged."""
    return r + (1 - r - w) * p_low_after - p1


# Analysis 2 (Figure 7): the bounds over a grid of accuracies


def upper_bound(p1: T, p2: T, c: int, gamma: float = 0.0) -> T:
    """Eq. 3 and 22: (1 - p1)[p1·p2 + (1 - p1)(1 - p2)/(c - 1) + γ].

    Analysis 2 says that it is greatest at p2 = p1. It is linear in p2, and for p1 > 1/c rises up to p2 = 1.
    """
    return theorem2_bound(p1, independent_r(p1, p2) + independent_w(p1, p2, c) + gamma)


def upper_bound_over_better(p1: T, p2: T, c: int, gamma: float = 0.0) -> T:
    """The smaller of Eq. 22's bounds for either channel: what can be gained over the better one.

    This is the reading of Appendix C ("similarly, p'_low < p2") under which its claim is true: for p1 >= 1/2 and a
    given p1, the surface peaks at p2 = p1.
    """
    smaller: Any = np.minimum(upper_bound(p1, p2, c, gamma), upper_bound(p2, p1, c, gamma))
    return smaller if smaller.ndim else smaller.item()


def corrected_upper_bound(p1: T, p2: T, c: int, alpha: float = 0.0, beta: float = 0.0) -> T:
    """Theorem 2 counting correct predictions only, over the same grid: (1 - p1)(p1·p2 + α) - p1(w + β).

    With α = β = 0 it is p1(1 - p1)(c·p2 - 1)/(c - 1): there is something to gain only if the second channel is
    better than chance. γ alone does not do here, as α helps and β hurts.
    """
    return theorem2_corrected(p1, independent_r(p1, p2) + alpha, independent_w(p1, p2, c) + beta)


# Counts of two channels


@dataclass(frozen=True)
class ChannelCounts:
    """Numbers of nodes by which channels are right; each node counts in exactly one field."""

    both_right: int
    both_wrong_same: int  # the two agree on one wrong class: high confidence, and wrong
    both_wrong_different: int
    only_first_right: int
    only_second_right: int

    @property
    def agree(self) -> int:
        """Nodes of the high-confidence set (Section 3.3)."""
        return self.both_right + self.both_wrong_same

    @property
    def disagree(self) -> int:
        """Nodes of the low-confidence set (Section 3.3)."""
        return self.both_wrong_different + self.only_first_right + self.only_second_right

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.agree + self.disagree


def channel_counts(truth: Any, prediction1: Any, prediction2: Any) -> ChannelCounts:
    """Count the nodes by which of the two channels are right."""
    truth, first, second = aligned_labels(truth, prediction1=prediction1, prediction2=prediction2)
    right1, right2, same = first == truth, second == truth, first == second
    return ChannelCounts(
        both_right=int((right1 & right2).sum()),
        both_wrong_same=int((same & ~right1).sum()),
        both_wrong_different=int((~right1 & ~right2 & ~same).sum()),
        only_first_right=int((right1 & ~right2).sum()),
        only_second_right=int((right2 & ~right1).sum()),
    )


@dataclass(frozen=True)
class ChannelStatistics:
    """The quantities of the theorems, counted on n nodes."""

    p1: float  # accuracy of the first channel
    p2: float  # accuracy of the second
    r: float  # share right in both
    w: float  # share wrong in both with the same class
    agreement: float  # r + w, the share of high-confidence nodes
    p_low: float | None  # the first channel's accuracy where they disagree, counted there; None if they never do
    n: int

    def excess(self, c: int) -> tuple[float, float]:
        """α and β of Eq. 15: how far r and w are above those of independent channels. γ is their sum."""
        return self.r - independent_r(self.p1, self.p2), self.w - independent_w(self.p1, self.p2, c)


def measure(truth: Any, prediction1: Any, prediction2: Any) -> ChannelStatistics:
    """Count the quantities of the theorems; p_low is counted too, not computed by the identity."""
    return statistics(channel_counts(truth, prediction1, prediction2))


def statistics(k: ChannelCounts) -> ChannelStatistics:
    """The same from counts made before."""
    return ChannelStatistics(
        p1=(k.both_right + k.only_first_right) / k.n,
        p2=(k.both_right + k.only_second_right) / k.n,
        r=k.both_right / k.n,
        w=k.both_wrong_same / k.n,
        agreement=k.agree / k.n,
        p_low=k.only_first_right / k.disagree if k.disagree else None,
        n=k.n,
    )


def _ratio(top: T, bottom: T) -> T:
    # a set without nodes has no accuracy; 1 - r - w may miss its zero by rounding, and no graph has 1e12 nodes
    known = np.abs(np.asarray(bottom)) > 1e-12
    ratio: Any = np.where(known, top / np.where(known, bottom, 1.0), np.nan)
    return ratio if ratio.ndim else ratio.item()
