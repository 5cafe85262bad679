"""Job: one run of one method on one split, described by plain values, and the graph and split that it runs on."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from dccgcn import datasets
from dccgcn.graph import NodeGraph, label_folds, splits
from dccgcn.methods import get_method
from dccgcn.workflow.fitting import fit_and_measure
from dccgcn.workflow.result import Result

# Table 2 ignores "3 classes with less than 50 nodes" of CoraFull; its smallest ones have 15, 29 and 52
_N_SMALLEST = 3
_own_graphs: dict[str, NodeGraph] = {}  # graphs that are no benchmark graphs, by the content of their jobs


@dataclass(frozen=True)
class Job:
    """Everything that determines a run's result. Options are those that differ from the published settings."""

    dataset: str
    # "rate" (equal classes), "rate-uniform", "share" (of each class), "per-class", "per-class-large" (without the three
    # smallest classes), "folds" (parts of the labels), or a published split
    draw: str
    amount: float  # label rate, share, labels per class, or number of folds; 0 for a published split
    split_seed: int
    method: str
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)
    fold: int = 0  # the part of the labels that is tested
    content: str = ""  # hash of a graph that is no benchmark graph
    device: str = "cpu"

    def settings_hash(self) -> str:
        """Hash of the complete settings, so that a changed default is a different job."""
        return _settings_hash(self.method, self.dataset, json.dumps(self.options, sort_keys=True))

    def key(self, settings_hash: str | None = None) -> str:
        """Hash of the job with its complete settings, or with those of another hash.

        The name of a benchmark graph identifies its content: a file is only read if its hash is the one in the
        catalogue.
        """
        content = {**asdict(self), "amount": float(self.amount), "options": settings_hash or self.settings_hash()}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


@lru_cache(maxsize=4096)  # an experiment has thousands of jobs that differ in their seeds only
def _settings_hash(method: str, dataset: str, options: str) -> str:
    settings = get_method(method).published_settings(dataset, json.loads(options)).model_dump()
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:12]


def run_job(job: Job) -> Result:
    """Fit the method of a job on its split."""
    graph, split = graph_and_split(job)
    method = get_method(job.method)
    settings = method.published_settings(job.dataset, job.options)
    return fit_and_measure(graph, split, method, settings, job.seed, device=job.device)


def graph_and_split(job: Job) -> tuple[NodeGraph, splits.Split]:
    """The job's graph and split, the same for every method."""
    if job.content:
        graph = _own_graphs[job.content]
        return graph, label_folds(graph, int(job.amount), job.split_seed)[job.fold]
    dataset = load_cached(job.dataset)
    graph = dataset.graph
    if job.draw == "rate":
        return graph, splits.by_rate(graph, job.amount, job.split_seed)
    if job.draw == "rate-uniform":
        return graph, splits.by_rate(graph, job.amount, job.split_seed, draw="uniform")
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
    """A benchmark graph, read once per process."""
    return datasets.load(name)


def provide(graphs: Mapping[str, NodeGraph]) -> None:
    """Let the jobs of this process find graphs that are no benchmark graphs, by ``Job.content``."""
    _own_graphs.update(graphs)
