"""The page behind the README's table, and the leaderboard of ``dccgcn compare``."""

import numpy as np

from dccgcn.evaluation.paired import Summary, summary
from dccgcn.experiments.results import Results
from dccgcn.experiments.spec import System
from dccgcn.text import markdown_table
from dccgcn.workflow.compare import MethodScore


def leaderboard(results: Results) -> list[MethodScore]:
    """All systems of the first column, best first."""
    first = results.spec.systems[0]
    standings = [
        MethodScore(
            method=system.name,
            accuracy=summary(list(results.values(system, 0).values())),
            macro_f1=summary(list(results.values(system, 0, "macro_f1").values())),
            difference=None if system is first else results.paired(system, first, 0),
            seconds=float(np.mean([row.seconds for row in results.runs(system, 0).values()])),
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
