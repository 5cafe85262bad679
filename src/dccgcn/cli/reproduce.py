"""dccgcn reproduce: measure again what the documentation reports."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from dccgcn.cli.display import errors, runs_progress


def reproduce(
    what: Annotated[
        Literal["choices", "overview", "systems"],
        typer.Argument(
            help="choices: the study behind DCC-GCN's defaults. overview: the README's table. "
            "systems: each system against a published figure."
        ),
    ],
    only: Annotated[
        str | None, typer.Option(help="systems: run these datasets only (cora,pubmed); the page names what is missing.")
    ] = None,
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
    from dccgcn.experiments.runner import read_store, run_jobs
    from dccgcn.experiments.study import read_study
    from dccgcn.experiments.systems import read_figures, render_systems, system_jobs
    from dccgcn.io.files import write_atomically

    runs = store / f"{what}.jsonl"
    with runs_progress(what) as tell:
        if what == "systems":
            figures = read_figures()
            wanted = [f for f in figures if only is None or f.cell.dataset in only.split(",")]
            run_jobs(system_jobs(wanted), runs, jobs, tell)
            page, text = "systems-check.md", render_systems(figures, read_store(runs))
        elif what == "choices":
            study = read_study(what)
            page, text = "dcc-gcn-choices.md", render_choices(study, run_jobs(study.jobs(), runs, jobs, tell))
        else:
            study = read_study(what)
            page, text = "overview.md", render_overview(study, run_jobs(study.jobs(), runs, jobs, tell))
    write_atomically(out / page, text)
    errors.print(f"Written to {out / page}", highlight=False)
