"""Output of the commands: consoles, progress bars, tables, JSON, errors and findings."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from dccgcn.errors import DccgcnError, Finding
from dccgcn.progress import Progress
from dccgcn.text import printable as printable_text
from dccgcn.text import truncate


class PlainConsole(Console):
    """A console that shows text as it is: no markup is read in it, and no control character reaches the terminal.

    Titles, cells and lines may hold names, paths and options of users. Styles are given with rich's Text.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **{**options, "markup": False, "emoji": False})


def visible(text: str) -> str:
    """The text with control characters and other unprintable ones replaced; line breaks and tabs stay."""
    return "".join(c if c.isprintable() or c in "\n\t" else "·" for c in text)


output = PlainConsole(highlight=False)
errors = PlainConsole(stderr=True)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A progress bar on standard error, with one line per stage."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=errors, transient=True) as bar:
        stages: dict[str, Any] = {}

        def update(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(visible(f"{title}: {stage}"), total=total)
            bar.update(stages[stage], completed=done)

        yield update


@contextmanager
def runs_progress(title: str) -> Iterator[Callable[[int, int, Any], None]]:
    """A progress bar over many runs, with the accuracy of the run that finished last, if it did not fail."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=errors) as bar:
        title = visible(title)
        task = bar.add_task(title, total=None)

        def update(done: int, total: int, row: Any) -> None:
            last = (
                f", {row['method']} on {row['dataset']}: {100 * row['accuracy']:.1f} %" if isinstance(row, dict) else ""
            )
            bar.update(task, completed=done, total=total, description=title + last)

        yield update


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def printable(name: object, most: int = 60) -> Text:
    """A user's name for something: no markup is read in it, and no control character reaches the terminal."""
    return Text(truncate(printable_text(name, "·"), most))


def table(title: str, *columns: str) -> Table:
    """A table whose first column holds names and whose other columns hold numbers."""
    made = Table(title=title, title_justify="left", title_style="bold", show_header=any(columns))
    for i, column in enumerate(columns):
        made.add_column(column, justify="left" if i == 0 else "right", overflow="fold")
    return made


def print_error(error: DccgcnError) -> None:
    """Print what is wrong and how to fix it. Ids and names may contain markup, so none is interpreted."""
    errors.print(Text.assemble(("Error: ", "bold red"), visible(error.what)), soft_wrap=True, highlight=False)
    if error.remedy:
        errors.print(Text.assemble(("Remedy: ", "bold"), visible(error.remedy)), soft_wrap=True, highlight=False)


def print_findings(findings: tuple[Finding, ...]) -> None:
    """Print warnings and notes on standard error."""
    for finding in findings:
        style = "yellow" if finding.level == "warning" else "dim"
        errors.print(
            Text.assemble((f"{finding.level}: ", style), visible(finding.text)), highlight=False, soft_wrap=True
        )
