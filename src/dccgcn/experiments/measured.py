"""What was measured of an experiment: means beside the paper's values, and paired differences on the same splits."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from dccgcn.evaluation.paired import PairedDifference, Summary, paired_difference, summary
from dccgcn.experiments.experiment import Column, Experiment, Line
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.runner import Row

Rows = Mapping[str, Row]
Missing = Mapping[str, str]  # datasets that could not be had, and why
Among = Literal["paper", "all"]  # the best of the paper's baselines, or of every other line
AMONG: tuple[Among, ...] = ("paper", "all")
NOT_YET = "its runs have not been made yet"
_ROUNDING = 0.05  # the paper prints one decimal


@dataclass(frozen=True)
class Entry:
    """One cell of a table, in per cent."""

    paper: float | None
    ours: Summary | None
    planned: int  # runs that the mean is to have
    why: str  # why it is not measured, where it is not
    values: dict[int, float]  # by number of the split

    @property
    def difference(self) -> float | None:
        return None if self.paper is None or self.ours is None else self.ours.mean - self.paper

    @property
    def agrees(self) -> bool | None:
        """Whether our mean and the paper's, over as many runs of the same spread, could differ so much (95 %)."""
        if self.ours is None or self.paper is None or self.ours.std is None:
            return None
        half = stats.t.ppf(0.975, self.ours.n - 1) * self.ours.std * np.sqrt(2 / self.ours.n)
        return bool(abs(self.ours.mean - self.paper) <= half + _ROUNDING)


def entry(e: Experiment, rows: Rows, line: Line, c: int, metric: str, missing: Missing) -> Entry:
    """One line in one column."""
    column = e.columns[c]
    planned = e.runs_of(line, column)
    values = e.values(rows, line, c, metric, planned)
    printed = line.paper.get(metric)
    why = "" if values else _why(e, rows, line, column, c, missing)
    return Entry(
        printed[c] if printed else None, summary(list(values.values())) if values else None, planned, why, values
    )


def _why(e: Experiment, rows: Rows, line: Line, column: Column, c: int, missing: Missing) -> str:
    if line.system is None:
        return line.why
    if reason := (column.without or {}).get(line.system.method):
        return reason
    failed = [row["error"] for nth in range(e.runs) if "error" in (row := rows.get(e.keys[line.name, c, nth], {}))]
    job = e.job(line, column, 0)
    return failed[0] if failed else missing.get(job.dataset if job else "", NOT_YET)


@dataclass(frozen=True)
class Comparison:
    """A subject against the best of others on the same splits of one column."""

    subject: str
    among: Among
    column: str
    best: str  # by the mean over the first runs, of those with the most
    difference: PairedDifference
    paper: float | None  # the same difference as the paper prints it
    unit: str  # what the difference is over: splits, or seeds on one split
    higher: tuple[str, ...]  # others whose mean over fewer runs is above the best's


def comparisons(e: Experiment, rows: Rows, metric: str) -> list[Comparison]:
    """All subjects against the best of the paper's baselines, and of everything, on every split that both have."""
    found = []
    for subject in (line for line in e.lines if line.subject):
        for c, column in enumerate(e.columns):
            ours = e.values(rows, subject, c, metric, column.splits)
            told: list[Line] = []
            for among in AMONG[subject.extra :]:
                best = best_other(e, rows, subject, c, metric, among) if ours else None
                if best is None or best in told:
                    continue
                told.append(best)
                theirs = e.values(rows, best, c, metric, column.splits)
                both = sorted(ours.keys() & theirs.keys())
                if both:
                    d = paired_difference([ours[n] for n in both], [theirs[n] for n in both])
                    gain = paper_gain(e, subject, c, metric) if among == "paper" else None
                    unit = "splits" if column.is_drawn else "seeds"
                    higher = _higher(e, rows, subject, best, c, metric, among)
                    found.append(Comparison(subject.name, among, label(column), best.name, d, gain, unit, higher))
    return found


def best_other(e: Experiment, rows: Rows, subject: Line, c: int, metric: str, among: Among) -> Line | None:
    """The line with the highest mean, of those with the most runs: few runs say little."""
    measured = _means(e, rows, subject, c, metric, among)
    most = max((one.n for _, one in measured), default=0)
    full = [(one.mean, line) for line, one in measured if one.n == most]
    return max(full, key=lambda pair: pair[0])[1] if full else None


def _higher(e: Experiment, rows: Rows, subject: Line, best: Line, c: int, metric: str, among: Among) -> tuple[str, ...]:
    """The lines whose mean is above the best's, which have fewer runs, each with its mean and their number."""
    measured = _means(e, rows, subject, c, metric, among)
    least = next(one.mean for line, one in measured if line is best)
    return tuple(f"{line.name} {one.mean:.1f} ({one.n})" for line, one in measured if one.mean > least)


def _means(e: Experiment, rows: Rows, subject: Line, c: int, metric: str, among: Among) -> list[tuple[Line, Summary]]:
    """Of all lines but the subject that were run."""
    others = [line for line in e.lines if line is not subject and not (among == "paper" and line.extra)]
    found = [(line, e.values(rows, line, c, metric, e.runs_of(line, e.columns[c]))) for line in others]
    return [(line, summary(list(values.values()))) for line, values in found if values]


def paper_gain(e: Experiment, subject: Line, c: int, metric: str) -> float | None:
    """The subject's lead over the best of the paper's other lines, as printed."""
    others = [line.paper[metric][c] for line in e.lines if not line.subject and metric in line.paper]
    values = [value for value in others if value is not None]
    own = subject.paper.get(metric, ())
    return own[c] - max(values) if values and own and own[c] is not None else None  # type: ignore[operator]


def further_jobs(experiments: Sequence[Experiment], rows: Rows, splits: int) -> list[Job]:
    """Runs beyond those of the means: each subject and the best of the others, up to the columns' number of splits."""
    jobs = []
    for nth in range(splits):
        for e in experiments:
            for c, column in enumerate(e.columns):
                if e.runs <= nth < column.splits:
                    jobs += [e.job(line, column, nth) for line in _compared(e, rows, c)]
    return [job for job in jobs if job]


def _compared(e: Experiment, rows: Rows, c: int) -> list[Line]:
    lines: dict[str, Line] = {}
    metric = next(iter(e.metrics), "")
    for subject in (line for line in e.lines if line.subject):
        best = [best_other(e, rows, subject, c, metric, among) for among in AMONG[subject.extra :]]
        lines |= {line.name: line for line in (subject, *best) if line}
    return list(lines.values())


def not_yet(e: Experiment, rows: Rows, missing: Missing) -> str:
    """The columns of which nothing is there, in a sentence."""
    known = {c for (_, c, _), key in e.keys.items() if key in rows}
    absent = [column for c, column in enumerate(e.columns) if c not in known]
    reasons = [missing.get(column.dataset, NOT_YET) for column in absent]
    told = "; ".join(f"{label(column)}: {why}" for column, why in zip(absent, reasons, strict=True))
    return f"Not measured: {told}." if told else ""


def label(column: Column) -> str:
    return f"{column.dataset}, {column.labels}"


def to_json(e: Experiment, rows: Rows, missing: Missing) -> dict[str, Any]:
    """Everything that the page shows, and the values of each split."""
    cells = [
        {
            "metric": metric, "line": line.name, "method": line.system.method if line.system else None,
            "options": dict(line.system.options) if line.system else {}, "in_paper": not line.extra,
            "dataset": column.dataset, "labels": column.labels, "paper": found.paper,
            "ours": asdict(found.ours) if found.ours else None, "difference": found.difference,
            "agrees": found.agrees, "not_measured": found.why or None, "values": found.values,
        }
        for metric in e.metrics
        for line in e.lines
        for c, column in enumerate(e.columns)
        for found in [entry(e, rows, line, c, metric, missing)]
    ]  # fmt: skip
    paired = [{"metric": metric, **asdict(found)} for metric in e.metrics for found in comparisons(e, rows, metric)]
    return {"experiment": e.name, "title": e.title, "cells": cells, "paired": paired}
