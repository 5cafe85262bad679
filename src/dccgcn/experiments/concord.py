"""The page on Concord: against targets and every other system, part by part, and what its trust is worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import yaml

from dccgcn.evaluation.paired import PairedDifference, paired_difference, summary
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.markdown import markdown_table, provenance
from dccgcn.experiments.runner import Row
from dccgcn.experiments.study import Cell, Study, System, read_study


@dataclass(frozen=True)
class ConcordStudy:
    """What the page shows; the systems beside are shown as far as other studies have run them on these splits."""

    study: Study  # Concord first
    beside: tuple[System, ...]
    ablation: dict[str, System]  # Concord without one of its parts
    ablation_splits: int
    printed: tuple[float, ...]  # DCC-GCN's accuracy in the paper, of the first cells
    target: tuple[float, ...]

    @property
    def ours(self) -> System:
        return self.study.systems[0]

    @property
    def rivals(self) -> tuple[System, ...]:
        return self.study.systems[1:] + self.beside


def read_concord() -> ConcordStudy:
    content = yaml.safe_load((resources.files("dccgcn.experiments") / "concord.yaml").read_text(encoding="utf-8"))
    return ConcordStudy(
        study=read_study("concord"),
        beside=tuple(System(method) for method in content["beside"]),
        ablation={part["name"]: System("concord", part["options"]) for part in content["ablation"]},
        ablation_splits=content["ablation_splits"],
        printed=tuple(content["printed"]),
        target=tuple(content["target"]),
    )


def concord_jobs(page: ConcordStudy, splits: int) -> list[Job]:
    """Split by split, so that every cell of the page fills at the same pace and a stopped run is a smaller study."""
    jobs = []
    for nth in range(splits):
        systems = page.study.systems + (tuple(page.ablation.values()) if nth < page.ablation_splits else ())
        jobs += [page.study.job(s, cell, nth) for cell in page.study.cells for s in systems if nth < cell.splits]
    return jobs


def render_concord(page: ConcordStudy, rows: dict[str, Row]) -> str:
    """Every number over the splits that were run, and how many these were."""
    cells = page.study.cells
    header = [f"{cell.dataset}, {cell.labels}" for cell in cells]
    lines = [
        ["DCC-GCN, as printed", *_padded([f"{value:.1f}" for value in page.printed], len(cells))],
        ["target", *_padded([f"{value:g}" for value in page.target], len(cells))],
        ["**concord**", *(_mean(page, rows, page.ours, cell) for cell in cells)],
    ]
    compared = {s.method: [_compared(page, rows, page.ours, s, cell) for cell in cells] for s in page.rivals}
    known = {name: row for name, row in compared.items() if any(row)}
    lines += [[s.method, *(_mean(page, rows, s, cell) for cell in cells)] for s in page.rivals if s.method in known]
    parts = [
        [name, *(_difference(_compared(page, rows, system, page.ours, cell)) for cell in cells)]
        for name, system in page.ablation.items()
    ]
    return _PAGE.format(
        accuracy=markdown_table(["accuracy in %", *header], lines),
        verdict=_verdict([d for row in known.values() for d in row if d]),
        paired=markdown_table(
            ["Concord less …", *header], [[name, *(_difference(d) for d in row)] for name, row in known.items()]
        ),
        ablation=markdown_table(["", *header], parts),
        trust=markdown_table(["", *header, "mean"], _trust(page, rows)),
        reading=page.study.reading,
        provenance=provenance("dccgcn reproduce concord", _every(page, rows)),
    )


def _every(page: ConcordStudy, rows: dict[str, Row]) -> list[Row]:
    systems = (page.ours, *page.rivals, *page.ablation.values())
    return [row for system in systems for cell in page.study.cells for row in _found(page, rows, system, cell).values()]


def _padded(values: list[str], length: int) -> list[str]:
    return values + ["–"] * (length - len(values))


def _found(page: ConcordStudy, rows: dict[str, Row], system: System, cell: Cell) -> dict[int, Row]:
    """The runs that there are, by the number of their split."""
    keys = {nth: page.study.job(system, cell, nth).key() for nth in range(cell.splits)}
    return {nth: rows[key] for nth, key in keys.items() if key in rows}


def _mean(page: ConcordStudy, rows: dict[str, Row], system: System, cell: Cell) -> str:
    values = [100 * row["accuracy"] for row in _found(page, rows, system, cell).values()]
    return f"{summary(values)} ({len(values)})" if values else "–"


def _compared(
    page: ConcordStudy, rows: dict[str, Row], one: System, other: System, cell: Cell
) -> PairedDifference | None:
    first, second = (_found(page, rows, system, cell) for system in (one, other))
    common = sorted(first.keys() & second.keys())
    if len(common) < 2:
        return None
    a, b = ([100 * runs[nth]["accuracy"] for nth in common] for runs in (first, second))
    return paired_difference(a, b)


def _difference(d: PairedDifference | None) -> str:
    return "–" if d is None else f"{d.mean:+.1f} ({d.low:+.1f} to {d.high:+.1f})"


def _verdict(differences: Sequence[PairedDifference]) -> str:
    told = []
    for least, called in ((2, "two"), (_MANY, "ten")):
        judged = [d for d in differences if d.n >= least]
        better = sum(d.low is not None and d.low > 0 for d in judged)
        worse = sum(d.high is not None and d.high < 0 for d in judged)
        told.append(
            f"of {len(judged)} comparisons with at least {called} common splits it is significantly better in {better} "
            f"and significantly worse in {worse}"
        )
    return f"{told[0].capitalize()}; {told[1]}."


def _trust(page: ConcordStudy, rows: dict[str, Row]) -> list[list[str]]:
    """Calibration error and sign, and the AUROC of each signal for finding the wrong ones among the final answers."""
    sources = [(whose, signal) for whose in _WHOSE for signal in _SIGNALS]

    def column(cell: Cell) -> list[float]:
        records: list[dict[str, Any]] = [row["trust"] for row in _found(page, rows, page.ours, cell).values()]
        answers = [record["answer"] for record in records]
        values = [[a["ece"] for a in answers], [a["gap"] for a in answers]]
        values += [[a["signals"][name]["auroc"] for a in answers] for name in ("trust", "agreement")]
        values += [[record["others"][whose][signal] for record in records] for whose, signal in sources]
        return [100 * float(np.mean(v)) if v else np.nan for v in values]

    names = ["ECE, 15 bins of equal mass", "confidence less accuracy", "AUROC of trust", "AUROC of agreement alone"]
    names += [f"AUROC of the {signal}, {_WHOSE[whose]}" for whose, signal in sources]
    table = np.array([column(cell) for cell in page.study.cells]).T
    table = np.column_stack([table, table.mean(axis=1)])
    return [
        [name, *("–" if np.isnan(v) else f"{v:.1f}" for v in values)] for name, values in zip(names, table, strict=True)
    ]


_MANY = 10  # splits; with two or three an interval is so wide that hardly anything is significant
_SIGNALS = ("margin", "confidence", "entropy")
_WHOSE = {
    "joined": "all voices together",
    "one model": "one model on both channels",
    "topology": "topology alone",
    "features": "features alone",
}

_PAGE = """# Concord

Class-balanced evaluation splits (seeds from 0), no validation labels, one set of defaults for every graph; the other
systems have their published settings. Mean ± standard deviation of the test accuracy; in brackets the number of
splits. The method is derived in [concord.md](../concord.md).

{accuracy}

## Paired differences

Concord's accuracy less the other's on the same splits, with a 95 % interval for the mean. {verdict}

{paired}

## Without one of its parts

Accuracy of Concord without a part less that of Concord, on the same splits, with a 95 % interval: a negative number is
what the part is worth.

{ablation}

## What its trust is worth

In per cent, means over the same runs. A positive difference of confidence and accuracy is over-confidence. Every AUROC
is for finding the wrong ones among Concord's final answers.

{trust}

## What was tried

{reading}

{provenance}
"""
