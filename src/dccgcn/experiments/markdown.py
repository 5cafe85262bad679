"""Tables and closing paragraphs of the pages under docs/results."""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and whose other columns are numbers."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def provenance(command: str) -> str:
    """Where a page comes from: command, date, machine, versions."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("dccgcn", "torch", "numba", "numpy", "scipy"))
    machine = f"{platform.system()} {platform.machine()}, {cpu_count()} cores"
    return (
        f"Measured by `{command}` on {datetime.now(UTC):%Y-%m-%d}, {machine}, "
        f"Python {platform.python_version()}, {packages}."
    )
