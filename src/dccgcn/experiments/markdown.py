"""Tables and closing paragraphs of the pages under docs/results."""

import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count
from typing import Any

from dccgcn.text import markdown_table

__all__ = ["markdown_table", "provenance"]


def provenance(command: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Where a page comes from: command, days of its runs, and the machine and versions that wrote it."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    days = sorted({row["date"] for row in rows if "date" in row}) or [today]
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    packages = ", ".join(f"{name} {version(name)}" for name in ("dccgcn", "torch", "numba", "numpy", "scipy"))
    machine = f"{platform.system()} {platform.machine()}, {cpu_count()} cores"
    return (
        f"Measured by `{command}`, runs of {when}; written on {today}, {machine}, "
        f"Python {platform.python_version()}, {packages}."
    )
