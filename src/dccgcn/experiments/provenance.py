"""Where a page of results comes from: command, versions, machine, date."""

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from os import cpu_count


def provenance(command: str) -> str:
    """A closing paragraph for a page of results."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("dccgcn", "torch", "numba", "numpy", "scipy"))
    machine = f"{platform.system()} {platform.machine()}, {cpu_count()} cores"
    return (
        f"Measured by `{command}` on {datetime.now(UTC):%Y-%m-%d}, {machine}, "
        f"Python {platform.python_version()}, {packages}."
    )
