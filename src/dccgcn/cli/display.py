"""What commands share in showing things: consoles, progress, numbers, JSON."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from dccgcn.errors import DccgcnError, Finding
from dccgcn.progress import Progress

Device = Annotated[str, typer.Option(help="Where networks train, such as cuda; default: the CPU.")]

output = Console(highlight=False)
errors = Console(stderr=True)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A live bar on standard error, a line for each stage of the work."""
    columns = (
        TextColumn("[progress.description]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=errors, transient=True) as bar:
        stages: dict[str, Any] = {}

        def tell(stage: str, done: int, of: int) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(f"{title}: {stage}", total=of)
            bar.update(stages[stage], completed=done)

        yield tell


@contextmanager
def runs_progress(title: str) -> Iterator[Callable[[int, int, Any], None]]:
    """A live bar over many runs; the last finished one is told beside it."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=errors) as bar:
        task = bar.add_task(title, total=None)

        def tell(done: int, of: int, row: Any) -> None:
            last = f", {row.job.method} on {row.job.dataset}: {100 * row.accuracy:.1f} %" if row else ""
            bar.update(task, completed=done, total=of, description=title + last)

        yield tell


def print_json(value: Any) -> None:
    """One JSON object on standard output and nothing else there."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def printable(name: object, most: int = 60) -> Text:
    """A user's name for something: no markup is read in it, and no control character reaches the terminal."""
    text = "".join(sign if sign.isprintable() else "·" for sign in str(name))
    return Text(text if len(text) <= most else text[: most - 1] + "…")


def table(title: str, *columns: str) -> Table:
    """A plain table; the first column holds names, the others numbers."""
    made = Table(title=title, title_justify="left", title_style="bold", show_header=any(columns))
    for i, column in enumerate(columns):
        made.add_column(column, justify="left" if i == 0 else "right", overflow="fold")
    return made


def print_error(error: DccgcnError) -> None:
    """What is wrong and how to mend it. Ids and names may hold markup, so none is read."""
    errors.print(Text.assemble(("Error: ", "bold red"), error.what), soft_wrap=True, highlight=False)
    if error.remedy:
        errors.print(Text.assemble(("Remedy: ", "bold"), error.remedy), soft_wrap=True, highlight=False)


def print_findings(findings: tuple[Finding, ...]) -> None:
    for finding in findings:
        style = "yellow" if finding.level == "warning" else "dim"
        errors.print(Text.assemble((f"{finding.level}: ", style), finding.text), highlight=False, soft_wrap=True)
