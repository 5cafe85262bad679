"""Reproduction: the jobs of some experiments, what remains to run, and the files made from the runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dccgcn.datasets import data_folder, describe, fetch
from dccgcn.errors import DataFileError
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.pages import Files, files_of
from dccgcn.experiments.plan import Plan, plan
from dccgcn.experiments.readme import readme
from dccgcn.experiments.results import Results, further_jobs
from dccgcn.experiments.rows import Failures, Rows
from dccgcn.experiments.runner import OnProgress, Pool, run_jobs
from dccgcn.experiments.spec import PAPER, Spec, jobs_of, read_spec
from dccgcn.experiments.store import pack, read_stores, stores_in
from dccgcn.experiments.table1 import table1_page

_RUNS = "runs.jsonl.gz"  # every run behind the pages
_PUBLISHED = (*PAPER, "overview", "concord", "many-labels")  # pages that are made from it


@dataclass(frozen=True)
class Reproduction:
    """Some experiments with one store, so that shared runs are made once."""

    specs: tuple[Spec, ...]
    store: Path  # a folder; all its *.jsonl and *.jsonl.gz files are read, `file` is written
    splits: int  # at most so many of every cell
    only: frozenset[str] = frozenset()  # run these datasets only; empty: all
    download: bool = True  # fetch data files that are not in the data folder

    @cached_property
    def unavailable(self) -> dict[str, str]:
        """Datasets whose files are not there and cannot, or may not, be downloaded; and why."""
        names = dict.fromkeys(job.dataset for job in jobs_of(self.specs, 1) if self._is_chosen(job))
        return {name: reason for name in names if (reason := self._missing(name))}

    def jobs(self, specs: Sequence[Spec] | None = None) -> list[Job]:
        """The jobs behind the means."""
        return self._runnable(jobs_of(self.specs if specs is None else specs, self.splits))

    def further_jobs(self, rows: Rows, specs: Sequence[Spec] | None = None) -> list[Job]:
        """The jobs for paired differences on further splits; which systems depends on the means."""
        return self._runnable(further_jobs(self.specs if specs is None else specs, rows, self.splits))

    def stored(self) -> Rows:
        """Finished runs."""
        return read_stores(self.file, stores_in(self.store))

    def run(self, pool: Pool, on_progress: OnProgress | None = None) -> tuple[Rows, Failures]:
        """Run all jobs that are not stored yet, and return all stored runs."""
        failures: Failures = {}
        for select in (self.jobs, lambda: self.further_jobs(self.stored())):
            if jobs := select():
                others = stores_in(self.store)
                failures |= run_jobs(jobs, self.file, pool, on_progress, others=others, keep_failures=True)[1]
        return self.stored(), failures

    def files(self, rows: Rows, command: str, complete: bool, failures: Failures | None = None) -> Files:
        """All pages, data and figures; complete: also the runs and the page that links them."""
        every = [Results(spec, rows, self.unavailable, failures or {}) for spec in self.specs]
        files: Files = {}
        for results in every:
            files |= files_of(results, f"{command} {results.spec.name}")
            if results.spec.kind in ("choices", "published"):  # most of their runs are of no other page
                files[f"{results.spec.page}-runs.jsonl.gz"] = pack(results.used())
        if complete:
            files[_RUNS] = pack(published_runs(rows, self.specs).values())
            files["README.md"] = readme(every, f"{command} all")
            files["table1.md"] = table1_page()
        return files

    def plans(self) -> list[Plan]:
        """What each experiment still has to run, and all of them together, where shared runs count once."""
        rows = self.stored()
        groups = [*((spec.name, (spec,)) for spec in self.specs), ("all of these", self.specs)]
        return [plan(name, [*self.jobs(specs), *self.further_jobs(rows, specs)], rows) for name, specs in groups]

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

    def _runnable(self, jobs: Sequence[Job]) -> list[Job]:
        return [job for job in jobs if self._is_chosen(job) and job.dataset not in self.unavailable]


def published_runs(rows: Rows, specs: Sequence[Spec] = ()) -> Rows:
    """The runs behind the pages of `specs` and behind the published ones, also those that are not written now."""
    known = {key for spec in (*specs, *map(read_spec, _PUBLISHED)) for key in spec.keys.values()}
    return {key: row for key, row in rows.items() if key in known}
