"""Job: one run of one method on one split, described by plain values, and the graph and split that it runs on."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from dccgcn import datasets
from dccgcn.graph import NodeGraph, splits
from dccgcn.models.registry import get_method

# Table 2 ignores "3 classes with less than 50 nodes" of CoraFull; its smallest ones have 15, 29 and 52
_N_SMALLEST = 3


@dataclass(frozen=True)
class Job:
    """Everything that determines a run's result. Options are those that differ from the published settings."""

    dataset: str
    # "rate" (equal classes), "share" (of each class), "per-class", "per-class-large" (without the three smallest
    # classes), or a published split
    draw: str
    amount: float  # label rate, share, or labels per class; 0 for a published split
    split_seed: int
    method: str
    seed: int
    options: dict[str, Any] = field(default_factory=dict)
    picture: int = 0  # number of nodes on a stored map of the embeddings; 0: no map

    def key(self) -> str:
        """Hash of the job with its complete settings, so that a changed default is a different job.

        The dataset's name identifies its content: a file is only read if its hash is the one in the catalogue.
        """
        settings = _settings(self.method, self.dataset, json.dumps(self.options, sort_keys=True))
        content = {**asdict(self), "amount": float(self.amount), "options": settings}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


@lru_cache(maxsize=4096)  # an experiment has thousands of jobs that differ in their seeds only
def _settings(method: str, dataset: str, options: str) -> dict[str, Any]:
    return get_method(method).published_settings(dataset, json.loads(options)).model_dump()


def graph_and_split(dataset: datasets.Dataset, job: Job) -> tuple[NodeGraph, splits.Split]:
    """The job's graph and split, the same for every method."""
    graph = dataset.graph
    if job.draw == "rate":
        return graph, splits.by_rate(graph, job.amount, job.split_seed)
    if job.draw == "share":
        return graph, splits.hold_out(graph, 1 - job.amount, job.split_seed)
    if job.draw == "per-class-large":
        size = np.bincount(graph.labels[graph.labelled], minlength=graph.c)
        graph = graph.with_classes(np.sort(np.argsort(size, kind="stable")[_N_SMALLEST:]))
    if job.draw in ("per-class", "per-class-large"):
        return graph, splits.per_class(graph, int(job.amount), job.split_seed, small_classes="half")
    return graph, dataset.splits[job.draw]


@lru_cache(maxsize=8)  # each process keeps the paper's graphs, with their operators, between jobs
def load_cached(name: str) -> datasets.Dataset:
    """A dataset, read once per process."""
    return datasets.load(name)
