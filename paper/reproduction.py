"""Reproduction: the jobs of some experiments, what remains to run, and the files made from the runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from dccgcn.datasets import data_folder, describe, fetch
from dccgcn.errors import DataFileError
from dccgcn.workflow.jobs import Job
from dccgcn.workflow.runner import Failures, OnProgress, Rows, run_jobs
from paper.measure import PaperJob, measure
from paper.pages import Files, files_of, readme, table1_page
from paper.results import Results, further_jobs
from paper.runs import FILE, RESULTS, packed, read_all, stores_in, unpacked
from paper.spec import OTHERS, PAPER, Spec, jobs_of, read_spec

_DEFAULT_SECONDS = 10.0


@dataclass(frozen=True)
class Reproduction:
    """Some experiments with one store, so that shared runs are made once."""

    specs: tuple[Spec, ...]
    store: Path  # a folder; all its *.jsonl and *.parquet files are read, `file` is written
    splits: int  # at most so many of every cell
    only: frozenset[str] = frozenset()  # run these datasets only; empty: all
    download: bool = True  # fetch data files that are not in the data folder

    @cached_property
    def unavailable(self) -> dict[str, str]:
        """Datasets whose files are not there and cannot, or may not, be downloaded; and why."""
        names = dict.fromkeys(job.dataset for job in jobs_of(self.specs, 1) if self._is_chosen(job))
        return {name: reason for name in names if (reason := self._missing(name))}

    def jobs(self, specs: Sequence[Spec] | None = None) -> list[PaperJob]:
        """The jobs behind the means."""
        return self._runnable(jobs_of(self.specs if specs is None else specs, self.splits))

    def further_jobs(self, rows: Rows, specs: Sequence[Spec] | None = None) -> list[PaperJob]:
        """The jobs for paired differences on further splits; which systems depends on the means."""
        return self._runnable(further_jobs(self.specs if specs is None else specs, rows, self.splits))

    def stored(self) -> Rows:
        """Finished runs."""
        return read_all(self.file, stores_in(self.store))

    def run(self, processes: int, on_progress: OnProgress | None = None) -> tuple[Rows, Failures]:
        """Run all jobs that are not stored yet, and return all stored runs."""
        failures: Failures = {}
        for select in (self.jobs, lambda: self.further_jobs(self.stored())):
            stored = self.stored()
            if jobs := [job for job in select() if job.key() not in stored]:
                failures |= run_jobs(jobs, self.file, processes, measure, on_progress, keep_failures=True)[1]
        return self.stored(), failures

    def files(self, rows: Rows, command: str, complete: bool, failures: Failures | None = None) -> Files:
        """All pages and figures; complete: also the page that links them."""
        every = [Results(spec, rows, self.unavailable, failures or {}) for spec in self.specs]
        files: Files = {}
        for results in every:
            files |= files_of(results, f"{command} {results.spec.name}")
        if complete:
            files["README.md"] = readme(every, f"{command} all")
            files["table1.md"] = table1_page()
        return files

    def plans(self) -> pd.DataFrame:
        """What each experiment still has to run, and all of them together, where shared runs count once.

        Hours are those of one thread.
        """
        rows = self.stored()
        seconds = estimator(rows)
        groups = [*((spec.name, (spec,)) for spec in self.specs), ("all of these", self.specs)]
        plans = []
        for name, specs in groups:
            jobs = {job.key(): job for job in (*self.jobs(specs), *self.further_jobs(rows, specs))}
            left = [job for key, job in jobs.items() if key not in rows]
            cells = {(job.dataset, job.draw, job.amount, job.method, str(job.options)) for job in jobs.values()}
            hours = sum(map(seconds, left)) / 3600
            plans.append(
                {"experiment": name, "cells": len(cells), "runs": len(jobs), "left": len(left), "hours": hours}
            )
        return pd.DataFrame(plans)

    @property
    def file(self) -> Path:
        """The store that new runs are written to; the paper's experiments share one."""
        first = self.specs[0].name
        return self.store / f"{'paper' if first in PAPER else first}.jsonl"

    def _missing(self, name: str) -> str:
        """Which file of a dataset is not there; empty if none."""
        for file in describe(name).files:
            if not self.download:
                if not (data_folder() / file.path).is_file():
                    return f"{file.path} is not in the data folder"
                continue
            try:
                fetch(file)
            except DataFileError:
                return f"{file.path} is not in the data folder and could not be downloaded"
        return ""

    def _is_chosen(self, job: Job) -> bool:
        return not self.only or job.dataset in self.only

    def _runnable(self, jobs: Sequence[PaperJob]) -> list[PaperJob]:
        return [job for job in jobs if self._is_chosen(job) and job.dataset not in self.unavailable]


def with_runs(file: Path, rows: Rows, specs: Iterable[Spec] = ()) -> bytes:
    """The Parquet file with further runs, as far as a page of `specs` or a published page is made from them.

    Runs of studies in the file are kept.
    """
    before = unpacked(file) if file.exists() else {}
    specs = (*specs, *map(read_spec, (*PAPER, *OTHERS)))
    keys = {key for spec in specs for key in spec.keys.values()}
    detailed = {
        key for spec in specs if spec.kind == "confidence" for (*_, nth), key in spec.keys.items() if nth < spec.runs
    }
    merged = {**before, **rows}
    return packed({key: row for key, row in merged.items() if "study" in row or key in keys}, detailed)


def estimator(rows: Rows) -> Callable[[Job], float]:
    """Expected seconds of a job: the mean of the most similar stored or published jobs.

    The first run of a process also compiles and builds operators, which later runs share; the mean includes both.
    """
    published = unpacked(RESULTS / FILE) if (RESULTS / FILE).exists() else {}
    fields = ["dataset", "method", "draw", "amount", "settings"]
    runs = [row for row in (*published.values(), *rows.values()) if "key" in row]
    frame = pd.DataFrame(runs, columns=[*fields, "seconds"])
    means: list[Mapping[object, float]] = [frame.groupby(fields[:n]).seconds.mean().to_dict() for n in (5, 3, 2)]

    def seconds(job: Job) -> float:
        about = (job.dataset, job.method, job.draw, float(job.amount), job.settings_hash())
        estimates = (table.get(about[:n]) for n, table in zip((5, 3, 2), means, strict=True))
        return next((mean for mean in estimates if mean is not None), _DEFAULT_SECONDS)

    return seconds
