"""Results: what the stored runs give for a spec, as means beside published values and as paired differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from dccgcn.quality.paired import PairedDifference, Summary, paired_difference, summary
from dccgcn.workflow.runner import Failures, Rows
from paper.measure import PaperJob
from paper.spec import Spec, System, jobs_of

Baselines = Literal["paper", "all"]  # compare with the best of the paper's systems, or of all systems
NOT_RUN = "its runs have not been made yet"
_ROUNDING = 0.05  # the paper prints one decimal


@dataclass(frozen=True)
class Cell:
    """One system in one column, in %."""

    published: float | None
    ours: Summary | None
    reason: str  # why there is no mean; empty if there is one

    @property
    def difference(self) -> float | None:
        return None if self.published is None or self.ours is None else self.ours.mean - self.published

    @property
    def compatible(self) -> bool | None:
        """Whether our mean and the published one, over equally many runs of equal spread, may be equal (95 %)."""
        if self.ours is None or self.published is None or self.ours.std is None:
            return None
        half = stats.t.ppf(0.975, self.ours.n - 1) * self.ours.std * np.sqrt(2 / self.ours.n)
        return bool(abs(self.ours.mean - self.published) <= half + _ROUNDING)


@dataclass(frozen=True)
class Comparison:
    """A subject against the best other system on the same splits of one column."""

    subject: str
    baselines: Baselines
    column: str
    best: str  # highest mean over the first runs, of the systems with the most runs
    first: PairedDifference | None  # on the splits behind the means, by which the best was chosen
    further: PairedDifference | None  # on the splits after them, which nothing was chosen by
    published: float | None  # the same difference as printed in the paper
    unit: str  # "splits", or "seeds" on one published split
    higher: tuple[str, ...]  # systems with fewer runs whose mean is above that of the best

    @property
    def unbiased(self) -> PairedDifference | None:
        """The difference on further splits if it has an interval, else the one on the first splits."""
        return self.further if self.further and self.further.n > 1 else self.first


@dataclass(frozen=True, eq=False)
class Results:
    """A spec with the stored runs. Values of a metric are in %."""

    spec: Spec
    rows: Rows
    unavailable: Mapping[str, str] = field(default_factory=dict)  # datasets without files, and why
    failures: Failures = field(default_factory=dict)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The stored runs of the spec by system, column and split number; one that two cells share is in both."""
        keys = {place: key for place, key in self.spec.keys.items() if key in self.rows}
        index = pd.MultiIndex.from_tuples(list(keys), names=["system", "column", "split"]) if keys else None
        return pd.DataFrame([self.rows[key] for key in keys.values()], index=index)

    @cached_property
    def _cells(self) -> dict[tuple[str, int], pd.DataFrame]:
        groups = self.frame.groupby(level=["system", "column"], sort=False) if len(self.frame) else []
        return {place: runs.droplevel(["system", "column"]) for place, runs in groups}

    def runs(self, system: System, c: int, limit: int | None = None) -> pd.DataFrame:
        """Stored runs of a system in column c by split number; limit: of the first splits only."""
        runs = self._cells.get((system.name, c), pd.DataFrame(columns=["accuracy"], index=pd.Index([], dtype=int)))
        return runs if limit is None else runs[runs.index < limit]

    def first_runs(self, system: System, c: int) -> pd.DataFrame:
        """Those behind the mean."""
        return self.runs(system, c, self.spec.n_runs(system, self.spec.columns[c]))

    def values(self, system: System, c: int, metric: str = "accuracy", limit: int | None = None) -> pd.Series:
        """A metric of the stored runs by split number, in %."""
        return 100 * values_of(self.runs(system, c, limit), system.reads.get(metric, metric))

    def cell(self, system: System, c: int, metric: str = "accuracy") -> Cell:
        """Mean over the first runs beside the published value."""
        column = self.spec.columns[c]
        values = self.values(system, c, metric, self.spec.n_runs(system, column))
        reason = "" if len(values) else self._reason(system, c)
        return Cell(self.spec.published(system, column, metric), summary(values) if len(values) else None, reason)

    def cells(self, system: System, metric: str = "accuracy") -> list[Cell]:
        """One per column."""
        return [self.cell(system, c, metric) for c in range(len(self.spec.columns))]

    def _reason(self, system: System, c: int) -> str:
        column = self.spec.columns[c]
        if system.method is None:
            return system.reason
        if system.method in column.excluded:
            return column.excluded[system.method]
        keys = [key for (name, at, _), key in self.spec.keys.items() if (name, at) == (system.name, c)]
        failed = next((self.failures[key].reason for key in keys if key in self.failures), None)
        job = self.spec.job(system, column, 0)
        return failed or self.unavailable.get(job.dataset if job else "", NOT_RUN)

    def used(self) -> pd.DataFrame:
        """All stored runs of this spec."""
        return self.frame.drop_duplicates("key") if len(self.frame) else self.frame

    def paired(
        self, first: System, second: System, c: int, metric: str = "accuracy", splits: range | None = None
    ) -> PairedDifference | None:
        """Difference on all splits that both systems have, or on those of a range of split numbers."""
        pair = pd.concat([self.values(first, c, metric), self.values(second, c, metric)], axis=1, join="inner")
        pair = pair.sort_index() if splits is None else pair[pair.index.isin(splits)].sort_index()
        return paired_difference(pair.iloc[:, 0], pair.iloc[:, 1]) if len(pair) else None

    def comparisons(self, metric: str) -> list[Comparison]:
        """Every subject against the best of the paper's systems and of all systems, column by column."""
        comparisons = []
        for subject in (system for system in self.spec.systems if system.subject):
            for c, column in enumerate(self.spec.columns):
                done: list[System] = []
                for baselines in _baselines(subject):
                    best = self.best_other(subject, c, metric, baselines)
                    if best is None or best in done:
                        continue
                    ranges = range(self.spec.runs), range(self.spec.runs, column.splits)
                    first, further = (self.paired(subject, best, c, metric, splits) for splits in ranges)
                    if first is None and further is None:
                        continue
                    done.append(best)
                    comparisons.append(
                        Comparison(
                            subject=subject.name,
                            baselines=baselines,
                            column=str(column),
                            best=best.name,
                            first=first,
                            further=further,
                            published=self.published_gain(subject, c, metric) if baselines == "paper" else None,
                            unit="splits" if column.is_drawn else "seeds",
                            higher=self._higher(subject, best, c, metric, baselines),
                        )
                    )
        return comparisons

    def best_other(self, subject: System, c: int, metric: str, baselines: Baselines) -> System | None:
        """The system with the highest mean, of those with the most runs: a mean over few runs is uncertain."""
        means = self._means(subject, c, metric, baselines)
        most = max((mean.n for _, mean in means), default=0)
        full = [(mean.mean, system) for system, mean in means if mean.n == most]
        return max(full, key=lambda pair: pair[0])[1] if full else None

    def _higher(self, subject: System, best: System, c: int, metric: str, baselines: Baselines) -> tuple[str, ...]:
        means = self._means(subject, c, metric, baselines)
        least = next(mean.mean for system, mean in means if system is best)
        return tuple(f"{system.name} {mean.mean:.1f} ({mean.n})" for system, mean in means if mean.mean > least)

    def _means(self, subject: System, c: int, metric: str, baselines: Baselines) -> list[tuple[System, Summary]]:
        """Of all other systems with runs."""
        others = self.spec.systems if baselines == "all" else self.spec.of_group("paper")
        cells = [(system, self.cell(system, c, metric).ours) for system in others if system is not subject]
        return [(system, ours) for system, ours in cells if ours]

    def published_gain(self, subject: System, c: int, metric: str) -> float | None:
        """The subject's published lead over the best published value of the other systems."""
        column = self.spec.columns[c]
        others = [self.spec.published(system, column, metric) for system in self.spec.systems if not system.subject]
        values = [value for value in others if value is not None]
        own = self.spec.published(subject, column, metric)
        return own - max(values) if values and own is not None else None

    def columns_without_runs(self) -> str:
        """A sentence that names them; empty if there are none."""
        measured = {c for (_, c, _), key in self.spec.keys.items() if key in self.rows}
        named = [
            f"{column}: {self.unavailable.get(column.dataset, NOT_RUN)}"
            for c, column in enumerate(self.spec.columns)
            if c not in measured
        ]
        return f"Not measured: {'; '.join(named)}." if named else ""

    def runs_left(self) -> str:
        """A sentence on how many of the runs behind the means have been made; empty if all."""
        jobs = {job.key(): job for job in jobs_of([self.spec], self.spec.runs) if job.dataset not in self.unavailable}
        made = len(jobs.keys() & self.rows.keys())
        return f"{made} of {len(jobs)} runs have been made; the others are left to run." if made < len(jobs) else ""


def values_of(runs: pd.DataFrame, name: str) -> pd.Series:
    """A column of the runs that have it."""
    return runs[name].dropna().astype(float) if name in runs else pd.Series(dtype=float)


def _baselines(subject: System) -> tuple[Baselines, ...]:
    return ("paper", "all") if subject.group == "paper" else ("all",)


def further_jobs(specs: Sequence[Spec], rows: Rows, splits: int) -> list[PaperJob]:
    """Jobs beyond those of the means: each subject and the best other systems, up to the column's number of splits."""
    jobs = []
    for nth in range(splits):
        for spec in specs:
            for c, column in enumerate(spec.columns):
                if spec.runs <= nth < column.splits:
                    jobs += [spec.job(system, column, nth) for system in _compared(Results(spec, rows), c)]
    return [job for job in jobs if job]


def _compared(results: Results, c: int) -> list[System]:
    systems: dict[str, System] = {}
    metric = next(iter(results.spec.metrics), "")
    for subject in (system for system in results.spec.systems if system.subject):
        best = [results.best_other(subject, c, metric, baselines) for baselines in _baselines(subject)]
        systems |= {system.name: system for system in (subject, *best) if system}
    return list(systems.values())
