"""Job: one run of one method on one split, described by plain values."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from dccgcn import datasets, splits
from dccgcn.methods import get_method
from dccgcn.result import run

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
    "repaired",
    "seconds",
    "threads",
)


@dataclass(frozen=True)
class Job:
    """Everything that decides a run's result. Options are those that differ from the published settings."""

    dataset: str
    draw: str  # "rate", "per-class", or the name of a published split
    amount: float  # label rate, or labels per class; 0 for a published split
    split_seed: int
    method: str
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def key(self) -> str:
        """Hash of the job with its settings in full, so that a changed default is another job."""
        settings = get_method(self.method).published_settings(self.dataset, self.options).model_dump()
        content = {**asdict(self), "options": settings}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def execute(job: Job) -> dict[str, Any]:
    """Run a job and return what is kept of it: one line of JSON."""
    dataset = _load(job.dataset)
    split = draw_split(dataset, job)
    method = get_method(job.method)
    result = run(dataset.graph, split, method, method.published_settings(job.dataset, job.options), job.seed)
    summary = result.summary()
    row = {"key": job.key(), "job": asdict(job), "split_hash": split.hash, **{name: summary[name] for name in _KEPT}}
    before = result.outcome.before
    if before is not None:  # what the final layer says without calibration
        truth = dataset.graph.labels[split.test]
        row["accuracy_before"] = float((before.argmax(axis=1)[split.test] == truth).mean())
    return row


def draw_split(dataset: datasets.Dataset, job: Job) -> splits.Split:
    """The job's split, the same for every method."""
    if job.draw == "rate":
        return splits.by_rate(dataset.graph, job.amount, job.split_seed)
    if job.draw == "per-class":
        return splits.per_class(dataset.graph, int(job.amount), job.split_seed, small_classes="half")
    return dataset.splits[job.draw]


@lru_cache(maxsize=2)  # jobs come sorted by dataset: a process keeps the graph and its views between them
def _load(name: str) -> datasets.Dataset:
    return datasets.load(name)
