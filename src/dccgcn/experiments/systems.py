"""Systems against figures published for them."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from dccgcn.evaluation.paired import summary
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.markdown import markdown_table, provenance
from dccgcn.experiments.runner import Row
from dccgcn.experiments.study import Cell, Study, System
from dccgcn.models.registry import METHODS


@dataclass(frozen=True)
class Figure:
    """One published accuracy, in per cent."""

    method: str
    cell: Cell
    published: float
    tolerance: float
    note: str

    def study(self) -> Study:
        return Study((self.cell,), (System(self.method),))


def read_figures() -> list[Figure]:
    """The content of systems.yaml."""
    content = yaml.safe_load((resources.files("dccgcn.experiments") / "systems.yaml").read_text(encoding="utf-8"))
    return list(_figures(content))


def _figures(content: dict[str, Any]) -> Iterator[Figure]:
    for draw, methods in content["figures"].items():
        for method, by_dataset in methods.items():
            tolerance = content["tolerance"].get(method, content["tolerance"]["default"])
            for dataset, given in by_dataset.items():
                # a published split has one figure for each dataset, a label rate one for each rate
                for amount, published in given.items() if isinstance(given, dict) else [(0.0, given)]:
                    cell = Cell(dataset, draw, amount, content["seeds"])
                    yield Figure(method, cell, published, tolerance, content["notes"].get(method, ""))


def system_jobs(figures: list[Figure]) -> list[Job]:
    return [job for figure in figures for job in figure.study().jobs()]


def render_systems(figures: list[Figure], rows: dict[str, Row]) -> str:
    """A line for each published figure whose runs are all there."""
    lines, missing = [], []
    for figure in figures:
        study = figure.study()
        if any(job.key() not in rows for job in study.jobs()):
            missing.append(f"{figure.method} on {figure.cell.dataset}, {figure.cell.labels}")
            continue
        found = summary(100 * study.values(rows, study.systems[0], figure.cell))
        seconds = study.values(rows, study.systems[0], figure.cell, "seconds").mean()
        difference = found.mean - figure.published
        met = "yes" if abs(difference) <= figure.tolerance or difference > 0 else "**no**"
        measured = [str(found), f"{figure.published:.1f}", f"{difference:+.1f}", met, f"{seconds:.1f}"]
        lines.append([figure.method, figure.cell.dataset, figure.cell.labels, *measured, figure.note])
    header = ["system", "dataset", "labels", "ours", "published", "difference", "met", "seconds", "what differs"]
    left_out = f"\nNot measured yet: {'; '.join(missing)}.\n" if missing else ""
    compared = {figure.method for figure in figures}
    return _PAGE.format(
        table=markdown_table(header, lines),
        missing=left_out,
        others=", ".join(sorted(METHODS.keys() - compared)),
        provenance=provenance("dccgcn reproduce systems", [row for f in figures for row in f.study().rows(rows)]),
    )


_PAGE = """# Systems against figures published for them

Accuracy in per cent, mean ± standard deviation over ten seeds, under the protocol that the figure was published with:
`public` is Planetoid's split with its 500 validation nodes, `am-gcn-20` is AM-GCN's own split, label rates are
class-balanced evaluation splits without validation. A figure is met within 1.5 points (2 for AM-GCN and Krylov), or
above it.

{table}
{missing}
Not compared here: {others}. Concord is our own, and DCC-GCN is compared in [the experiments](README.md). Of the others
no accuracy is known under a protocol that can be repeated, or, as for CaGCN, it is that of the system that they start
from; their formulas are tested against slow versions of themselves.

{provenance}
"""
