"""Interleaved timing of several implementations, and their largest difference."""

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
from torch import Tensor


def interleave(forms: Sequence[Callable[[int], object]], rounds: int, warm_up: int = 2) -> np.ndarray:
    """Time implementations in turn, so that a change of the machine's load affects all of them.

    Each form is called with the number of the round; rounds for warming up come first and are not returned.

    Returns seconds, (rounds, number of forms).
    """
    seconds = np.empty((warm_up + rounds, len(forms)))
    for i in range(warm_up + rounds):
        for j, form in enumerate(forms):
            start = perf_counter()
            form(i)
            seconds[i, j] = perf_counter() - start
    return seconds[warm_up:]


def median_ratio(slow: np.ndarray, fast: np.ndarray) -> float:
    """Median over rounds of the ratio of two times of one round."""
    return float(np.median(slow / fast))


def largest_difference(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> float:
    """Largest difference of paired tensors, relative to the largest entry of the second."""
    pairs = zip(ours, theirs, strict=True)
    return max(float((a - b.view_as(a)).abs().max() / b.abs().max().clamp(min=1e-12)) for a, b in pairs)
