"""Experiment: a table or figure of the paper as data, and the jobs that measure it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from typing import Any, Literal

import yaml

from dccgcn.experiments.jobs import Job
from dccgcn.experiments.runner import Row
from dccgcn.experiments.study import Cell, Study, System
from dccgcn.models.registry import get_method

Kind = Literal["table", "curves", "map", "surface", "theorems", "confidence"]
EXPERIMENTS = (
    "table2", "table3", "table4", "table5", "table6", "table7",
    "figure4", "figure5", "figure6", "figure7", "theorems", "confidence",
)  # fmt: skip


@dataclass(frozen=True)
class Column(Cell):
    """A cell with what is particular to it in one experiment."""

    edges: str = ""  # the dataset for systems that look at edges alone, where the features may be missing
    fewer: Mapping[str, int] | None = None  # runs of a method that is too slow here for all of them
    without: Mapping[str, str] | None = None  # methods that cannot run here, and why


@dataclass(frozen=True)
class Line:
    """One system: a row of a table, or a curve."""

    name: str
    system: System | None  # None: there is nothing to run
    paper: Mapping[str, tuple[float | None, ...]]  # the paper's values in per cent, by metric, one for each column
    extra: bool = False  # not in the paper
    subject: bool = False  # compared with the best of the others on further splits
    edges_only: bool = False  # needs no features
    why: str = ""  # why there is nothing to run
    read: Mapping[str, str] | None = None  # metrics that are another part of the same run, as without calibration


@dataclass(frozen=True)
class Experiment:
    """Every line on the same splits of every column, so that all differences are paired."""

    name: str  # "table3"
    kind: Kind
    title: str
    claim: str  # what the paper says
    reading: str  # what came of it, written by whoever measured
    metrics: Mapping[str, str]  # names of values of a run, and how they are called
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    runs: int  # behind each mean
    needs: str = ""  # a part of a stored run that early ones lack
    pictures: int = 0  # nodes on a map of each run's embeddings

    def job(self, line: Line, column: Column, nth: int) -> Job | None:
        """The nth run; None where there is none."""
        if line.system is None or line.system.method in (column.without or {}):
            return None
        if line.edges_only and column.edges:
            column = replace(column, dataset=column.edges)
        job = Study((column,), (line.system,)).job(line.system, column, nth)
        return replace(job, picture=self.pictures)

    def runs_of(self, line: Line, column: Column) -> int:
        """How many runs are behind this cell's mean."""
        fewer = (column.fewer or {}).get(line.system.method, self.runs) if line.system else 0
        return min(self.runs, fewer)

    @cached_property
    def keys(self) -> dict[tuple[str, int, int], str]:
        """Key of each run by line, column and number, up to the column's number of splits."""
        return {
            (line.name, c, nth): job.key()
            for line in self.lines
            for c, column in enumerate(self.columns)
            for nth in range(max(column.splits, self.runs))
            if (job := self.job(line, column, nth))
        }

    def values(self, rows: Mapping[str, Row], line: Line, c: int, metric: str, most: int) -> dict[int, float]:
        """In per cent, by number of the split: what is measured of the first `most` runs in column c."""
        found = {}
        metric = (line.read or {}).get(metric, metric)
        for nth in range(most):
            row = rows.get(self.keys.get((line.name, c, nth), ""), {})
            if row.get(metric) is not None:
                found[nth] = 100 * row[metric]
        return found

    def rows(self, rows: Mapping[str, Row]) -> list[Row]:
        """The stored runs that are this experiment's."""
        return [rows[key] for key in dict.fromkeys(self.keys.values()) if key in rows]

    def first_runs(self, nth: int) -> Iterator[Job]:
        """The nth run of every cell that has one."""
        for column in self.columns:
            for line in self.lines:
                job = self.job(line, column, nth)
                if job and nth < self.runs_of(line, column):
                    yield job


def read_experiment(name: str) -> Experiment:
    """An experiment that is part of the package."""
    file = resources.files("dccgcn.experiments") / "paper" / f"{name}.yaml"
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    metrics = content.get("metrics", {})
    lines = [_line(given, metrics, extra=False) for given in content.get("lines", ())]
    lines += [_line(given, metrics, extra=True) for given in content.get("extra", ())]
    return Experiment(
        name=name,
        kind=content["kind"],
        title=content["title"],
        claim=content["claim"].strip(),
        reading=content.get("reading", "").strip(),
        metrics=metrics,
        columns=tuple(Column(**column) for column in content.get("columns", ())),
        lines=tuple(lines),
        runs=content.get("runs", 0),
        needs=content.get("needs", ""),
        pictures=content.get("pictures", 0),
    )


def _line(given: str | dict[str, Any], metrics: Mapping[str, str], extra: bool) -> Line:
    content: dict[str, Any] = {"method": given} if isinstance(given, str) else dict(given)
    method = content.pop("method", None)
    system = System(get_method(method).name, content.pop("options", {})) if method else None
    paper = {metric: tuple(content.pop(metric)) for metric in metrics if metric in content}
    return Line(name=content.pop("name", method), system=system, paper=paper, extra=extra, **content)


def first_jobs(experiments: Sequence[Experiment], splits: int) -> list[Job]:
    """The runs behind the means: the first split of all cells, then the second, so that early tables are of use."""
    most = max((e.runs for e in experiments), default=0)
    return [job for nth in range(min(splits, most)) for e in experiments for job in e.first_runs(nth)]
