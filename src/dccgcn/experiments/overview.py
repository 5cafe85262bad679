"""The page behind the README's table, and the leaderboard of ``dccgcn compare``."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dccgcn.evaluation.paired import PairedDifference, Summary, summary
from dccgcn.experiments.results import Results
from dccgcn.experiments.spec import System
from dccgcn.text import markdown_table


@dataclass(frozen=True)
class Standing:
    """One row of a leaderboard; accuracies in %."""

    method: str
    accuracy: Summary
    macro_f1: Summary
    difference: PairedDifference | None  # to the first method, on the same splits; None for that method itself
    seconds: float  # mean per run, including operators where they had to be built

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def leaderboard(results: Results, c: int = 0) -> list[Standing]:
    """All systems of one column, best first."""
    first = results.spec.systems[0]
    standings = [
        Standing(
            method=system.name,
            accuracy=summary(list(results.values(system, c).values())),
            macro_f1=summary(list(results.values(system, c, "macro_f1").values())),
            difference=None if system is first else results.paired(system, first, c),
            seconds=float(np.mean([row.seconds for row in results.runs(system, c).values()])),
        )
        for system in results.spec.systems
    ]
    return sorted(standings, key=lambda one: -one.accuracy.mean)


def overview_body(results: Results) -> str:
    """Mean ± standard deviation of the accuracy: a row per method, or per column of the spec if these are more."""
    runs = results.spec.runs

    def text(ours: Summary | None) -> str:
        return "–" if ours is None else str(ours) if ours.n == runs else f"{ours} (n = {ours.n})"

    rows = [[s.name, *(text(cell.ours) for cell in results.cells(s))] for s in results.spec.systems]
    rows += [_lead(results, subject) for subject in results.spec.systems if subject.subject]
    table = [["accuracy in %", *map(str, results.spec.columns)], *rows]
    header, *lines = (
        map(list, zip(*table, strict=True)) if len(table) < len(table[0]) else table
    )  # rather long than wide
    return markdown_table(header, lines)


def _lead(results: Results, subject: System) -> list[str]:
    """The paired difference to the best other system of each column, with its 95 % interval."""
    cells = []
    for c in range(len(results.spec.columns)):
        best = results.best_other(subject, c, "accuracy", "all")
        difference = results.paired(subject, best, c) if best else None
        cells.append(f"{best.name}: {difference}" if best and difference else "–")
    return [f"{subject.name} less the best other", *cells]
