"""Which predictions are trusted, and in which words that is said: the one place that knows the threshold."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dccgcn.methods import Prediction

THRESHOLD = 0.8  # trust from which a prediction is called trusted
TESTED_PER_CLASS = 5  # labels that PROMISE speaks of
NOTHING_TRUSTED = ("uninformative", "too-few-labels")  # findings that say why

# as docs/results/trust.md shows, of graphs that the constants were not fitted to
KEPT, JUDGED = 106, 107
PROMISE = (
    "This is an estimate: on sixteen graphs that it was not fitted to, with five or more labels per class, at least "
    f"80 % of the trusted predictions were right in {KEPT} of {JUDGED} runs."
)
TESTED_ON = (
    "They are networks of citations, co-authors, purchases, friends and web pages; the other run is of Facebook pages. "
    "Where hardly anything tells the classes apart, among streamers, on a grid and for the traffic of Wikipedia pages, "
    "nothing is trusted."
)


@dataclass(frozen=True, eq=False)
class TrustedNodes:
    """For every node whether its prediction is trusted, and a confidence to rank by."""

    basis: Literal["trust", "agreement", "probability"]  # the first of these that the method provides
    is_trusted: np.ndarray  # (n,) bool
    confidence: np.ndarray  # (n,) in [0, 1]: estimated probability that the prediction is right


def trusted_nodes(prediction: Prediction) -> TrustedNodes:
    """By the method's own trust where it estimates one, else by its channels' agreement, else by probability."""
    probability = prediction.probabilities.max(axis=1)
    if prediction.trust is not None:
        return TrustedNodes("trust", prediction.trust >= THRESHOLD, prediction.trust)
    if prediction.channels_agree is not None:
        return TrustedNodes("agreement", prediction.channels_agree, probability)
    return TrustedNodes("probability", probability >= THRESHOLD, probability)


def trusted_text(basis: Literal["trust", "agreement", "probability"]) -> str:
    """What counts as trusted."""
    if basis == "agreement":
        return "the channels predict the same class"
    return f"{basis} of at least {100 * THRESHOLD:.0f} %"
