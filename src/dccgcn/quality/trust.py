"""Which predictions are trusted, and in which words that is said: the one place that knows the threshold."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dccgcn.graph import NodeGraph, Split
from dccgcn.methods import Prediction

THRESHOLD = 0.8  # trust from which a prediction is called trusted,
CLASS_THRESHOLD = 0.75  # if the mean trust of all predictions of its class is not below this
TESTED_PER_CLASS = 5  # labels from which trust is promised; with fewer it is called an estimate
NOTHING_TRUSTED = ("uninformative", "too-few-labels")  # findings that say why

# as docs/results/trust.md shows, of graphs that the constants were not fitted to
KEPT, JUDGED = 101, 102
CLASSES_KEPT, CLASSES_JUDGED = 400, 412
PROMISE = (
    "This is an estimate: on sixteen graphs that it was not fitted to, with five or more labels per class, at least "
    f"80 % of the trusted predictions were right in {KEPT} of {JUDGED} runs, and in {CLASSES_KEPT} of {CLASSES_JUDGED} "
    "of their classes."
)
TESTED_ON = (
    "They are networks of citations, co-authors, purchases, friends and web pages; the other run is of Facebook pages. "
    "Where hardly anything tells the classes apart, among streamers, on a grid and for the traffic of Wikipedia pages, "
    "nothing is trusted."
)


def not_promised(labels_per_class: float) -> str:
    """What is said instead of PROMISE where trust is an estimate."""
    return (
        f"Nothing is promised: a class has {labels_per_class:.2g} labels on average, and the estimate was tested with "
        f"{TESTED_PER_CLASS} or more."
    )


Basis = Literal["trust", "estimate", "agreement", "probability"]


@dataclass(frozen=True, eq=False)
class TrustedNodes:
    """For every node whether its prediction is trusted, and a confidence to rank by.

    The basis is the method's trust, with fewer labels than were tested an ``estimate``; without trust the agreement of
    the channels, without channels the probability of the class.
    """

    basis: Basis
    is_trusted: np.ndarray  # (n,) bool
    confidence: np.ndarray  # (n,) in [0, 1]: estimated probability that the prediction is right

    @property
    def word(self) -> str:
        """What a prediction is called that ``is_trusted`` marks."""
        return "estimated right" if self.basis == "estimate" else "trusted"


def predicted_nodes(graph: NodeGraph, split: Split) -> np.ndarray:
    """(n,) bool: nodes without a training label whose class is wanted and so predicted."""
    mask = np.ones(graph.n, dtype=bool) if graph.targets is None else graph.targets.copy()
    mask[split.train] = False
    return mask


def labels_per_class(graph: NodeGraph, split: Split) -> float:
    """Mean number of training labels of the classes that have any."""
    return len(split.train) / max(1, len(np.unique(graph.labels[split.train])))


def trusted_nodes(graph: NodeGraph, split: Split, prediction: Prediction) -> TrustedNodes:
    """By the method's own trust where it estimates one, else by its channels' agreement, else by probability."""
    if prediction.trust is not None:
        basis: Basis = "trust" if labels_per_class(graph, split) >= TESTED_PER_CLASS else "estimate"
        means = class_means(prediction.trust, prediction.y_pred, predicted_nodes(graph, split))
        is_reliable = means[prediction.y_pred] >= CLASS_THRESHOLD
        return TrustedNodes(
            basis, prediction.promised & (prediction.trust >= THRESHOLD) & is_reliable, prediction.trust
        )
    if prediction.channels_agree is not None:
        return TrustedNodes("agreement", prediction.channels_agree, prediction.confidence)
    return TrustedNodes("probability", prediction.confidence >= THRESHOLD, prediction.confidence)


def class_means(trust: np.ndarray, y_pred: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Mean trust of the predictions of each class among some nodes, (classes,); 0 without any."""
    n_classes = int(y_pred.max(initial=-1)) + 1
    counts = np.bincount(y_pred[nodes], minlength=n_classes)
    return np.bincount(y_pred[nodes], weights=trust[nodes], minlength=n_classes) / np.maximum(counts, 1)


def trusted_text(basis: Basis) -> str:
    """What counts as trusted."""
    if basis == "agreement":
        return "the channels predict the same class"
    return f"{'probability' if basis == 'probability' else 'trust'} of at least {100 * THRESHOLD:.0f} %"
