"""The live display of a reproduction: cells done, time left, and the table so far."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from dccgcn.cli.display import errors, table

if TYPE_CHECKING:
    from dccgcn.experiments.reproduction import Reproduction


@contextmanager
def live(work: "Reproduction", workers: int | None) -> Iterator[Callable[[int, int, dict[str, Any] | None], None]]:
    """A bar over all runs, with the time that is left by what like runs took, and the table of the last run.

    workers: how many runs go on at once; None: not known, as on a cluster.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Bar(*columns, TextColumn("{task.fields[left]}"), console=errors)
    task = bar.add_task("runs", total=None, left="")
    board = Board(work)
    with Live(bar, console=errors, refresh_per_second=2) as shown:
        drawn = 0.0

        def tell(done: int, of: int, row: dict[str, Any] | None) -> None:
            nonlocal drawn
            board.add(row)
            bar.update(task, completed=done, total=of, left=board.left(workers))
            if row and (monotonic() - drawn > 1 or done == of):  # a table of quick runs need not follow each
                so_far = board.table(row)
                shown.update(Group(so_far, bar) if so_far else bar)
                drawn = monotonic()

        yield tell


class Board:
    """What is known so far."""

    def __init__(self, work: "Reproduction") -> None:
        from dccgcn.experiments.plan import estimator

        self.work = work
        self.rows = {key: row for key, row in work.stored().items() if work.usable(row)}
        seconds = estimator(self.rows)
        self.expected = {job.key(): seconds(job) for job in work.first() if job.key() not in self.rows}
        self.home = {key: (e, line, c) for e in work.experiments[::-1] for (line, c, _), key in e.keys.items()}

    def add(self, row: dict[str, Any] | None) -> None:
        if row:
            self.rows[row["key"]] = row
            self.expected.pop(row["key"], None)

    def left(self, workers: int | None) -> str:
        """Cells done, and the time left for the others.

        A cell is done when all runs behind its mean are there.
        """
        cells: dict[tuple[str, str, int], bool] = {}
        for e in self.work.experiments:
            for line in e.lines:
                for c, column in enumerate(e.columns):
                    keys = [
                        e.keys.get((line.name, c, n)) for n in range(min(e.runs_of(line, column), self.work.splits))
                    ]
                    job = e.job(line, column, 0)
                    if any(keys) and job and job.dataset not in self.work.missing:
                        cells[e.name, line.name, c] = all(key in self.rows for key in keys)
        told = f"{sum(cells.values())} of {len(cells)} cells"
        if workers is None or not self.expected:
            return told
        minutes = sum(self.expected.values()) / workers / 60
        return f"{told}, about {minutes / 60:.1f} h left" if minutes > 90 else f"{told}, about {minutes:.0f} min left"

    def table(self, row: dict[str, Any]) -> Table | None:
        """The experiment that the run belongs to, as far as it is measured."""
        from dccgcn.experiments.measured import entry

        if row["key"] not in self.home or not self.home[row["key"]][0].metrics:
            return None
        e = self.home[row["key"]][0]
        metric, called = next(iter(e.metrics.items()))
        made = table(f"{e.title}, {called}", "", *(f"{c.dataset}\n{c.labels}" for c in e.columns))
        for line in e.lines:
            found = [entry(e, self.rows, line, c, metric, {}) for c in range(len(e.columns))]
            made.add_row(line.name, *(f"{one.ours} ({one.ours.n})" if one.ours else "" for one in found))
        return made
