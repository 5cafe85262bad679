"""The page behind the README's table, and the leaderboard of ``dccgcn compare``."""

from dataclasses import asdict, dataclass
from typing import Any

from dccgcn.evaluation.paired import PairedDifference, Summary, paired_difference, summary
from dccgcn.experiments.markdown import markdown_table, provenance
from dccgcn.experiments.runner import Row
from dccgcn.experiments.study import Cell, Study


@dataclass(frozen=True)
class Standing:
    """One line of a leaderboard; accuracies in per cent."""

    method: str
    accuracy: Summary
    macro_f1: Summary
    difference: PairedDifference | None  # to the first method, on the same splits; None for itself
    seconds: float  # mean per run, views included where they had to be built

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def standings(study: Study, cell: Cell, rows: dict[str, Row]) -> list[Standing]:
    """All systems on one cell, best first."""
    first = 100 * study.values(rows, study.systems[0], cell)
    lines = []
    for system in study.systems:
        accuracy = 100 * study.values(rows, system, cell)
        lines.append(
            Standing(
                method=system.method,
                accuracy=summary(accuracy),
                macro_f1=summary(100 * study.values(rows, system, cell, "macro_f1")),
                difference=None if system is study.systems[0] else paired_difference(accuracy, first),
                seconds=float(study.values(rows, system, cell, "seconds").mean()),
            )
        )
    return sorted(lines, key=lambda line: -line.accuracy.mean)


def render_overview(study: Study, rows: dict[str, Row]) -> str:
    """Mean ± standard deviation of the accuracy, a row per method."""
    header = ["accuracy in %", *(f"{cell.dataset}, {cell.labels}" for cell in study.cells)]
    found = [{line.method: line for line in standings(study, cell, rows)} for cell in study.cells]
    lines = []
    for system in study.systems:
        shown = [str(cell[system.method].accuracy) for cell in found]
        lines.append([system.method, *shown])
    seeds = f"{study.first_seed} to {study.first_seed + max(cell.splits for cell in study.cells) - 1}"
    told = provenance("dccgcn reproduce overview", study.rows(rows))
    return _PAGE.format(table=markdown_table(header, lines), seeds=seeds, provenance=told)


_PAGE = """# Overview

Test accuracy, mean ± standard deviation over class-balanced evaluation splits (seeds {seeds}), without validation
labels. Every method sees the same splits and has its published settings.

{table}

{provenance}
"""
