"""Paired comparison of two methods on the same splits: mean, standard deviation, confidence interval."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from dccgcn.errors import DccgcnError
from dccgcn.quality.metrics import aligned


@dataclass(frozen=True)
class Summary:
    """Mean and spread of one method's results over splits."""

    mean: float
    std: float | None  # over splits, n - 1 in the denominator; None for a single split
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.1f}" if self.std is None else f"{self.mean:.1f} ± {self.std:.1f}"


def summary(values: Any) -> Summary:
    """Mean ± standard deviation over splits.

    >>> print(summary([63.0, 65.0, 64.0]))
    64.0 ± 1.0
    """
    (x,) = aligned(values=values)
    return Summary(float(x.mean()), float(x.std(ddof=1)) if len(x) > 1 else None, len(x))


@dataclass(frozen=True)
class PairedDifference:
    """Mean of first - second over splits with Student's interval; a single split has only a mean."""

    mean: float
    std: float | None  # of the differences, not of either method
    low: float | None  # ends of the interval for the mean
    high: float | None
    p_value: float | None  # two-sided, of "no difference"
    n: int

    @property
    def interval(self) -> str:
        """The interval as text, such as "+0.4 to +1.2"; a dash for a single split."""
        return "–" if self.low is None or self.high is None else f"{self.low:+.1f} to {self.high:+.1f}"

    @property
    def is_above(self) -> bool:
        """Whether the interval lies above zero."""
        return self.low is not None and self.low > 0

    @property
    def is_below(self) -> bool:
        """Whether the interval lies below zero."""
        return self.high is not None and self.high < 0

    def __str__(self) -> str:
        return f"{self.mean:+.1f}" + (f" ({self.interval})" if self.low is not None else "")


@dataclass(frozen=True)
class Significance:
    """How many of some differences have an interval above zero, below zero, and an interval at all."""

    above: int
    below: int
    of: int


def significance(differences: Iterable[PairedDifference]) -> Significance:
    """Count the differences whose interval excludes zero."""
    found = [d for d in differences if d.low is not None]
    return Significance(sum(d.is_above for d in found), sum(d.is_below for d in found), len(found))


def paired_difference(first: Any, second: Any, level: float = 0.95, test_to_train: float = 0.0) -> PairedDifference:
    """Compare two methods run on the same splits, in the same order.

    test_to_train: for folds of the same labels, the ratio of test to training labels. Folds share most of their
    training labels, so their differences vary less than those of new labels would; the variance of the mean is
    (1/n + test_to_train) instead of 1/n times that of the differences (Nadeau & Bengio 2003).

    If all splits have the same difference, the interval is that value, and p is 1 if it is zero, else 0. Splits of
    one graph overlap, so the interval is valid for further splits of that graph only.
    """
    a, b = aligned(first=first, second=second)
    if not 0 < level < 1:
        raise DccgcnError(f"The level of an interval must be between 0 and 1, not {level}.", "Use 0.95 for 95 %.")
    difference = a.astype(np.float64) - b.astype(np.float64)
    n, mean = len(difference), float(difference.mean())
    if n == 1:
        return PairedDifference(mean, None, None, None, None, 1)
    std = float(difference.std(ddof=1))
    error = std * np.sqrt(1 / n + test_to_train) if test_to_train else std / np.sqrt(n)
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * error)
    t = abs(mean) / error if error > 0 else np.inf if mean else 0.0
    p_value = float(2 * stats.t.sf(t, n - 1))
    return PairedDifference(mean, std, mean - half, mean + half, p_value, n)
