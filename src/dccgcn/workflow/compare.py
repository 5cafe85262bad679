"""Methods compared on the labels of one graph, over repeated folds."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dccgcn import __version__
from dccgcn.evaluation.paired import PairedDifference, Summary, paired_difference, summary
from dccgcn.graph import NodeGraph
from dccgcn.graph.folds import label_folds
from dccgcn.graph.splits import Split
from dccgcn.models.base import Method
from dccgcn.settings import Settings
from dccgcn.workflow.run import fit_and_measure


class FoldScore(NamedTuple):
    """One method on one fold."""

    accuracy: float  # in %
    macro_f1: float  # in %
    seconds: float


@dataclass(frozen=True)
class MethodScore:
    """One row of a leaderboard: a method on all folds, or on all splits; accuracies in %."""

    method: str
    accuracy: Summary  # of the labels that were held out; each repetition of folds tests every label once
    macro_f1: Summary
    difference: PairedDifference | None  # to the first method, on the same folds; None for that method itself
    seconds: float  # mean per run, including operators where they had to be built

    @property
    def is_different(self) -> bool | None:
        """Whether the interval of the difference excludes zero; None for the first method or without an interval."""
        d = self.difference
        return None if d is None or d.low is None else d.is_above or d.is_below

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
    finished: Mapping[str, FoldScore] | None = None,
    on_finished: Callable[[str, FoldScore], None] = lambda key, score: None,
) -> list[MethodScore]:
    """Train each method on all folds but one and test it on that, for each fold of each repetition; best first.

    Intervals are for the difference to the first method on labels like these. They take into account that folds share
    training labels. ``finished``: scores of earlier calls by their keys, which are not computed again; each new one is
    given to ``on_finished``.
    """
    splits = [split for repeat in range(repeats) for split in label_folds(graph, folds, seed + repeat)]
    rows: dict[str, list[FoldScore]] = {method.name: [] for method in methods}
    known, content = finished or {}, content_hash(graph)
    for number, split in enumerate(splits):
        for position, method in enumerate(methods):
            settings = method.published_settings(graph.name)
            key = _key(content, split, method, settings, device)
            if (score := known.get(key)) is None:
                done = fit_and_measure(graph, split, method, settings, split.seed or 0, device=device)
                score = FoldScore(100 * (done.accuracy or 0), 100 * (done.macro_f1 or 0), done.seconds)
                on_finished(key, score)
            rows[method.name].append(score)
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


def content_hash(graph: NodeGraph) -> str:
    """Of everything that a run depends on: nodes, features, edges, relations and labels."""
    found = hashlib.sha256(repr((graph.ids.tolist(), graph.classes, list(graph.relations), graph.directed)).encode())
    for array in _arrays(graph):
        found.update(repr((array.shape, array.dtype.str)).encode() + np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _arrays(graph: NodeGraph) -> Iterator[np.ndarray]:
    for matrix in (graph.features, *graph.relations.values()):
        yield from (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,)
    yield from (graph.edges, graph.weights, graph.labels)


def _key(content: str, split: Split, method: Method, settings: Settings, device: str) -> str:
    """What identifies a run: the same key means the same result."""
    parts = (__version__, content, split.hash, split.seed, settings.model_dump_json(), device)
    return f"{method.name} {hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"


def conclusion(scores: Sequence[MethodScore]) -> str:
    """A sentence about which methods differ from the first."""
    first = next(score.method for score in scores if score.difference is None)
    better = [s.method for s in scores if s.difference and s.difference.is_above]
    worse = [s.method for s in scores if s.difference and s.difference.is_below]
    unclear = [s.method for s in scores if s.difference is not None and not s.is_different]
    parts = [f"{', '.join(better)} more accurate than {first}"] if better else []
    parts += [f"{', '.join(worse)} less accurate than {first}"] if worse else []
    if unclear:
        parts.append(f"too few labels to tell {', '.join(unclear)} from {first}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
