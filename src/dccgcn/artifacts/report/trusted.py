"""Which answers are taken for trustworthy, on what grounds, and how right they turned out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dccgcn.workflow.run import Run

THRESHOLD = 0.8

Basis = Literal["trust", "agreement", "probability"]


@dataclass(frozen=True, eq=False)
class Trusted:
    """A yes or no for every node, and a score to rank them by."""

    basis: Basis  # the best that the method offers, in this order
    yes: np.ndarray  # (n,) bool
    score: np.ndarray  # (n,) in [0, 1]: the stated chance that the answer is right


def trusted(result: Run) -> Trusted:
    """By the method's own estimate where it gives one, else where its channels agree, else by probability."""
    prediction = result.prediction
    probability = prediction.probabilities.max(axis=1)
    if prediction.trust is not None:
        return Trusted("trust", prediction.trust >= THRESHOLD, prediction.trust)
    if prediction.channels_agree is not None:
        return Trusted("agreement", prediction.channels_agree, probability)
    return Trusted("probability", probability >= THRESHOLD, probability)


def counts(result: Run, trust: Trusted) -> dict[str, Any]:
    """How many answers are trusted, how right they ought to be and, where the truth is known, how right they are."""
    asked, test = result.is_predicted, result.split.test
    right = result.prediction.y_pred[test] == result.graph.labels[test]
    yes = trust.yes[test]
    return {
        "basis": trust.basis,
        "threshold": None if trust.basis == "agreement" else THRESHOLD,
        "answers": int(asked.sum()),
        "trusted": int((asked & trust.yes).sum()),
        "doubtful": int((asked & ~trust.yes).sum()),
        "expected": _mean(trust.score[asked & trust.yes]),
        "measured_on": len(test),
        "measured_trusted": _mean(right[yes]),
        "measured_doubtful": _mean(right[~yes]),
    }


def verdict(result: Run, counted: dict[str, Any]) -> list[str]:
    """Three sentences: what was asked, what can be trusted, and how that is known."""
    labels = len(result.split.train)
    answers, trusted_ = counted["answers"], counted["trusted"]
    classes = len(np.unique(result.graph.labels[result.split.train]))
    if answers == 0:
        return [
            f"All {labels:,} nodes of {result.graph.name} came with a label.",
            "So there was nothing to predict.",
            "What follows shows what the method would have answered.",
        ]
    first = f"{answers:,} nodes of {result.graph.name} were classified from {labels:,} labels in {classes} classes."
    how_many = f"{trusted_:,} of the answers ({_percent(trusted_ / answers)})" if trusted_ else "None of the answers"
    return [first, f"{how_many} can be trusted: {_grounds(result, counted)}.", _known(counted)]


def _grounds(result: Run, counted: dict[str, Any]) -> str:
    level = _percent(THRESHOLD)
    some = counted["trusted"] > 0
    match counted["basis"]:
        case "trust" if some:
            mean = _percent(counted["expected"])
            return f"by the method’s own estimate each is right with a chance of {level} or more, on average {mean}"
        case "trust":
            return f"by the method’s own estimate no answer is right with a chance of {level} or more"
        case "agreement":
            channels = _and([f"the {name}" for name in result.prediction.channels]) or "both"
            return f"{channels} channel give {'them' if some else 'no node'} the same class, each by itself"
        case _:
            return f"{'their' if some else 'no'} class has a probability of {level} or more, which nobody calibrated"


def _known(counted: dict[str, Any]) -> str:
    on, yes, no = counted["measured_on"], counted["measured_trusted"], counted["measured_doubtful"]
    if not on:
        return (
            "No true class is known beyond these labels, so that is an estimate; labelling a few nodes would check it."
        )
    parts = [
        f"{_percent(share, 1)} of the {name}"
        for share, name in ((yes, "trusted"), (no, "doubtful"))
        if share is not None
    ]
    return f"Measured on the {on:,} nodes whose true class is known, {_and(parts)} answers are right."


def _and(parts: Sequence[str]) -> str:
    return " and ".join(parts)


def _percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f}\u00a0%"  # no line break before the sign


def _mean(values: np.ndarray) -> float | None:
    return round(float(values.mean()), 6) if len(values) else None
