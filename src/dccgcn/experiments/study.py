"""The command of a study in two steps: collect its runs, and make its page from them."""

import argparse
from collections.abc import Callable
from pathlib import Path

from dccgcn.runtime.files import write_atomically


def collect_or_write(
    description: str | None, runs: Path, page: Path, collect: Callable[[Path], None], make: Callable[[Path], str]
) -> None:
    """``collect(runs)`` if the command line says so, otherwise write ``make(runs)`` to the page."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["collect", "page"], default="page")
    parser.add_argument("--runs", type=Path, default=runs)
    parser.add_argument("--page", type=Path, default=page)
    arguments = parser.parse_args()
    if arguments.what == "collect":
        collect(arguments.runs)
    elif not arguments.runs.exists():
        parser.error(f"There is no {arguments.runs}: collect the runs first.")
    else:
        write_atomically(arguments.page, make(arguments.runs))
