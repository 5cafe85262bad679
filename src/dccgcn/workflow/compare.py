"""Methods compared on the labels of one graph, over repeated folds."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dccgcn.evaluation.paired import PairedDifference, Summary, paired_difference, summary
from dccgcn.graph import NodeGraph
from dccgcn.graph.folds import label_folds
from dccgcn.models.base import Method
from dccgcn.workflow.run import fit_and_measure


@dataclass(frozen=True)
class MethodScore:
    """One method on all folds; accuracies in %."""

    method: str
    accuracy: Summary  # of the labels that were held out; each repetition tests every label once
    macro_f1: Summary
    difference: PairedDifference | None  # to the first method, on the same folds; None for that method itself
    seconds: float  # mean per run

    @property
    def is_different(self) -> bool | None:
        """Whether the interval of the difference excludes zero; None for the first method or without an interval."""
        d = self.difference
        return None if d is None or d.low is None or d.high is None else d.low > 0 or d.high < 0

    def to_json(self) -> dict[str, Any]:
        """The fields as plain values, and whether the method differs from the first."""
        return {**asdict(self), "is_different": self.is_different}


def compare_methods(
    graph: NodeGraph,
    methods: Sequence[Method],
    folds: int = 5,
    repeats: int = 3,
    seed: int = 0,
    device: str = "cpu",
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[MethodScore]:
    """Train each method on all folds but one and test it on that, for each fold of each repetition; best first.

    Intervals are for the difference to the first method on labels like these. They take into account that folds share
    training labels.
    """
    splits = [split for repeat in range(repeats) for split in label_folds(graph, folds, seed + repeat)]
    rows: dict[str, list[tuple[float, float, float]]] = {method.name: [] for method in methods}
    for number, split in enumerate(splits):
        for position, method in enumerate(methods):
            settings = method.published_settings(graph.name)
            done = fit_and_measure(graph, split, method, settings, split.seed or 0, device=device)
            rows[method.name].append((100 * (done.accuracy or 0), 100 * (done.macro_f1 or 0), done.seconds))
            on_progress(number * len(methods) + position + 1, len(splits) * len(methods))
    first = np.array(rows[methods[0].name])
    scores = []
    for method in methods:
        values = np.array(rows[method.name])
        difference = None
        if method is not methods[0]:
            difference = paired_difference(values[:, 0], first[:, 0], test_to_train=1 / (folds - 1))
        accuracy, macro_f1 = summary(values[:, 0]), summary(values[:, 1])
        scores.append(MethodScore(method.name, accuracy, macro_f1, difference, float(values[:, 2].mean())))
    return sorted(scores, key=lambda score: -score.accuracy.mean)


def conclusion(scores: Sequence[MethodScore]) -> str:
    """A sentence about which methods differ from the first."""
    first = next(score.method for score in scores if score.difference is None)
    better = [s.method for s in scores if s.is_different and s.difference and s.difference.mean > 0]
    worse = [s.method for s in scores if s.is_different and s.difference and s.difference.mean < 0]
    unclear = [s.method for s in scores if s.difference is not None and not s.is_different]
    parts = [f"{', '.join(better)} more accurate than {first}"] if better else []
    parts += [f"{', '.join(worse)} less accurate than {first}"] if worse else []
    if unclear:
        parts.append(f"too few labels to tell {', '.join(unclear)} from {first}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
