"""Which predictions can be trusted, why, and how accurate they are."""

import numpy as np

from dccgcn.quality import CLASS_THRESHOLD, NOTHING_TRUSTED, PROMISE, THRESHOLD, labels_per_class, not_promised
from dccgcn.report.schema import TrustSummary
from dccgcn.workflow import Result


def summarise_trust(result: Result) -> TrustSummary:
    """How many predictions are trusted, their mean confidence and, on the test nodes, their accuracy."""
    nodes, predicted, test = result.trusted, result.is_predicted, result.split.test
    is_right = result.prediction.y_pred[test] == result.graph.labels[test]
    is_trusted = nodes.is_trusted[test]
    return TrustSummary(
        basis=nodes.basis,
        word=nodes.word,
        threshold=None if nodes.basis == "agreement" else THRESHOLD,
        predictions=int(predicted.sum()),
        trusted=int((predicted & nodes.is_trusted).sum()),
        doubtful=int((predicted & ~nodes.is_trusted).sum()),
        mean_confidence=rounded_mean(nodes.confidence[predicted & nodes.is_trusted]),
        mean_confidence_doubtful=rounded_mean(nodes.confidence[predicted & ~nodes.is_trusted]),
        test_nodes=len(test),
        accuracy_trusted=rounded_mean(is_right[is_trusted]),
        accuracy_doubtful=rounded_mean(is_right[~is_trusted]),
    )


def headline(trust: TrustSummary) -> str:
    """How many predictions can be trusted."""
    are_called = "are estimated right" if trust.basis == "estimate" else "can be trusted"
    if trust.predictions == 0:
        return "There was nothing to predict"
    if trust.trusted == 0:
        return f"None of the {trust.predictions:,} predictions {are_called.replace('are ', 'is ')}"
    share = _percent(trust.trusted / trust.predictions)
    if trust.doubtful and share == _percent(1):
        share = f"over {_percent(0.99)}"  # not all of them
    return f"{trust.trusted:,} of {trust.predictions:,} predictions {are_called} ({share})"


def verdict(result: Result, trust: TrustSummary) -> list[str]:
    """Three sentences: the task, what is called trusted, and how that is known."""
    labels = len(result.split.train)
    classes = len(np.unique(result.graph.labels[result.split.train]))
    if trust.predictions == 0:
        return [
            f"All {labels:,} nodes of {result.graph.name} have a training label.",
            "Without other nodes there is no prediction to be judged.",
            "This page shows what the method predicts for the labelled nodes.",
        ]
    nodes = f"{trust.predictions:,} nodes of {result.graph.name}"
    task = f"{nodes} were classified from {labels:,} labels in {classes} classes."
    promise = next((f.text for f in result.prediction.findings if f.code in NOTHING_TRUSTED), None)
    if promise:
        return [task, f"No prediction is called {trust.word}, whatever its probability.", promise]
    return [task, f"{_why(result, trust)}.", _evidence(result, trust)]


def _why(result: Result, trust: TrustSummary) -> str:
    threshold = _percent(THRESHOLD)
    match trust.basis:
        case "trust" | "estimate" if trust.mean_confidence is not None:
            chance = f"right with a chance of {threshold} or more, in a class with {_percent(CLASS_THRESHOLD)} or more"
            mean = _percent(trust.mean_confidence)
            return f"{trust.word.capitalize()} means: by the method’s own estimate {chance}; on average {mean}"
        case "trust" | "estimate":
            return f"By the method’s own estimate no prediction is right with a chance of {threshold} or more"
        case "agreement":
            channels = " and ".join(f"the {name} channel" for name in result.prediction.channels) or "the channels"
            if not trust.trusted:
                return f"{channels.capitalize()} never predict the same class"
            return f"Trusted means: {channels} predict the same class"
        case _:
            return (
                f"Trusted means: the class has a probability of {threshold} or more; "
                "these probabilities are not calibrated"
            )


def _evidence(result: Result, trust: TrustSummary) -> str:
    if not trust.test_nodes:
        if trust.basis == "estimate" and trust.trusted:
            sentence = not_promised(labels_per_class(result.graph, result.split))
            return f"{sentence} Label a few more nodes, or check a sample (dccgcn audit)."
        if trust.basis == "trust" and trust.trusted:
            return f"{PROMISE} Label a few more nodes to check it here."
        return "This is an estimate: only the training labels are known. Label a few more nodes to check it."
    right = " and ".join(
        f"{_percent(accuracy, 1)} of the {name}"
        for accuracy, name in ((trust.accuracy_trusted, trust.word), (trust.accuracy_doubtful, "doubtful"))
        if accuracy is not None
    )
    return f"On the {trust.test_nodes:,} test nodes, whose true class is known, {right} predictions are right."


def _percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f}\u00a0%"  # no line break before the sign


def rounded_mean(values: np.ndarray) -> float | None:
    """The mean as it is written to the report; None without values."""
    return round(float(values.mean()), 6) if len(values) else None
