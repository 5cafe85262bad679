"""Methods compared on the same splits of a benchmark graph, or over folds of the labels of any graph."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from dccgcn import __version__
from dccgcn.graph import NodeGraph, label_folds
from dccgcn.quality import PairedDifference, Summary, paired_difference, summary
from dccgcn.workflow.jobs import Job
from dccgcn.workflow.runner import Rows

_SHARES = ["accuracy", "macro_f1", "recall", "average_precision", "majority"]
FOLDS = "folds"  # the draw of their jobs


@dataclass(frozen=True)
class MethodScore:
    """One row of a leaderboard: a method on all folds, or on all splits; accuracies in %."""

    method: str
    accuracy: Summary  # of the labels that were held out; each repetition of folds tests every label once
    macro_f1: Summary
    smallest: str  # class with fewest labels; "" if runs differ in it
    recall: float  # of the smallest class
    average_precision: float  # of the smallest class
    majority: float  # accuracy of always predicting the most frequent class of the test nodes
    difference: PairedDifference | None  # to the first method, on the same splits; None for that method itself
    seconds: float  # mean per run, including operators where they had to be built

    @property
    def is_different(self) -> bool | None:
        """Whether the interval of the difference excludes zero; None for the first method or without an interval."""
        d = self.difference
        return None if d is None or d.low is None else d.is_above or d.is_below

    def to_json(self) -> dict[str, Any]:
        """The fields as plain values, and whether the method differs from the first."""
        return {**asdict(self), "is_different": self.is_different}


def split_jobs(
    dataset: str, methods: Sequence[str], draw: str, amount: float, seeds: range, device: str = "cpu"
) -> list[Job]:
    """Each method on each split of a benchmark graph, split by split."""
    return [Job(dataset, draw, amount, seed, method, seed, device=device) for seed in seeds for method in methods]


def fold_jobs(graph: NodeGraph, methods: Sequence[str], folds: int, seeds: range, device: str = "cpu") -> list[Job]:
    """Each method trained on all folds of the labels but one and tested on that, for each repetition of the folds.

    A changed graph, and another version of this package, are other jobs.
    """
    content = f"{__version__} {content_hash(graph)}"
    label_folds(graph, folds, seeds[0])  # raises an error if there are too few labels
    return [
        Job(graph.name, FOLDS, folds, seed, method, seed, fold=fold, content=content, device=device)
        for seed in seeds
        for fold in range(folds)
        for method in methods
    ]


def leaderboard(jobs: Sequence[Job], rows: Rows) -> list[MethodScore]:
    """Every method with finished runs, best first; the intervals are for the difference to the first method.

    Intervals over folds are for labels like these: they take into account that folds share training labels.
    """
    finished = [rows[key] for job in jobs if (key := job.key()) in rows]
    if not finished:
        return []
    frame = pd.DataFrame(finished).set_index(["method", "split_seed", "fold"]).sort_index()
    frame = frame.reindex(columns=[*_SHARES, "smallest", "seconds"])  # runs of earlier versions have fewer
    frame[_SHARES] *= 100
    first, is_folds = jobs[0].method, jobs[0].draw == FOLDS
    test_to_train = 1 / (jobs[0].amount - 1) if is_folds else 0.0
    scores = []
    for method, runs in frame.groupby(level="method", sort=False):
        difference = None
        if method != first and first in frame.index:
            pair = pd.concat([runs.accuracy.loc[method], frame.accuracy.loc[first]], axis=1, join="inner")
            if len(pair):
                difference = paired_difference(pair.iloc[:, 0], pair.iloc[:, 1], test_to_train=test_to_train)
        accuracy, macro_f1 = summary(runs.accuracy), summary(runs.macro_f1)
        smallest = runs.smallest.unique().tolist()
        recall, average_precision, majority, seconds = map(float, runs[[*_SHARES[2:], "seconds"]].mean())
        balance = smallest[0] if len(smallest) == 1 else "", recall, average_precision, majority
        scores.append(MethodScore(str(method), accuracy, macro_f1, *balance, difference, seconds))
    return sorted(scores, key=lambda score: -score.accuracy.mean)


def content_hash(graph: NodeGraph) -> str:
    """A hash of everything that a run depends on: nodes, features, edges, relations and labels."""
    digest = hashlib.sha256(repr((graph.ids.tolist(), graph.classes, list(graph.relations), graph.directed)).encode())
    for array in _arrays(graph):
        digest.update(repr((array.shape, array.dtype.str)).encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _arrays(graph: NodeGraph) -> Iterator[np.ndarray]:
    for matrix in (graph.features, *graph.relations.values()):
        yield from (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,)
    yield from (graph.edges, graph.weights, graph.labels, *([] if graph.vectors is None else [graph.vectors]))


def conclusion(scores: Sequence[MethodScore], too_few: str = "labels") -> str:
    """A sentence about which methods differ from the first; empty if nothing can be compared.

    too_few: what there is too little of where an interval includes zero.
    """
    if not any(score.difference for score in scores):
        return ""
    first = next(score.method for score in scores if score.difference is None)
    better = [s.method for s in scores if s.difference and s.difference.is_above]
    worse = [s.method for s in scores if s.difference and s.difference.is_below]
    unclear = [s.method for s in scores if s.difference is not None and not s.is_different]
    parts = [f"{', '.join(better)} more accurate than {first}"] if better else []
    parts += [f"{', '.join(worse)} less accurate than {first}"] if worse else []
    if unclear:
        parts.append(f"too few {too_few} to tell {', '.join(unclear)} from {first}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
