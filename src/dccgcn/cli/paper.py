"""The part of dccgcn reproduce that measures the paper's tables and figures again."""

from pathlib import Path
from typing import TYPE_CHECKING

from dccgcn.cli.display import errors, output, table
from dccgcn.cli.live import live

if TYPE_CHECKING:
    from dccgcn.experiments.plan import Plan
    from dccgcn.experiments.reproduction import Reproduction
    from dccgcn.experiments.runner import Pool, Row


def reproduce_paper(
    what: str,
    *,
    jobs: int,
    ray: str | None,
    splits: int,
    smoke: bool,
    plan: bool,
    stored: bool,
    out: Path,
    store: Path,
) -> None:
    """Run what is missing, then write every page; or only say what there is to run, or write what there is."""
    from dccgcn.experiments.experiment import EXPERIMENTS, read_experiment
    from dccgcn.experiments.reproduction import Reproduction
    from dccgcn.experiments.smoke import tiny
    from dccgcn.runtime.files import write_atomically

    experiments = tuple(read_experiment(name) for name in (EXPERIMENTS if what == "all" else (what,)))
    if smoke:
        experiments = tuple(tiny(e) for e in experiments)
    work = Reproduction(experiments, store, splits)
    for dataset, why in work.missing.items():
        errors.print(f"{dataset} is left out: {why}.", highlight=False)
    if plan:
        print_plans(work.plans(), jobs)
        return
    rows = work.stored() if stored else _run(work, jobs, ray)
    command = "dccgcn reproduce" + (" --smoke" if smoke else "") + (f" --splits {splits}" if splits != 10 else "")
    files = work.files(rows, command, complete=what == "all")
    for name, content in files.items():
        write_atomically(out / name, content)
    failed = sum("error" in row for row in rows.values())
    told = f" {failed} runs failed; the pages say why." if failed else ""
    errors.print(f"Written to {out}: {', '.join(files)}.{told}", highlight=False)


def _run(work: "Reproduction", jobs: int, ray: str | None) -> dict[str, "Row"]:
    pool: Pool | int = jobs
    if ray:
        from dccgcn.experiments.ray_pool import ray_pool

        pool = ray_pool(ray)
    with live(work, None if ray else jobs) as tell:
        return work.run(pool, tell)


def print_plans(plans: "list[Plan]", jobs: int) -> None:
    """Runs and hours left, by experiment."""
    shown = table("What is left to run", "experiment", "cells", "runs", "left", f"hours on {jobs} processes")
    for one in plans:
        shown.add_row(one.name, str(one.cells), str(one.runs), str(one.left), f"{one.seconds / jobs / 3600:.2f}")
    output.print(shown)
