"""dccgcn report: the page of a run."""

from pathlib import Path
from typing import Annotated

import typer

from dccgcn.cli.display import errors, progress_bar
from dccgcn.cli.options import NEW_FILE, Overwrite


def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A folder that [b]dccgcn fit --out[/b] or Result.save wrote.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar=NEW_FILE, help="The HTML file to write; default: RUN/report.html.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write one HTML file that shows the predictions of a run and which of them can be trusted.

    The file is self-contained: it can be sent to anybody and read without a network.

    Example:

        dccgcn report runs/demo
    """
    from dccgcn.artifacts.audit import read_audit
    from dccgcn.artifacts.report import write_report
    from dccgcn.artifacts.report.page import render
    from dccgcn.artifacts.report.store import FILE, load_data
    from dccgcn.runtime.outputs import check_file, write_output

    path = out or run / "report.html"
    overwrite = overwrite or out is None  # the run's own page is made again
    check_file(path, overwrite)
    if (run / FILE).exists() or not (run / "model.json").exists():
        write_output(path, render(load_data(run)), overwrite)
    else:  # saved from Python, or interrupted before its report was made
        from dccgcn.api import load_model

        with progress_bar(str(run)) as progress:
            write_report(load_model(run).result, path, overwrite, progress=progress, audit=read_audit(run))
    errors.print(f"Written to {path}", highlight=False, soft_wrap=True)
