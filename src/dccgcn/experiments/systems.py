"""Every system against a figure published for it."""

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
    return _PAGE.format(
        table=markdown_table(header, lines), missing=left_out, provenance=provenance("dccgcn reproduce systems")
    )


_PAGE = """# Every system against a published figure

Accuracy in per cent, mean ± standard deviation over ten seeds, under the protocol that the figure was published with:
`public` is Planetoid's split with its 500 validation nodes, `am-gcn-20` is AM-GCN's own split, label rates are
class-balanced evaluation splits without validation. A figure is met within 1.5 points (2 for AM-GCN and Krylov), or
above it.

{table}
{missing}
{provenance}
"""
