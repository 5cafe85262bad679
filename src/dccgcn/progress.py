"""The callback by which long computations report progress."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # name of the task, steps done, steps in total
