"""Job: one run of one method on one split, described by plain values."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from dccgcn import datasets
from dccgcn.api import Result, run
from dccgcn.errors import DccgcnError
from dccgcn.evaluation.metrics import accuracy, channel_counts, macro_f1
from dccgcn.evaluation.signals import trust_record
from dccgcn.experiments.picture import picture
from dccgcn.graph import NodeGraph, splits
from dccgcn.models.registry import get_method

_KEPT = (
    "n_train",
    "n_test",
    "accuracy",
    "macro_f1",
    "channel_accuracy",
    "agreement",
    "accuracy_high",
    "accuracy_low_before",
    "accuracy_low_after",
    "corrected",
    "seconds",
    "threads",
    "device",
)


# Table 2 ignores "3 classes with less than 50 nodes" of CoraFull; its smallest ones have 15, 29 and 52
_SMALLEST = 3


@dataclass(frozen=True)
class Job:
    """Everything that decides a run's result. Options are those that differ from the published settings."""

    dataset: str
    draw: str  # "rate", "per-class", "per-class-large" (no three smallest classes), or a published split's name
    amount: float  # label rate, or labels per class; 0 for a published split
    split_seed: int
    method: str
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)
    picture: int = 0  # keep a map of so many nodes' embeddings too

    def key(self) -> str:
        """Hash of the job with its settings in full, so that a changed default is another job.

        The dataset's name stands for its content: files are read only if their hash is the catalogue's.
        """
        settings = get_method(self.method).published_settings(self.dataset, self.options).model_dump()
        content = {**asdict(self), "options": {name: value for name, value in settings.items() if value != {}}}
        if not self.picture:  # lines written before there were pictures or frequencies keep their keys
            del content["picture"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def attempt(job: Job, device: str = "cpu") -> dict[str, Any]:
    """Run a job; what the user could mend is told in the row instead of stopping all other jobs."""
    try:
        return execute(job, device)
    except DccgcnError as error:
        return {"key": job.key(), "job": asdict(job), "error": error.what, "remedy": error.remedy}


def execute(job: Job, device: str = "cpu") -> dict[str, Any]:
    """Run a job and return what is kept of it: one line of JSON."""
    graph, split = prepared(_load(job.dataset), job)
    method = get_method(job.method)
    result = run(graph, split, method, method.published_settings(job.dataset, job.options), job.seed, device=device)
    summary = result.summary()
    row = {"key": job.key(), "job": asdict(job), "split_hash": split.hash, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
    row |= {name: summary[name] for name in _KEPT}
    row |= _measured(result)
    if job.picture:
        row["picture"] = picture(result.prediction, graph.labels, job.picture, job.seed)
    return row


def _measured(result: Result) -> dict[str, Any]:
    """What is not in every result's summary: the channels' counts, and how far answers can be trusted."""
    test, prediction = result.split.test, result.prediction
    truth = result.graph.labels[test]
    measured: dict[str, Any] = {"trust": trust_record(prediction, test, truth)}
    if prediction.uncorrected is not None:  # what the final layer says without calibration
        before = prediction.uncorrected.argmax(axis=1)[test]
        measured |= {"accuracy_before": accuracy(truth, before), "macro_f1_before": macro_f1(truth, before)}
    if len(prediction.channels) == 2:
        answers = [p.argmax(axis=1)[test] for p in prediction.channels.values()]
        measured["channel_counts"] = asdict(channel_counts(truth, *answers))
    return measured


def prepared(dataset: datasets.Dataset, job: Job) -> tuple[NodeGraph, splits.Split]:
    """The job's graph and split, the same for every method."""
    graph = dataset.graph
    if job.draw == "rate":
        return graph, splits.by_rate(graph, job.amount, job.split_seed)
    if job.draw == "per-class-large":
        size = np.bincount(graph.labels[graph.labelled], minlength=graph.c)
        graph = graph.with_classes(np.sort(np.argsort(size, kind="stable")[_SMALLEST:]))
    if job.draw in ("per-class", "per-class-large"):
        return graph, splits.per_class(graph, int(job.amount), job.split_seed, small_classes="half")
    return graph, dataset.splits[job.draw]


@lru_cache(maxsize=8)  # a process keeps every graph of the paper, with its views, between jobs
def _load(name: str) -> datasets.Dataset:
    return datasets.load(name)
