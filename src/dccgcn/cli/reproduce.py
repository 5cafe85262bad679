"""dccgcn reproduce: measure again what the documentation reports."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from dccgcn.cli.display import errors, runs_progress


def reproduce(
    what: Annotated[
        Literal["choices", "overview"],
        typer.Argument(help="choices: the study behind DCC-GCN's defaults. overview: the README's table."),
    ],
    jobs: Annotated[int, typer.Option(help="Processes of one thread each.", min=1)] = 2,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    store: Annotated[Path, typer.Option(help="Folder for finished runs; a second call continues from it.")] = Path(
        "runs/experiments"
    ),
) -> None:
    """Measure again what docs/results reports. Stop it at any time; the next call goes on from there.

    Example:

        dccgcn reproduce overview --jobs 2
    """
    from dccgcn.experiments.choices import render_choices
    from dccgcn.experiments.overview import render_overview
    from dccgcn.experiments.runner import run_jobs
    from dccgcn.experiments.study import read_study
    from dccgcn.io.files import write_atomically

    pages = {"choices": (render_choices, "dcc-gcn-choices.md"), "overview": (render_overview, "overview.md")}
    render, page = pages[what]
    study = read_study(what)
    with runs_progress(what) as tell:
        rows = run_jobs(study.jobs(), store / f"{what}.jsonl", jobs, tell)
    write_atomically(out / page, render(study, rows))
    errors.print(f"Written to {out / page}", highlight=False)
