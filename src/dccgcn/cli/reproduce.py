"""dccgcn reproduce: measure again what the documentation reports."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from dccgcn.cli.display import errors, runs_progress
from dccgcn.errors import SettingsError
from dccgcn.text import first_few


def reproduce(
    what: Annotated[
        Literal[
            "table2",
            "table3",
            "table4",
            "table5",
            "table6",
            "table7",
            "figure4",
            "figure5",
            "figure6",
            "figure7",
            "theorems",
            "confidence",
            "all",
            "choices",
            "overview",
            "systems",
            "concord",
        ],
        typer.Argument(
            help="A table or figure of the paper; theorems: against measured channels; confidence: does disagreement "
            "find wrong answers; all: all of these. choices: the study behind DCC-GCN's defaults. overview: the "
            "README's table. systems: each against figures published for it. "
            "concord: Concord against the others."
        ),
    ],
    only: Annotated[
        str | None, typer.Option(help="systems: run these datasets only (cora,pubmed); the page names what is missing.")
    ] = None,
    splits: Annotated[
        int, typer.Option(help="At most so many splits of each cell; beyond 10 for paired differences.", min=1)
    ] = 10,
    smoke: Annotated[bool, typer.Option("--smoke", help="A tiny version on Cora, into runs/smoke.")] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only tell what is left to run, and how long it takes; fetches data files.")
    ] = False,
    stored: Annotated[
        bool, typer.Option("--stored", help="Run nothing: write the pages of the runs that the store holds so far.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processes of one thread each.", min=1)] = 2,
    ray: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Ray cluster instead; auto: the one running here.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the pages; default: docs/results.")] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Folder for finished runs; a second call continues from it. Default: runs/experiments. "
            "For the paper, a copy of docs/results/runs.jsonl.gz in it counts as run."
        ),
    ] = None,
) -> None:
    """Measure again what docs/results reports. Stop it at any time; the next call goes on from there.

    Examples:

        dccgcn reproduce table3 --jobs 2

        dccgcn reproduce all --splits 100 --plan
    """  # fmt: skip
    out = out or Path("runs/smoke" if smoke else "docs/results")
    store = store or Path("runs/smoke" if smoke else "runs/experiments")
    if what in ("choices", "overview", "systems", "concord"):
        for name, given in (("--smoke", smoke), ("--ray", ray), ("--splits", splits != 10 and what != "concord")):
            if given:
                raise SettingsError(
                    f"{name} is for the paper's tables and figures, not for {what}.", "Leave it out, or ask for all."
                )
    else:
        from dccgcn.cli.paper import reproduce_paper

        reproduce_paper(
            what, jobs=jobs, ray=ray, splits=splits, smoke=smoke, plan=plan, stored=stored, out=out, store=store
        )
        return
    from dccgcn.cli.paper import print_plans
    from dccgcn.experiments.choices import render_choices
    from dccgcn.experiments.concord import concord_jobs, read_concord, render_concord
    from dccgcn.experiments.overview import render_overview
    from dccgcn.experiments.plan import plan as plan_of
    from dccgcn.experiments.runner import read_store, read_stores, run_jobs, stores_in
    from dccgcn.experiments.study import read_study
    from dccgcn.experiments.systems import read_figures, render_systems, system_jobs
    from dccgcn.runtime.files import write_atomically

    runs = store / f"{what}.jsonl"
    if what == "systems":
        figures = read_figures()
        known = {f.cell.dataset for f in figures}
        chosen = known if only is None else set(only.split(","))
        if chosen - known:
            unknown = first_few(sorted(chosen - known))
            raise SettingsError(f"No figure is of {unknown}.", f"Choose among: {', '.join(sorted(known))}.")
        wanted = system_jobs([f for f in figures if f.cell.dataset in chosen])
    elif what == "concord":
        concord = read_concord()
        wanted = concord_jobs(concord, splits)
    else:
        study = read_study(what)
        wanted = study.jobs()
    if plan:
        print_plans([plan_of(what, wanted, read_store(runs))], jobs)
        return
    with runs_progress(what) as tell:
        run_jobs([] if stored else wanted, runs, jobs, tell)
    if what == "systems":
        page, text = "systems-check.md", render_systems(figures, read_store(runs))
    elif what == "concord":
        page, text = "concord.md", render_concord(concord, read_stores(runs, stores_in(store)))
    elif what == "choices":
        page, text = "dcc-gcn-choices.md", render_choices(study, read_store(runs))
    else:
        page, text = "overview.md", render_overview(study, read_store(runs))
    write_atomically(out / page, text)
    errors.print(f"Written to {out / page}", highlight=False)
