"""Run: one method fitted and measured on one split, as plain data; and the table of its predictions."""

import platform
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from dccgcn import __version__
from dccgcn.errors import DccgcnError, Finding
from dccgcn.evaluation import metrics
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split, check_training
from dccgcn.io.write import csv_text
from dccgcn.models.base import Method
from dccgcn.models.prediction import Prediction, restore_class_columns
from dccgcn.models.resources import check_memory
from dccgcn.progress import Progress
from dccgcn.runtime.device import default_device
from dccgcn.runtime.threads import threads_of_run
from dccgcn.settings import Settings
from dccgcn.text import first_few
from dccgcn.workflow.class_summary import (
    class_counts,
    class_findings,
    predicted_nodes,
    rare_class_scores,
    trust_summary,
)
from dccgcn.workflow.suspect_labels import suspect_findings

_PACKAGES = ("torch", "torch_geometric", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class FitDetails:
    """How a prediction was made."""

    method: str
    settings: Settings
    seed: int
    seconds: float  # of the fit, including operators that were not built before
    threads: int
    device: str = "cpu"


@dataclass(frozen=True, eq=False)
class Run:
    """What a method predicted and how accurate it was. Fractions are in [0, 1]; None where a set of nodes is empty."""

    graph: NodeGraph
    split: Split
    method: str
    settings: Settings
    seed: int
    prediction: Prediction  # one row per node
    accuracy: float | None  # on the test nodes
    macro_f1: float | None  # mean F1 over the classes among the test nodes
    channel_accuracy: dict[str, float]  # of each channel alone
    agreement: float | None  # fraction of test nodes on which the channels agree
    accuracy_high: float | None  # on the test nodes on which they agree
    accuracy_low_before: float | None  # on those on which they disagree, before correction
    accuracy_low_after: float | None  # on the same nodes, after correction
    corrected: float | None  # fraction of test nodes that were corrected from neighbours
    findings: tuple[Finding, ...]  # what was unusual about graph, split and fit
    seconds: float  # of the fit, including operators that were not built before
    threads: int
    device: str = "cpu"

    @property
    def is_predicted(self) -> np.ndarray:
        """(n,) bool: nodes without a training label whose class is wanted and so predicted."""
        return predicted_nodes(self.graph, self.split)

    def summary(self) -> dict[str, Any]:
        """Everything but the predictions, as plain values for JSON."""
        split = {"kind": self.split.kind, "seed": self.split.seed, "hash": self.split.hash}
        return {
            "dataset": self.graph.name,
            "method": self.method,
            "seed": self.seed,
            "n_train": len(self.split.train),
            "n_test": len(self.split.test),
            "accuracy": self.accuracy,
            "macro_f1": self.macro_f1,
            "channel_accuracy": self.channel_accuracy,
            "agreement": self.agreement,
            "accuracy_high": self.accuracy_high,
            "accuracy_low_before": self.accuracy_low_before,
            "accuracy_low_after": self.accuracy_low_after,
            "corrected": self.corrected,
            "predictions": self._prediction_summary(),
            "rare_classes": rare_class_scores(self.graph, self.split, self.prediction),
            "seconds": round(self.seconds, 3),
            "threads": self.threads,
            "device": self.device,
            "split": split,
            "settings": self.settings.model_dump(),
            "findings": [vars(finding) for finding in self.findings],
            "versions": _versions(),
        }

    def _prediction_summary(self) -> dict[str, Any]:
        """Number of predictions, how many are trusted, their mean trust, and these for each class."""
        nodes = np.flatnonzero(self.is_predicted)
        return {
            "nodes": len(nodes),
            **trust_summary(self.prediction, nodes),
            "classes": class_counts(self.graph, self.split, self.prediction),
        }


def fit_and_measure(
    graph: NodeGraph,
    split: Split,
    method: Method,
    settings: Settings,
    seed: int,
    *,
    progress: Progress | None = None,
    device: str = "cpu",
) -> Run:
    """Fit a method on the training nodes of a split, and measure it on the test nodes."""
    memory = check_memory(method.cost(graph, settings))
    start = perf_counter()
    with default_device(device), threads_of_run() as threads:
        prediction = _fit_seen_classes(graph, split, method, settings, seed, progress=progress)
    seconds = perf_counter() - start
    suspects = suspect_findings(graph, split.train, prediction)
    merged = () if method.uses_relations else _merged_relations(graph, method.name)
    findings = (*memory, *graph.stage_findings, *merged, *prediction.findings, *suspects)
    prediction = replace(prediction, findings=findings)
    details = FitDetails(method.name, settings, seed, seconds, threads, device)
    return measure(graph, split, prediction, details)


def _merged_relations(graph: NodeGraph, method: str) -> tuple[Finding, ...]:
    """A note if a method does not tell the relations of the graph apart."""
    if not graph.relations:
        return ()
    text = f"{method} takes the relations {first_few(list(graph.relations))} as edges of one kind without direction"
    return (Finding("note", "merged-relations", f"{text}; concord tells them apart."),)


def measure(graph: NodeGraph, split: Split, prediction: Prediction, details: FitDetails) -> Run:
    """Score a prediction on the test nodes of a split."""
    test, y_true = split.test, graph.labels[split.test]
    scored = len(test) > 0
    channels = {name: p.argmax(axis=1)[test] for name, p in prediction.channels.items()} if scored else {}
    parts = None
    if scored and prediction.channels_agree is not None and prediction.uncorrected is not None:
        before = prediction.uncorrected.argmax(axis=1)[test]
        parts = metrics.confidence_split(y_true, before, prediction.y_pred[test], prediction.channels_agree[test])
    return Run(
        graph=graph,
        split=split,
        prediction=prediction,
        accuracy=metrics.accuracy(y_true, prediction.y_pred[test]) if scored else None,
        macro_f1=metrics.macro_f1(y_true, prediction.y_pred[test]) if scored else None,
        channel_accuracy={name: metrics.accuracy(y_true, y_pred) for name, y_pred in channels.items()},
        agreement=parts.agreement if parts else None,
        accuracy_high=parts.accuracy_high if parts else None,
        accuracy_low_before=parts.accuracy_low_before if parts else None,
        accuracy_low_after=parts.accuracy_low_after if parts else None,
        corrected=float(prediction.corrected[test].mean()) if scored and prediction.corrected is not None else None,
        findings=(
            *class_findings(graph, split, prediction),  # first: no other finding matters as much
            *graph.findings,
            *split.findings,
            *check_training(graph, split.train),
            *prediction.findings,
        ),
        **vars(details),
    )


def prediction_frame(
    graph: NodeGraph, prediction: Prediction, probabilities: bool = False, abstain_below: float | None = None
) -> pd.DataFrame:
    """One row per node: predicted class, its trust or probability, and what each channel predicts.

    probabilities: add a column for each class. abstain_below: add a column "abstain", yes where trust is below it.
    """
    if abstain_below is not None and not 0 <= abstain_below <= 1:
        raise DccgcnError(f"Trust is between 0 and 1, not {abstain_below}.", "Abstain below 0.9, for example.")
    names = np.array([str(name) for name in graph.classes], dtype=object)
    columns: dict[str, Any] = {"node_id": graph.ids}
    if graph.names is not None:
        columns["name"] = graph.names
    columns["prediction"] = names[prediction.y_pred]
    if prediction.trust is None:
        columns["probability"] = prediction.probabilities.max(axis=1)
    else:
        columns["trust"] = prediction.trust
    if abstain_below is not None:
        columns["abstain"] = _yes_no(prediction.confidence < abstain_below)
    if prediction.channels_agree is not None:
        columns["channels_agree"] = _yes_no(prediction.channels_agree)
    if prediction.corrected is not None:
        columns["corrected"] = _yes_no(prediction.corrected)
    for channel, p in prediction.channels.items():
        columns[f"prediction_{channel}"] = names[p.argmax(axis=1)]
    if probabilities:
        columns |= {f"probability_{name}": prediction.probabilities[:, k] for k, name in enumerate(names)}
    return pd.DataFrame(columns)


def run_frame(run: Run, probabilities: bool = False, abstain_below: float | None = None) -> pd.DataFrame:
    """``prediction_frame`` of all nodes with the role of each in the split and its given label."""
    graph, split = run.graph, run.split
    role = np.full(graph.n, "unlabelled", dtype=object)
    role[graph.labelled] = "unused"
    for part in ("train", "validation", "test"):
        role[getattr(split, part)] = part
    label = [str(graph.classes[code]) if code >= 0 else "" for code in graph.labels]
    return prediction_frame(graph, run.prediction, probabilities, abstain_below).assign(role=role, label=label)


def target_frame(run: Run, probabilities: bool = False, abstain_below: float | None = None) -> pd.DataFrame:
    """``run_frame`` of the nodes to classify, as in predictions.csv."""
    frame, targets = run_frame(run, probabilities, abstain_below), run.graph.targets
    return frame if targets is None else frame[targets].reset_index(drop=True)


def run_csv(run: Run, nodes: np.ndarray) -> str:
    """The rows of some nodes, as text in the form of predictions.csv."""
    return csv_text(run_frame(run).iloc[nodes], float_format="%.6f")


def _fit_seen_classes(
    graph: NodeGraph, split: Split, method: Method, settings: Settings, seed: int, *, progress: Progress | None
) -> Prediction:
    """Fit on the classes with training labels only; all others get probability 0."""
    seen = np.unique(graph.labels[split.train])
    known = graph if len(seen) == graph.c else graph.with_classes(seen)
    validation = split.validation[known.labels[split.validation] >= 0]
    prediction = method.fit(known, split.train, settings, seed, progress, validation if len(validation) else None)
    return prediction if known is graph else restore_class_columns(prediction, seen, graph.c)


def _yes_no(mask: np.ndarray) -> np.ndarray:
    return np.where(mask, "yes", "no")


def _versions() -> dict[str, str]:
    """Of Python, this package and the installed packages it computes with."""
    found = {"python": platform.python_version(), "dccgcn": __version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # an optional one
            continue
    return found
