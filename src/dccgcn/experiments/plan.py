"""How long jobs will take, from how long such jobs took."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from dccgcn.experiments.jobs import Job
from dccgcn.experiments.runner import Row

_UNKNOWN = 10.0  # seconds, where nothing at all is known


@dataclass(frozen=True)
class Plan:
    """What one experiment still has to do."""

    name: str
    cells: int
    runs: int
    left: int
    seconds: float  # of one thread


def estimator(rows: Mapping[str, Row]) -> Callable[[Job], float]:
    """Expected seconds of a job: the mean of like jobs in the store, else what is known of the method on that dataset.

    The first run of a process also compiles and builds views, which later ones share; the mean holds both.
    """
    seen: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for row in rows.values():
        if "seconds" in row:
            job = Job(**row["job"])
            for kind in _kinds(job):
                seen[kind].append(row["seconds"])
    means = {kind: sum(seconds) / len(seconds) for kind, seconds in seen.items()}

    def seconds(job: Job) -> float:
        known = next((means[kind] for kind in _kinds(job) if kind in means), None)
        return known if known is not None else typical().get(job.dataset, {}).get(job.method, _UNKNOWN)

    return seconds


def plan(name: str, jobs: Iterable[Job], done: Mapping[str, Row]) -> Plan:
    """What is left of the jobs, where those in ``done`` are finished; their times tell what the others will take."""
    wanted, seconds = {job.key(): job for job in jobs}, estimator(done)
    left = [job for key, job in wanted.items() if key not in done]
    cells = {(job.dataset, job.draw, job.amount, job.method, str(job.options)) for job in wanted.values()}
    return Plan(name, len(cells), len(wanted), len(left), sum(map(seconds, left)))


def _kinds(job: Job) -> Iterable[tuple[Any, ...]]:
    """From the most alike to the least."""
    options = tuple(sorted((name, str(value)) for name, value in job.options.items()))
    yield job.dataset, job.method, job.draw, job.amount, options, job.picture
    yield job.dataset, job.method, job.draw, job.picture


@cache
def typical() -> dict[str, dict[str, float]]:
    """Seconds of a run by dataset and method, measured once, for a store that is still empty."""
    file = resources.files("dccgcn.experiments") / "paper" / "seconds.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8"))
