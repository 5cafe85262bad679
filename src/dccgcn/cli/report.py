"""dccgcn report: the page of a run."""

from pathlib import Path
from typing import Annotated

import typer

from dccgcn.cli.display import errors, progress_bar


def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A folder that [b]dccgcn fit --out[/b] or Result.save wrote.")
    ],
    out: Annotated[Path | None, typer.Option(help="The HTML file to write; default: RUN/report.html.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is not a report.")] = False,
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
    from dccgcn.artifacts.run_folder import check_report_path
    from dccgcn.runtime.files import write_atomically

    path = out or run / "report.html"
    check_report_path(path, overwrite)
    if (run / FILE).exists() or not (run / "model.json").exists():
        write_atomically(path, render(load_data(run)))
    else:  # saved from Python, or interrupted before its report was made
        from dccgcn.api import load_model

        with progress_bar(str(run)) as progress:
            write_report(load_model(run).result, path, progress=progress, audit=read_audit(run))
    errors.print(f"Written to {path}", highlight=False, soft_wrap=True)
