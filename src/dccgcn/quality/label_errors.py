"""Given labels that look wrong: those that held-out predictions contradict (confident learning, Northcutt et al. 2021).

    t_k = mean of p_ik over the labels i given as k                                              the usual confidence
    k_i = argmax of p_ik over the classes with p_ik ≥ t_k                            the class that i confidently has
    suspect: k_i ≠ y_i, and p_i is .5 higher for k_i than for y_i

p_i are probabilities of label i by a model that did not see it. Besides, channels with more than half of the weight
must predict another class than the given one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

POOL = "pool"  # key of the channels' common probabilities
LEAD = 0.5  # of the predicted class over the given one, from which a label is suspect


@dataclass(frozen=True, eq=False)
class SuspectLabels:
    """Positions among the m labels, the most suspect first, and the evidence of each."""

    positions: np.ndarray  # (k,) int
    predicted: np.ndarray  # (k,) int: the class that held-out predictions give
    p_given: np.ndarray  # (k,) held-out probability of the given class
    p_predicted: np.ndarray  # (k,) and of the predicted one
    against: np.ndarray  # (k,) weight share of the channels that predict another class than the given one


def suspect_labels(held_out: Mapping[str, np.ndarray], weights: Mapping[str, float], y: np.ndarray) -> SuspectLabels:
    """Labels that the channels together confidently contradict, by p of the other class less p of the given one.

    held_out: (m, classes) of each channel and of the pool; weights: of the channels; y: (m,) given classes.
    """
    p, rows = held_out[POOL], np.arange(len(y))
    usual = np.array([p[y == k, k].mean() if (y == k).any() else np.inf for k in range(p.shape[1])])
    confident = np.where(p >= usual, p, -1.0)
    predicted = confident.argmax(axis=1)
    total = sum(weights.values())
    against = sum((w / total) * (held_out[name].argmax(axis=1) != y) for name, w in weights.items())
    lead = p[rows, predicted] - p[rows, y]
    is_suspect = (confident.max(axis=1) >= 0) & (predicted != y) & (lead > LEAD) & (np.asarray(against) > 0.5)
    chosen = np.flatnonzero(is_suspect)
    chosen = chosen[np.argsort(-lead[chosen], kind="stable")]
    return SuspectLabels(
        chosen, predicted[chosen], p[chosen, y[chosen]], p[chosen, predicted[chosen]], np.asarray(against)[chosen]
    )
