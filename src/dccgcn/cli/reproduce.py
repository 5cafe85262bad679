"""dccgcn reproduce: measure again what the documentation reports."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from dccgcn.cli.display import errors
from dccgcn.experiments.choices import reproduce_choices
from dccgcn.experiments.runner import Row


def reproduce(
    what: Annotated[Literal["choices"], typer.Argument(help="choices: the study behind DCC-GCN's defaults.")],
    jobs: Annotated[int, typer.Option(help="Processes of one thread each.", min=1)] = 2,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    store: Annotated[Path, typer.Option(help="Folder for finished runs; a second call continues from it.")] = Path(
        "runs/experiments"
    ),
) -> None:
    """Measure again what docs/results reports. Stop it at any time; the next call goes on from there.

    Example:

        dccgcn reproduce choices --jobs 2
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors) as bar:
        task = bar.add_task(what, total=None)

        def tell(done: int, of: int, row: Row | None) -> None:
            last = f" {row['job']['dataset']}: {100 * row['accuracy']:.1f} %" if row else ""
            bar.update(task, completed=done, total=of, description=what + last)

        page = reproduce_choices(out, store / f"{what}.jsonl", jobs, tell)
    errors.print(f"Written to {page}", highlight=False)
