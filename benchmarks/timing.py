"""Measurements of several implementations in turn, or for many seeds, and their largest difference."""

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
import pandas as pd
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


def for_each_seed(
    measure: Callable[[int], dict[str, float]], seeds: range, progress: Callable[[int, int], None] | None = None
) -> dict[str, np.ndarray]:
    """What was measured, by name, with a number for each seed."""
    measured = []
    for done, seed in enumerate(seeds):
        measured.append(measure(seed))
        if progress:
            progress(done + 1, len(seeds))
    return {str(name): values.to_numpy() for name, values in pd.DataFrame(measured).items()}
