"""The callback by which long computations report progress."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Progress = Callable[[str, int, int], None]  # name of the task, steps done, steps in total


_REPORTS = 100  # of one pass


def tracked(items: Iterable[Item], total: int, task: str, progress: Progress | None) -> Iterator[Item]:
    """The items one by one; their number is reported now and then."""
    every = max(total // _REPORTS, 1)
    for done, item in enumerate(items):
        if progress is not None and done % every == 0:
            progress(task, done, total)
        yield item
    if progress is not None:
        progress(task, total, total)
