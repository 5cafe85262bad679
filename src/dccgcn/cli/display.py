"""Output of the commands: consoles, progress bars, tables, JSON, errors and findings."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from dccgcn.errors import DccgcnError, Finding
from dccgcn.progress import Progress
from dccgcn.text import printable, truncate

if TYPE_CHECKING:
    import pandas as pd


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


def _bars(*further: Any, transient: bool) -> Bar:
    """Progress bars on standard error, with further columns before the time left."""
    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), MofNCompleteColumn(), *further, TimeRemainingColumn())
    unseen = transient and not errors.is_terminal  # it would leave empty lines in a file
    return Bar(*columns, console=errors, transient=transient, disable=unseen)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A progress bar with one line per stage."""
    with _bars(transient=True) as bar:
        stages: dict[str, Any] = {}

        def update(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(visible(f"{title}: {stage}"), total=total)
            bar.update(stages[stage], completed=done)

        yield update


@contextmanager
def runs_progress(title: str) -> Iterator[Callable[[int, int, Any], None]]:
    """A progress bar over many runs, with the accuracy of the run that finished last, if it did not fail."""
    with _bars(TimeElapsedColumn(), transient=False) as bar:
        task = bar.add_task(visible(title), total=None)

        def update(done: int, total: int, row: Any) -> None:
            last = ""
            if isinstance(row, dict):
                last = f", {row['method']} on {row['dataset']}: {percent(row['accuracy'])}"
            bar.update(task, completed=done, total=total, description=visible(title) + last)

        yield update


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def cell(name: object, most: int = 60) -> Text:
    """A user's name for something: no markup is read in it, and no control character reaches the terminal."""
    return Text(truncate(printable(name, "·"), most))


def table(title: str, *columns: str, text: Sequence[int] = (0,)) -> Table:
    """A table of numbers. text: positions of columns that hold names and sentences."""
    shown = Table(title=title, title_justify="left", title_style="bold", show_header=any(columns))
    for i, column in enumerate(columns):
        justify: Any = "left" if i in text or i - len(columns) in text else "right"
        shown.add_column(column, justify=justify, overflow="fold")
    return shown


def print_frame(title: str, frame: "pd.DataFrame", digits: int = 2, text: Sequence[int] = (0,)) -> None:
    """Print the rows of a DataFrame on standard output; cells are users' names, numbers or sentences."""
    shown = table(title, *frame.columns, text=text)
    for row in frame.itertuples(index=False):
        shown.add_row(*(f"{value:.{digits}f}" if isinstance(value, float) else cell(value, 200) for value in row))
    output.print(shown)


def print_note(text: str) -> None:
    """Print a sentence on standard error."""
    errors.print(text, highlight=False, soft_wrap=True)


def print_error(error: DccgcnError) -> None:
    """Print what is wrong and how to fix it. Ids and names may contain markup, so none is interpreted."""
    _print_marked("Error: ", "bold red", error.what)
    if error.remedy:
        _print_marked("Remedy: ", "bold", error.remedy)


def print_findings(findings: Iterable[Finding]) -> None:
    """Print warnings and notes on standard error."""
    for finding in findings:
        _print_marked(f"{finding.level}: ", "yellow" if finding.level == "warning" else "dim", finding.text)


def _print_marked(mark: str, style: str, text: str) -> None:
    errors.print(Text.assemble((mark, style), visible(text)), soft_wrap=True, highlight=False)
