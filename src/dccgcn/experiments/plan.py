"""How long jobs will take, estimated from similar jobs."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from dccgcn.experiments.jobs import Job
from dccgcn.experiments.rows import Rows

_DEFAULT_SECONDS = 10.0


@dataclass(frozen=True)
class Plan:
    """What one experiment still has to run."""

    name: str
    cells: int
    runs: int
    remaining: int
    seconds: float  # on one thread


def estimator(rows: Rows) -> Callable[[Job], float]:
    """Expected seconds of a job: the mean of similar jobs in the store, else the typical time of the method.

    The first run of a process also compiles and builds operators, which later runs share; the mean includes both.
    """
    seen: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for row in rows.values():
        for similar in _similar(row.job):
            seen[similar].append(row.seconds)
    means = {similar: sum(seconds) / len(seconds) for similar, seconds in seen.items()}

    def seconds(job: Job) -> float:
        known = next((means[similar] for similar in _similar(job) if similar in means), None)
        return known if known is not None else typical_seconds().get(job.dataset, {}).get(job.method, _DEFAULT_SECONDS)

    return seconds


def plan(name: str, jobs: Iterable[Job], rows: Rows) -> Plan:
    """What remains of the jobs, given the finished runs."""
    requested, seconds = {job.key(): job for job in jobs}, estimator(rows)
    remaining = [job for key, job in requested.items() if key not in rows]
    cells = {(job.dataset, job.draw, job.amount, job.method, str(job.options)) for job in requested.values()}
    return Plan(name, len(cells), len(requested), len(remaining), sum(map(seconds, remaining)))


def _similar(job: Job) -> Iterable[tuple[Any, ...]]:
    """Groups of similar jobs, the most similar first."""
    options = tuple(sorted((name, str(value)) for name, value in job.options.items()))
    yield job.dataset, job.method, job.draw, float(job.amount), options, job.picture
    yield job.dataset, job.method, job.draw, job.picture


@cache
def typical_seconds() -> dict[str, dict[str, float]]:
    """Seconds of a run by dataset and method, for an empty store."""
    file = resources.files("dccgcn.experiments") / "paper" / "seconds.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8"))
