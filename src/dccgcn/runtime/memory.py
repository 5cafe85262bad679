"""How much memory the machine has, and whether a table fits into it."""

import os
from math import inf, isfinite
from pathlib import Path

from dccgcn.errors import GraphError

_TABLE = 12  # bytes in memory for each byte of a text file


def check_table(path: Path, length: int) -> None:
    """An error if a text file of that length cannot be held while it is read."""
    total = memory()[1]
    if _TABLE * length > total:
        raise GraphError(
            f"Reading {path} would need about {size(_TABLE * length)} of memory; the machine has {size(total)}.",
            "Keep features that are mostly zero in a sparse matrix and build a NodeGraph from that, or write Parquet.",
        )


def memory() -> tuple[float, float]:
    """Free and total memory of the machine, in bytes; infinite where the system does not tell."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        total, free = float(page * os.sysconf("SC_PHYS_PAGES")), float(page * os.sysconf("SC_AVPHYS_PAGES"))
    except (ValueError, OSError, AttributeError):
        return inf, inf
    try:  # Linux counts what it merely caches as used
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        pass
    return free, total


def size(amount: float) -> str:
    """Bytes as people read them."""
    if not isfinite(amount):
        return "an unknown amount"
    return f"{amount / 1e9:.1f} GB" if amount >= 1e9 else f"{amount / 1e6:.0f} MB"
