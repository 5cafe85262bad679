"""dccgcn reproduce: measure again what the documentation reports."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dccgcn.cli.display import errors, output, table
from dccgcn.errors import SettingsError
from dccgcn.text import first_few

if TYPE_CHECKING:
    from dccgcn.experiments.plan import Plan
    from dccgcn.experiments.reproduction import Reproduction
    from dccgcn.experiments.rows import Failures, Rows

Name = Literal[
    "table2", "table3", "table4", "table5", "table6", "table7", "figure4", "figure5", "figure6", "figure7",
    "theorems", "confidence", "all", "choices", "overview", "systems", "concord", "many-labels",
]  # fmt: skip


def reproduce(
    what: Annotated[
        Name,
        typer.Argument(
            help="A table or figure of the paper; theorems: its theorems on measured channels; confidence: whether "
            "disagreement finds wrong predictions; all: all of these. choices: the study behind DCC-GCN's defaults. "
            "overview: the README's table. systems: each against accuracies published for it. "
            "concord: Concord against the others. many-labels: the same with a tenth and half of all labels."
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
    ray: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Ray cluster instead; auto: the one running here.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the pages; default: docs/results.")] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Folder for finished runs; a second call continues from it. Default: runs/experiments. "
            "A copy of docs/results/runs.jsonl.gz in it counts as run."
        ),
    ] = None,
) -> None:
    """Measure again what docs/results reports. Stop it at any time; the next call continues.

    Examples:

        dccgcn reproduce table3 --jobs 2

        dccgcn reproduce all --splits 110 --plan
    """
    from dccgcn.experiments.reproduction import Reproduction
    from dccgcn.experiments.smoke import tiny
    from dccgcn.experiments.spec import PAPER, read_spec
    from dccgcn.runtime.files import write_atomically

    out = out or Path("runs/smoke" if smoke else "docs/results")
    store = store or Path("runs/smoke" if smoke else "runs/experiments")
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
        _print_plans(reproduction.plans(), jobs)
        return
    rows, failures = (reproduction.stored(), {}) if stored else _run(reproduction, jobs, ray)
    command = "dccgcn reproduce" + (" --smoke" if smoke else "") + (f" --splits {splits}" if splits != 10 else "")
    files = reproduction.files(rows, command, complete=what == "all", failures=failures)
    for name, content in files.items():
        write_atomically(out / name, content)
    failed = f" {len(failures)} runs failed; the pages give the reasons." if failures else ""
    errors.print(f"Written to {out}: {', '.join(files)}.{failed}", highlight=False)


def _run(reproduction: "Reproduction", jobs: int, ray: str | None) -> "tuple[Rows, Failures]":
    from dccgcn.cli.live import live
    from dccgcn.experiments.ray_pool import ray_pool
    from dccgcn.experiments.runner import local_pool

    pool = ray_pool(ray) if ray else local_pool(jobs)
    with live(reproduction, None if ray else jobs) as on_progress:
        return reproduction.run(pool, on_progress)


def _print_plans(plans: "list[Plan]", jobs: int) -> None:
    """Runs and hours left, by experiment."""
    shown = table("What is left to run", "experiment", "cells", "runs", "left", f"hours on {jobs} processes")
    for one in plans:
        shown.add_row(one.name, str(one.cells), str(one.runs), str(one.remaining), f"{one.seconds / jobs / 3600:.2f}")
    output.print(shown)
