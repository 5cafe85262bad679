"""How much memory the machine has, and whether a table fits into it."""

import os
from math import inf, isfinite
from pathlib import Path

from dccgcn.errors import GraphError

_BYTES_PER_TEXT_BYTE = 12  # memory that reading needs for each byte of a text file


def check_table(path: Path, length: int) -> None:
    """Raise a GraphError if reading a text file of this length in bytes needs more memory than the machine has."""
    _, total = available_memory()
    needed = _BYTES_PER_TEXT_BYTE * length
    if needed > total:
        raise GraphError(
            f"Reading {path} needs about {format_bytes(needed)} of memory; the machine has {format_bytes(total)}.",
            "Build a NodeGraph from a SciPy sparse matrix if most features are zero, or write the table as Parquet.",
        )


def largest_table() -> float:
    """Bytes of the largest text file that this machine has the memory to read."""
    return available_memory()[1] / _BYTES_PER_TEXT_BYTE


def available_memory() -> tuple[float, float]:
    """Free and total memory of the machine in bytes; infinite where the operating system does not report them."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        total, free = float(page * os.sysconf("SC_PHYS_PAGES")), float(page * os.sysconf("SC_AVPHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return inf, inf
    try:  # on Linux SC_AVPHYS_PAGES counts the page cache as used
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        pass
    return free, total


def format_bytes(amount: float) -> str:
    """A number of bytes in MB or GB.

    >>> format_bytes(3.2e9)
    '3.2 GB'
    """
    if not isfinite(amount):
        return "an unknown amount"
    return f"{amount / 1e9:.1f} GB" if amount >= 1e9 else f"{amount / 1e6:.0f} MB"
