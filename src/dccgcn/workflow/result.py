"""Result: one run of one method on one split, measured; and the folder that it is kept in."""

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from dccgcn.errors import DccgcnError, Finding
from dccgcn.evaluation import metrics, theory
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split, check_training, published
from dccgcn.io.write import csv_text
from dccgcn.models.prediction import Prediction
from dccgcn.models.registry import Method, get_method
from dccgcn.models.resources import check_memory
from dccgcn.models.training import Progress
from dccgcn.runtime.device import computing_on
from dccgcn.runtime.files import write_atomically
from dccgcn.runtime.lock import locked
from dccgcn.settings import Settings

if TYPE_CHECKING:
    from dccgcn.io.tables import Tables

_PACKAGES = ("dccgcn", "torch", "torch_geometric", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, eq=False)
class Result:
    """What a run answered and how right it was. Shares are between 0 and 1; None where a set is empty."""

    graph: NodeGraph
    split: Split
    method: str
    settings: Settings
    seed: int
    prediction: Prediction  # the answers, a row per node
    accuracy: float | None  # on the test nodes
    macro_f1: float | None  # mean F1 over the classes among the test nodes
    channel_accuracy: dict[str, float]  # of each channel's own head
    agreement: float | None  # share of test nodes on which the channels agree
    accuracy_high: float | None  # on the test nodes on which they agree
    accuracy_low_before: float | None  # where they disagree, before calibration
    accuracy_low_after: float | None  # the same nodes, after it
    corrected: float | None  # share of test nodes that were rebuilt from neighbours
    theory: tuple[theory.Row, ...]  # the theorems, stated, exact and measured
    findings: tuple[Finding, ...]  # what was odd about graph, split and run
    seconds: float  # of the method, views included if they were not built before
    threads: int
    device: str = "cpu"

    @property
    def answered(self) -> np.ndarray:
        """(n,) bool: nodes that were given no label, so that there is something to answer."""
        mask = np.ones(self.graph.n, dtype=bool)
        mask[self.split.train] = False
        return mask

    def summary(self) -> dict[str, Any]:
        """All but the answers, as plain values."""
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
            "seconds": round(self.seconds, 3),
            "threads": self.threads,
            "device": self.device,
            "split": split,
            "settings": self.settings.model_dump(),
            "theory": [vars(row) for row in self.theory],
            "findings": [vars(finding) for finding in self.findings],
            "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
        }

    @property
    def _again(self) -> str:
        """How to repeat the run, beside the graph."""
        return f"dccgcn fit … --method {self.method} --seed {self.seed} --settings settings.yaml --split split.json"

    def to_frame(self) -> pd.DataFrame:
        """A row per node: what is predicted, how probable it is, and whether the channels agree."""
        graph, split = self.graph, self.split
        role = np.full(graph.n, "unlabelled", dtype=object)
        role[graph.labelled] = "unused"
        for part in ("train", "validation", "test"):
            role[getattr(split, part)] = part
        label = [str(graph.classes[code]) if code >= 0 else "" for code in graph.labels]
        return answers(graph, self.prediction).assign(role=role, label=label)

    def to_csv(self, nodes: np.ndarray | None = None) -> str:
        """The rows of all nodes, or of some, as predictions.csv holds them."""
        frame = self.to_frame()
        frame = frame if nodes is None else frame.iloc[nodes]
        return csv_text(frame, float_format="%.6f")

    def report(self, path: str | Path) -> None:
        """Write one HTML file that shows all of this to somebody who asks which answers to trust."""
        from dccgcn.artifacts.report.data import report_data  # only who wants a report pays for its imports
        from dccgcn.artifacts.report.page import render

        write_atomically(path, render(report_data(self)))

    def save(self, folder: str | Path, tables: "Tables | None" = None) -> None:
        """Write predictions.csv, result.json, settings.yaml and split.json, and the model: each whole or not at all.

        tables: how the nodes were read, so that ``load_model(folder)`` can read further ones in the same way.
        """
        from dccgcn.artifacts.model_io import model_files  # it builds on this module

        folder = Path(folder)
        files = {
            "predictions.csv": self.to_csv(),
            "settings.yaml": f"# {self._again}\n{self.settings.to_yaml()}",
            "split.json": self.split.to_json(),
            **model_files(self, tables),
            "result.json": json.dumps(self.summary(), indent=2) + "\n",
        }
        with locked(folder):
            # first goes what is made of a run, then what makes a folder a finished run and a whole model
            for name in ("report.html", "report.json", "result.json", "model.json"):
                (folder / name).unlink(missing_ok=True)
            for name, content in files.items():
                write_atomically(folder / name, content)


def answers(graph: NodeGraph, prediction: Prediction) -> pd.DataFrame:
    """A row per node: what is predicted, how probable it is, and whether the channels agree."""
    names = np.array([str(name) for name in graph.classes], dtype=object)
    columns: dict[str, Any] = {
        "node_id": graph.ids,
        "prediction": names[prediction.y_pred],
        "probability": prediction.probabilities.max(axis=1),
    }
    if prediction.trust is not None:
        columns["trust"] = prediction.trust
    if prediction.channels_agree is not None:
        columns["confidence_set"] = np.where(prediction.channels_agree, "high", "low")
    if prediction.corrected is not None:
        columns["repaired"] = prediction.corrected
    for channel, probabilities in prediction.channels.items():
        columns[f"{channel}_channel"] = names[probabilities.argmax(axis=1)]
    return pd.DataFrame(columns)


def run(
    graph: NodeGraph,
    split: Split | None = None,
    method: Method | str = "concord",
    settings: Settings | Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    device: str = "cpu",
) -> Result:
    """Fit a method on a split and measure its answers on the split's test nodes.

    Without a split every labelled node trains, and nothing is measured: the way to classify a graph of one's own.
    Without settings, those published for a graph of this name are used, else the method's defaults; a mapping changes
    some of them: ``settings={"k": 10}``.
    The device is torch's name of it, such as "cuda"; what a method solves in NumPy and SciPy stays on the CPU.
    """
    if not isinstance(graph, NodeGraph):
        remedy = "Make one of it: NodeGraph(features, edges, labels), or from_pyg, from_networkx of dccgcn.io.convert."
        raise DccgcnError(f"run takes a NodeGraph, not a {type(graph).__name__}.", remedy)
    if split is not None and not isinstance(split, Split):
        remedy = "Draw one with per_class or by_rate, or make one of node positions: dccgcn.graph.splits.published."
        raise DccgcnError(f"The split is a {type(split).__name__}, not a Split.", remedy)
    method = get_method(method) if isinstance(method, str) else method
    if not isinstance(settings, Settings):
        settings = method.published_settings(graph.name, settings)
    split = published(graph, "all-labels", graph.labelled, [], []) if split is None else split
    split.check(graph)
    check_training(graph, split.train)
    if seed < 0:
        raise DccgcnError(f"The seed is {seed}.", "Seeds are whole numbers from 0 up.")
    tight = check_memory(method.cost(graph, settings))
    start = perf_counter()
    with computing_on(device):
        prediction = _fit_seen_classes(graph, split, method, settings, seed, progress)
    seconds = perf_counter() - start
    prediction = replace(prediction, findings=(*tight, *prediction.findings))
    result = measured(graph, split, method.name, settings, seed, prediction, seconds, torch.get_num_threads())
    return replace(result, device=device)


def _fit_seen_classes(
    graph: NodeGraph, split: Split, method: Method, settings: Settings, seed: int, progress: Progress | None
) -> Prediction:
    """A class without a training label has probability 0: the method never hears of it."""
    seen = np.unique(graph.labels[split.train])
    known = graph if len(seen) == graph.c else graph.with_classes(seen)
    validation = split.validation[known.labels[split.validation] >= 0]
    prediction = method.fit(known, split.train, settings, seed, progress, validation if len(validation) else None)
    return prediction if known is graph else restore_class_columns(prediction, seen, graph.c)


def restore_class_columns(prediction: Prediction, seen: np.ndarray, c: int) -> Prediction:
    """The prediction with a column for each of c classes, of which the method saw some."""

    def wide(probabilities: np.ndarray) -> np.ndarray:
        all_classes = np.zeros((len(probabilities), c), dtype=probabilities.dtype)
        all_classes[:, seen] = probabilities
        return all_classes

    return replace(
        prediction,
        probabilities=wide(prediction.probabilities),
        uncorrected=None if prediction.uncorrected is None else wide(prediction.uncorrected),
        joint=None if prediction.joint is None else wide(prediction.joint),
        channels={name: wide(p) for name, p in prediction.channels.items()},
    )


def measured(
    graph: NodeGraph,
    split: Split,
    method: str,
    settings: Settings,
    seed: int,
    prediction: Prediction,
    seconds: float,
    threads: int,
) -> Result:
    """An prediction with everything that the split lets one say about it."""
    test, truth = split.test, graph.labels[split.test]
    scored = len(test) > 0
    answers = {name: p.argmax(axis=1)[test] for name, p in prediction.channels.items()} if scored else {}
    parts = rows = None
    if scored and prediction.channels_agree is not None and prediction.uncorrected is not None:
        before = prediction.uncorrected.argmax(axis=1)[test]
        parts = metrics.confidence_split(truth, before, prediction.y_pred[test], prediction.channels_agree[test])
    if len(answers) == 2:
        rows = theory.side_by_side(
            theory.measure(truth, *answers.values()), graph.c, parts.accuracy_low_after if parts else None
        )
    return Result(
        graph=graph,
        split=split,
        method=method,
        settings=settings,
        seed=seed,
        prediction=prediction,
        accuracy=metrics.accuracy(truth, prediction.y_pred[test]) if scored else None,
        macro_f1=metrics.macro_f1(truth, prediction.y_pred[test]) if scored else None,
        channel_accuracy={name: metrics.accuracy(truth, answer) for name, answer in answers.items()},
        agreement=parts.agreement if parts else None,
        accuracy_high=parts.accuracy_high if parts else None,
        accuracy_low_before=parts.accuracy_low_before if parts else None,
        accuracy_low_after=parts.accuracy_low_after if parts else None,
        corrected=float(prediction.corrected[test].mean()) if scored and prediction.corrected is not None else None,
        theory=rows or (),
        findings=(*graph.findings, *split.findings, *check_training(graph, split.train), *prediction.findings),
        seconds=seconds,
        threads=threads,
    )
