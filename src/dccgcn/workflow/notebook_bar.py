"""A progress bar in a notebook."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from time import perf_counter
from typing import Any

from dccgcn.progress import Progress

_AFTER = 2.0  # seconds; a shorter computation needs no bar
_EVERY = 0.2  # seconds between two drawings


@contextmanager
def notebook_bar() -> Iterator[Progress | None]:
    """A bar below the cell that is removed at the end; None if no notebook is running."""
    ipython = sys.modules.get("IPython")  # a notebook has imported it
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        yield None
        return
    from IPython.display import HTML, display

    shown: Any = None
    due = perf_counter() + _AFTER

    def update(stage: str, done: int, total: int) -> None:
        nonlocal shown, due
        if perf_counter() < due:
            return
        due = perf_counter() + _EVERY
        bar = HTML(f"<progress value='{done}' max='{total}'></progress> {escape(stage)}, {done:,} of {total:,}")
        if shown is None:
            shown = display(bar, display_id=True)
        else:
            shown.update(bar)

    try:
        yield update
    finally:
        if shown is not None:
            shown.update(HTML(""))
