"""python -m paper: measure again what docs/results reports."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from dccgcn.cli.display import errors, output, print_error, runs_progress, table
from dccgcn.errors import DccgcnError, SettingsError
from dccgcn.runtime.device import use_threads
from dccgcn.runtime.files import write_atomically
from dccgcn.text import first_few
from dccgcn.workflow.runner import Failures
from paper import label_errors, meaning, trust
from paper.reproduction import Reproduction, with_runs
from paper.runs import FILE, RESULTS
from paper.smoke import tiny
from paper.spec import PAPER, read_spec

Name = Literal[
    "table2", "table3", "table4", "table5", "table6", "table7", "figure4", "figure5", "figure6", "figure7",
    "theorems", "confidence", "all", "choices", "overview", "systems", "concord", "many-labels",
    "trust", "label-errors", "meaning",
]  # fmt: skip
STUDIES = {"trust": trust, "label-errors": label_errors, "meaning": meaning}

app = typer.Typer(pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def reproduce(
    what: Annotated[
        Name,
        typer.Argument(
            help="A table or figure of the paper; theorems: its theorems on measured channels; confidence: whether "
            "disagreement finds wrong predictions; all: all of these. choices: the study behind DCC-GCN's defaults. "
            "overview: the README's table. systems: each against accuracies published for it. "
            "concord: Concord against the others. many-labels: the same with a tenth and half of all labels. "
            "trust: the constants of Concord's trust, and what they promise. label-errors: labels that look wrong. "
            "meaning: texts by their meaning."
        ),
    ],
    only: Annotated[
        str | None, typer.Option(help="Run these datasets only (cora,pubmed); the page names what is missing.")
    ] = None,
    splits: Annotated[
        int, typer.Option(help="At most so many splits of each cell; beyond 10 for paired differences.", min=1)
    ] = 10,
    smoke: Annotated[bool, typer.Option("--smoke", help="A tiny version on Cora, into runs/smoke.")] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only show what is left to run, and how long it takes; downloads nothing.")
    ] = False,
    stored: Annotated[
        bool, typer.Option("--stored", help="Run nothing: write the pages from the runs in the store.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Processes of one thread each.", min=1)] = 2,
    out: Annotated[Path | None, typer.Option(help="Folder for the pages; default: docs/results.")] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Folder for finished runs; a second call continues from it. Default: runs/experiments. "
            "A copy of docs/results/runs.parquet in it counts as run."
        ),
    ] = None,
) -> None:
    """Measure again what docs/results reports. Stop it at any time; the next call continues.

    Examples:

        python -m paper table3 --jobs 2

        python -m paper all --splits 110 --plan
    """
    out = out or (Path("runs/smoke") if smoke else RESULTS)
    store = store or Path("runs/smoke" if smoke else "runs/experiments")
    use_threads(1)
    if what in STUDIES:
        if plan or smoke or only:
            raise SettingsError(f"{what} is measured whole.", "Leave --plan, --smoke and --only out.")
        STUDIES[what].main(out, store, stored)
        return
    specs = tuple(read_spec(name) for name in (PAPER if what == "all" else (what,)))
    if smoke:
        specs = tuple(tiny(spec) for spec in specs)
    chosen = frozenset(only.split(",")) if only else frozenset()
    known = {column.dataset for spec in specs for column in spec.columns}
    if chosen - known:
        raise SettingsError(
            f"{what} has no column for {first_few(sorted(chosen - known))}.",
            f"Choose among: {', '.join(sorted(known))}.",
        )
    reproduction = Reproduction(specs, store, splits, chosen, download=not (plan or stored))
    for dataset, reason in reproduction.unavailable.items():
        remedy = "; a run downloads it" if plan else ""
        errors.print(f"{dataset} is left out: {reason}{remedy}.", highlight=False)
    if plan:
        _print_plans(reproduction, jobs)
        return
    rows, failures = reproduction.stored(), Failures()
    if not stored:
        with runs_progress(what) as on_progress:
            rows, failures = reproduction.run(jobs, on_progress)
    command = "python -m paper" + (" --smoke" if smoke else "") + (f" --splits {splits}" if splits != 10 else "")
    files = reproduction.files(rows, command, complete=what == "all", failures=failures)
    for name, content in {**files, FILE: with_runs(out / FILE, rows, specs)}.items():
        write_atomically(out / name, content)
    failed = f" {len(failures)} runs failed; the pages give the reasons." if failures else ""
    errors.print(f"Written to {out}: {', '.join(files)}.{failed}", highlight=False)


def _print_plans(reproduction: Reproduction, jobs: int) -> None:
    """Runs and hours left, by experiment."""
    shown = table("What is left to run", "experiment", "cells", "runs", "left", f"hours on {jobs} processes")
    for one in reproduction.plans().itertuples():
        shown.add_row(one.experiment, str(one.cells), str(one.runs), str(one.left), f"{one.hours / jobs:.2f}")
    output.print(shown)


def main() -> None:
    """Run the command line. Exit codes: 0 success, 2 a user error, 130 interrupted by Ctrl-C."""
    try:
        app(prog_name="python -m paper")
    except DccgcnError as error:
        print_error(error)
        sys.exit(2)


if __name__ == "__main__":
    main()
