"""Reproducing the paper: which jobs, what they lack, and the files that come of them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dccgcn.datasets import describe, fetch
from dccgcn.errors import DataFileError
from dccgcn.experiments.experiment import Experiment, first_jobs
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.measured import further_jobs
from dccgcn.experiments.pages import Files, files_of
from dccgcn.experiments.plan import Plan, plan
from dccgcn.experiments.runner import Pool, Row, Tell, packed, read_stores, run_jobs, stores_in
from dccgcn.experiments.section import section

Rows = dict[str, Row]
_RUNS = "runs.jsonl.gz"  # every run behind the pages


@dataclass(frozen=True)
class Reproduction:
    """Some experiments with one store, so that runs which they share are made once."""

    experiments: tuple[Experiment, ...]
    store: Path  # a folder; all its *.jsonl and *.jsonl.gz files are read, paper.jsonl is written
    splits: int  # at most so many of every cell

    @cached_property
    def missing(self) -> dict[str, str]:
        """Datasets whose files cannot be had, and why."""
        reasons = {}
        for name in dict.fromkeys(job.dataset for job in first_jobs(self.experiments, 1)):
            for file in describe(name).files:
                try:
                    fetch(file)
                except DataFileError:
                    reasons[name] = f"{file.path} is not in the data folder and could not be downloaded"
                    break
        return reasons

    def first(self) -> list[Job]:
        """The runs behind the means."""
        return [job for job in first_jobs(self.experiments, self.splits) if job.dataset not in self.missing]

    def further(self, rows: Rows) -> list[Job]:
        """The runs behind paired differences on more splits; which systems depends on what was measured."""
        jobs = further_jobs(self.experiments, rows, self.splits)
        return [job for job in jobs if job.dataset not in self.missing]

    def stored(self) -> Rows:
        """What is there already."""
        return read_stores(self._file, self._others)

    def usable(self, row: Row) -> bool:
        """Whether a stored run tells all that these experiments want of it."""
        return self._needs.get(row["key"], set()) <= row.keys()

    def run(self, pool: Pool | int, tell: Tell | None = None) -> Rows:
        """Make all runs that are not there yet, and return all that are there now."""
        failed: Rows = {}
        for listed in (self.first, lambda: self.further(self.stored())):
            if jobs := listed():
                rows = run_jobs(
                    jobs, self._file, pool, tell, others=self._others, usable=self.usable, keep_failures=True
                )
                failed |= {key: row for key, row in rows.items() if "error" in row}
        return {**failed, **self.stored()}

    def files(self, rows: Rows, command: str, complete: bool) -> Files:
        """All pages, data and pictures; complete: with the page that joins them."""
        files: Files = {}
        for e in self.experiments:
            files |= files_of(e, rows, self.missing, f"{command} {e.name}")
        if complete:
            known = {key for e in self.experiments for key in e.keys.values()}
            files[_RUNS] = packed(row for key, row in rows.items() if key in known and "error" not in row)
            files["README.md"] = section(self.experiments, rows, self.missing, f"{command} all")
        return files

    def plans(self) -> list[Plan]:
        """What each experiment still has to do, and all of them together, where shared runs count once."""
        rows = {key: row for key, row in self.stored().items() if self.usable(row)}
        made = []
        for name, part in [*((e.name, (e,)) for e in self.experiments), ("all of these", self.experiments)]:
            listed = [*first_jobs(part, self.splits), *further_jobs(part, rows, self.splits)]
            made.append(plan(name, [job for job in listed if job.dataset not in self.missing], rows))
        return made

    @property
    def _file(self) -> Path:
        return self.store / "paper.jsonl"

    @property
    def _others(self) -> list[Path]:
        return stores_in(self.store)

    @cached_property
    def _needs(self) -> dict[str, set[str]]:
        needs: dict[str, set[str]] = {}
        for e in self.experiments:
            if e.needs:
                for key in e.keys.values():
                    needs.setdefault(key, set()).add(e.needs)
        return needs
