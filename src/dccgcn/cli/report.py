"""dccgcn report: the page of a run."""

from pathlib import Path
from typing import Annotated

import typer

from dccgcn.cli.display import errors


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that [b]dccgcn fit --out[/b] wrote.")],
    out: Annotated[Path | None, typer.Option(help="The HTML file to write; default: RUN/report.html.")] = None,
) -> None:
    """Write one HTML file that shows what a run answered and which answers to trust.

    It needs no network and nothing beside it: send it to whoever asks.

    Example:

        dccgcn report runs/demo
    """
    from dccgcn.io.files import write_atomically
    from dccgcn.report.page import render
    from dccgcn.report.store import load_data

    path = out or run / "report.html"
    write_atomically(path, render(load_data(run)))
    errors.print(f"Written to {path}", highlight=False, soft_wrap=True)
