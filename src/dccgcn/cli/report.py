"""dccgcn report: the page of a run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from dccgcn.cli.display import errors, progress_bar


def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A folder that [b]dccgcn fit --out[/b] or Result.save wrote.")
    ],
    out: Annotated[Path | None, typer.Option(help="The HTML file to write; default: RUN/report.html.")] = None,
) -> None:
    """Write one HTML file that shows what a run answered and which answers to trust.

    It needs no network and nothing beside it: send it to whoever asks.

    Example:

        dccgcn report runs/demo
    """
    from dccgcn.artifacts.report.page import render
    from dccgcn.artifacts.report.store import FILE, load_data
    from dccgcn.runtime.files import write_atomically

    path = out or run / "report.html"
    is_kept = (run / FILE).exists() or not (run / "model.json").exists()
    write_atomically(path, render(load_data(run) if is_kept else _of_model(run)))
    errors.print(f"Written to {path}", highlight=False, soft_wrap=True)


def _of_model(run: Path) -> dict[str, Any]:
    """The data of a run that was saved in Python, or killed before its report was made."""
    from dccgcn.api import load_model
    from dccgcn.artifacts.report.data import report_data

    with progress_bar(str(run)) as progress:
        return report_data(load_model(run).result, None, progress)
