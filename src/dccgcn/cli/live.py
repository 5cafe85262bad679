"""The live display of a reproduction: finished cells, time left, and the table so far."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from dccgcn.cli.display import errors, table

if TYPE_CHECKING:
    from dccgcn.experiments.reproduction import Reproduction
    from dccgcn.experiments.runner import Finished, OnProgress


@contextmanager
def live(reproduction: "Reproduction", workers: int | None) -> Iterator["OnProgress"]:
    """A bar over all runs, with the estimated time left, and the table that the last run belongs to.

    workers: number of parallel runs; None: unknown, as on a cluster.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Bar(*columns, TextColumn("{task.fields[left]}"), console=errors)
    task = bar.add_task("runs", total=None, left="")
    board = Board(reproduction)
    with Live(bar, console=errors, refresh_per_second=2) as shown:
        drawn = 0.0

        def on_progress(done: int, total: int, last: "Finished | None") -> None:
            nonlocal drawn
            board.add(last)
            bar.update(task, completed=done, total=total, left=board.left(workers))
            if last and (monotonic() - drawn > 1 or done == total):  # at most one table per second
                so_far = board.table(last.key)
                shown.update(Group(so_far, bar) if so_far else bar)
                drawn = monotonic()

        yield on_progress


class Board:
    """Finished runs, and the expected time of the others."""

    def __init__(self, reproduction: "Reproduction") -> None:
        from dccgcn.experiments.plan import estimator

        self.reproduction = reproduction
        self.rows = reproduction.stored()
        seconds = estimator(self.rows)
        self.expected = {job.key(): seconds(job) for job in reproduction.jobs() if job.key() not in self.rows}
        self.spec_of = {key: spec for spec in reproduction.specs[::-1] for key in spec.keys.values()}
        self.cells = [
            [spec.keys[system.name, c, nth] for nth in range(min(spec.n_runs(system, column), reproduction.splits))]
            for spec in reproduction.specs
            for system in spec.systems
            for c, column in enumerate(spec.columns)
            if (job := spec.job(system, column, 0)) and job.dataset not in reproduction.unavailable
        ]

    def add(self, last: "Finished | None") -> None:
        from dccgcn.experiments.rows import RunRow

        if last:
            self.expected.pop(last.key, None)
        if isinstance(last, RunRow):
            self.rows[last.key] = last

    def left(self, workers: int | None) -> str:
        """Finished cells, and the time left for the others. A cell is finished when all runs of its mean are."""
        cells = [keys for keys in self.cells if keys]
        text = f"{sum(all(key in self.rows for key in keys) for keys in cells)} of {len(cells)} cells"
        if workers is None or not self.expected:
            return text
        minutes = sum(self.expected.values()) / workers / 60
        return f"{text}, about {minutes / 60:.1f} h left" if minutes > 90 else f"{text}, about {minutes:.0f} min left"

    def table(self, key: str) -> Table | None:
        """The means so far of the experiment that the run belongs to."""
        from dccgcn.experiments.results import Results

        spec = self.spec_of.get(key)
        if spec is None or not spec.metrics:
            return None
        metric, name = next(iter(spec.metrics.items()))
        shown = table(f"{spec.title}, {name}", "", *(f"{c.dataset}\n{c.labels}" for c in spec.columns))
        results = Results(spec, self.rows)
        for system in spec.systems:
            means = [cell.ours for cell in results.cells(system, metric)]
            shown.add_row(system.name, *(f"{mean} ({mean.n})" if mean else "" for mean in means))
        return shown
