"""The study behind DCC-GCN's defaults: each open choice changed alone, on development splits."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dccgcn.evaluation.paired import paired_difference
from dccgcn.experiments.jobs import Job
from dccgcn.experiments.provenance import provenance
from dccgcn.experiments.runner import Row, run_jobs
from dccgcn.io.files import write_atomically
from dccgcn.methods import get_method


@dataclass(frozen=True)
class Cell:
    """A dataset with a number of labels: one column of the table."""

    dataset: str
    draw: str
    amount: float
    splits: int

    @property
    def title(self) -> str:
        labels = f"{self.amount:.2%}" if self.draw == "rate" else f"{self.amount:g} per class"
        return f"{self.dataset} {labels.replace('.00%', '%').replace('0%', '%')} ({self.splits})"


@dataclass(frozen=True)
class Study:
    """The content of choices.yaml."""

    method: str
    first_seed: int
    cells: tuple[Cell, ...]
    alternatives: tuple[dict[str, Any], ...]

    def job(self, cell: Cell, options: dict[str, Any], nth: int) -> Job:
        seed = self.first_seed + nth
        return Job(cell.dataset, cell.draw, cell.amount, seed, self.method, seed, options)

    def jobs(self) -> list[Job]:
        return [
            self.job(cell, options, nth)
            for cell in self.cells
            for nth in range(cell.splits)
            for options in self.alternatives
        ]


def read_study() -> Study:
    content = yaml.safe_load((resources.files("dccgcn.experiments") / "choices.yaml").read_text(encoding="utf-8"))
    cells = tuple(Cell(**cell) for cell in content["cells"])
    return Study(content["method"], content["first_seed"], cells, tuple(content["alternatives"]))


def reproduce_choices(
    out: Path, store: Path, processes: int, tell: Callable[[int, int, Row | None], None] | None = None
) -> Path:
    """Run what is missing and write the page."""
    study = read_study()
    rows = run_jobs(study.jobs(), store, processes, tell)
    page = out / "dcc-gcn-choices.md"
    write_atomically(page, render(study, rows))
    return page


def render(study: Study, rows: dict[str, Row]) -> str:
    """The table in Markdown: accuracy per cell, and the mean difference to the defaults over all cells."""
    accuracy = {
        (i, cell): np.array([rows[study.job(cell, options, n).key()]["accuracy"] for n in range(cell.splits)]) * 100
        for i, options in enumerate(study.alternatives)
        for cell in study.cells
    }
    header = ["choice", *(cell.title for cell in study.cells), "mean difference", "95 % interval"]
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    for i, options in enumerate(study.alternatives):
        name = ", ".join(f"{option} = {value}" for option, value in options.items()) or "**the defaults**"
        means = [f"{accuracy[i, cell].mean():.1f}" for cell in study.cells]
        lines.append("| " + " | ".join([name, *means, *_difference(study, accuracy, i)]) + " |")
    defaults = get_method(study.method).settings()
    open_choices = sorted({option for options in study.alternatives for option in options})
    return _PAGE.format(
        table="\n".join(lines),
        defaults="\n".join(
            f"- `{option}` = `{getattr(defaults, option)}`: {_meaning(defaults, option)}" for option in open_choices
        ),
        seed=study.first_seed,
        runs=len(rows),
        provenance=provenance("dccgcn reproduce choices"),
    )


def _difference(study: Study, accuracy: dict[Any, np.ndarray], i: int) -> list[str]:
    if i == 0:
        return ["", ""]
    # a cell counts once, however many splits it has, so that one dataset does not decide for all
    per_cell = [accuracy[i, cell].mean() for cell in study.cells]
    difference = paired_difference(per_cell, [accuracy[0, cell].mean() for cell in study.cells])
    return [f"{difference.mean:+.1f}", f"{difference.low:+.1f} to {difference.high:+.1f}"]


def _meaning(settings: Any, option: str) -> str:
    return str(type(settings).model_fields[option].description)


_PAGE = """# What DCC-GCN's paper leaves open, and what was chosen

The paper does not say how several steps are meant (see [architecture](../architecture.md) for where each is used).
Each such choice is a setting. This study changes one at a time from the defaults and measures test accuracy in per
cent on development splits (seeds from {seed}; the number of splits in brackets). The interval is over the columns,
each of which counts once.

{table}

## The defaults

{defaults}

{provenance}
"""
