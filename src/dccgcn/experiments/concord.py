"""The page on Concord: against targets, against every system on the same splits, and what its trust is worth."""

from importlib import resources
from typing import Any

import numpy as np
import yaml

from dccgcn.evaluation.paired import PairedDifference, paired_difference, summary
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.markdown import markdown_table, provenance
from dccgcn.experiments.runner import Row
from dccgcn.experiments.study import Cell, Study, System


def concord_jobs(study: Study, splits: int) -> list[Job]:
    """Split by split, so that every cell of the page fills at the same pace and a stopped run is a smaller study."""
    return [
        study.job(system, cell, nth)
        for nth in range(splits)
        for cell in study.cells
        for system in study.systems
        if nth < cell.splits
    ]


def render_concord(study: Study, rows: dict[str, Row]) -> str:
    """Every number over the splits that were run, and how many these were."""
    content = yaml.safe_load((resources.files("dccgcn.experiments") / "concord.yaml").read_text(encoding="utf-8"))
    ours = study.systems[0]
    header = ["accuracy in %", *(f"{cell.dataset}, {cell.labels}" for cell in study.cells)]
    lines = [
        ["DCC-GCN, as printed", *(f"{value:.1f}" for value in content["printed"])],
        ["target", *(f"{value:g}" for value in content["target"])],
    ]
    lines += [[_bold(s, ours), *(_mean(study, rows, s, cell) for cell in study.cells)] for s in study.systems]
    paired = [
        [system.method, *(_difference(_compared(study, rows, ours, system, cell)) for cell in study.cells)]
        for system in study.systems[1:]
    ]
    return _PAGE.format(
        accuracy=markdown_table(header, lines),
        paired=markdown_table(["Concord less …", *header[1:]], paired),
        trust=markdown_table(["", *header[1:]], _trust(study, rows, ours)),
        reading=study.reading,
        provenance=provenance("dccgcn reproduce concord"),
    )


def _found(study: Study, rows: dict[str, Row], system: System, cell: Cell) -> dict[int, Row]:
    """The runs that there are, by the number of their split."""
    keys = {nth: study.job(system, cell, nth).key() for nth in range(cell.splits)}
    return {nth: rows[key] for nth, key in keys.items() if key in rows}


def _mean(study: Study, rows: dict[str, Row], system: System, cell: Cell) -> str:
    values = [100 * row["accuracy"] for row in _found(study, rows, system, cell).values()]
    return f"{summary(values)} ({len(values)})" if values else "–"


def _compared(study: Study, rows: dict[str, Row], ours: System, other: System, cell: Cell) -> PairedDifference | None:
    first, second = (_found(study, rows, system, cell) for system in (ours, other))
    common = sorted(first.keys() & second.keys())
    if len(common) < 2:
        return None
    a, b = ([100 * runs[nth]["accuracy"] for nth in common] for runs in (first, second))
    return paired_difference(a, b)


def _difference(d: PairedDifference | None) -> str:
    return "–" if d is None else f"{d.mean:+.1f} ({d.low:+.1f} to {d.high:+.1f})"


def _bold(system: System, ours: System) -> str:
    return f"**{system.method}**" if system is ours else system.method


def _trust(study: Study, rows: dict[str, Row], ours: System) -> list[list[str]]:
    """Calibration error and sign, and the AUROC of each signal for finding right answers; means over the runs."""

    def column(cell: Cell) -> list[str]:
        records: list[dict[str, Any]] = [row["trust"] for row in _found(study, rows, ours, cell).values()]
        if not records:
            return ["–"] * len(names)
        answers, channels = [r["answer"] for r in records], [r["channel"] for r in records]
        values = [
            np.mean([a["ece"] for a in answers]),
            np.mean([a["gap"] for a in answers]),
            *(np.mean([a["signals"][name]["auroc"] for a in answers]) for name in ("trust", "agreement")),
            *(np.mean([c["signals"][name]["auroc"] for c in channels]) for name in ("margin", "confidence", "entropy")),
        ]
        return [f"{100 * value:.1f}" for value in values]

    names = [
        "ECE, 15 bins of equal mass",
        "confidence less accuracy",
        "AUROC of trust",
        "AUROC of agreement alone",
        "AUROC of the topology channel's margin, for its own answers",
        "… of its confidence",
        "… of its entropy",
    ]
    columns = [column(cell) for cell in study.cells]
    return [[name, *(values[i] for values in columns)] for i, name in enumerate(names)]


_PAGE = """# Concord

Class-balanced evaluation splits (seeds from 0), no validation labels, one set of defaults for every graph; the other
systems have their published settings. Mean ± standard deviation of the test accuracy; in brackets the number of
splits. The method is derived in [concord.md](../concord.md).

{accuracy}

## Paired differences

Concord's accuracy less the other's on the same splits, with a 95 % interval for the mean.

{paired}

## What its trust is worth

In per cent, means over the same runs. A positive difference of confidence and accuracy is over-confidence.

{trust}

## What was tried

{reading}

{provenance}
"""
