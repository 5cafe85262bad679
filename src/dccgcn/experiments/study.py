"""Study: systems times cells times splits, and the accuracies that come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np
import yaml

from dccgcn.experiments.jobs import Job
from dccgcn.experiments.runner import Row


@dataclass(frozen=True)
class Cell:
    """A dataset with a number of labels: one column of a table."""

    dataset: str
    draw: str  # as in Job
    amount: float
    splits: int
    options: Mapping[str, Any] = field(default_factory=dict)  # of every system here, before the system's own

    @property
    def is_drawn(self) -> bool:
        """Whether each run has a split of its own; on a published split runs differ in their seeds only."""
        return self.draw == "rate" or self.draw.startswith("per-class")

    @property
    def labels(self) -> str:
        """How many labels, in words.

        >>> Cell("pubmed", "rate", 0.0003, 1).labels, Cell("acm", "per-class", 20, 1).labels
        ('0.03 %', '20 per class')
        """
        if self.draw == "rate":
            return f"{100 * self.amount:g} %"
        return f"{self.amount:g} per class" if self.draw.startswith("per-class") else self.draw


@dataclass(frozen=True)
class System:
    """A method with the options that differ from its published settings: one row of a table."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """Every system on the same splits of every cell, so that all differences are paired."""

    cells: tuple[Cell, ...]
    systems: tuple[System, ...]
    first_seed: int = 0
    reading: str = ""  # what to take from the table, written by whoever measured it

    def job(self, system: System, cell: Cell, nth: int) -> Job:
        seed = self.first_seed + nth
        options = {**cell.options, **system.options}
        return Job(cell.dataset, cell.draw, cell.amount, seed, system.method, seed, options)

    def jobs(self) -> list[Job]:
        return [
            self.job(system, cell, nth) for cell in self.cells for nth in range(cell.splits) for system in self.systems
        ]

    def rows(self, rows: Mapping[str, Row]) -> list[Row]:
        """The stored runs that are this study's."""
        return [rows[key] for job in self.jobs() if (key := job.key()) in rows]

    def values(self, rows: dict[str, Row], system: System, cell: Cell, what: str = "accuracy") -> np.ndarray:
        """One number per split."""
        return np.array([rows[self.job(system, cell, nth).key()][what] for nth in range(cell.splits)])


def read_study(name: str) -> Study:
    """A study that is part of the package: cells, and either methods or alternatives to one method's settings."""
    content = yaml.safe_load((resources.files("dccgcn.experiments") / f"{name}.yaml").read_text(encoding="utf-8"))
    if "methods" in content:
        systems = tuple(System(method) for method in content["methods"])
    else:
        start = content.get("start", {})
        systems = tuple(System(content["method"], {**start, **options}) for options in content["alternatives"])
    cells = tuple(Cell(**cell) for cell in content["cells"])
    return Study(cells, systems, content["first_seed"], content.get("reading", "").strip())
