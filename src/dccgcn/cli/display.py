"""What commands share in showing things: consoles, progress, numbers, JSON."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from dccgcn import training
from dccgcn.errors import Finding

output = Console(highlight=False)
errors = Console(stderr=True)


@contextmanager
def progress_bar(title: str) -> Iterator[training.Progress]:
    """A live bar on standard error, a line for each stage of the work."""
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, transient=True) as bar:
        stages: dict[str, Any] = {}

        def tell(stage: str, done: int, of: int) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(f"{title}: {stage}", total=of)
            bar.update(stages[stage], completed=done)

        yield tell


def print_json(value: Any) -> None:
    """One JSON object on standard output and nothing else there."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def table(title: str, *columns: str) -> Table:
    """A plain table; the first column holds names, the others numbers."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        made.add_column(column, justify="left" if i == 0 else "right")
    return made


def print_findings(findings: tuple[Finding, ...]) -> None:
    for finding in findings:
        style = "yellow" if finding.level == "warning" else "dim"
        errors.print(f"[{style}]{finding.level}:[/] ", end="")
        errors.print(finding.text, markup=False, highlight=False, soft_wrap=True)
