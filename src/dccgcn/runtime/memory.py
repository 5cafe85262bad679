"""How much memory the machine has, and whether a table fits into it."""

import os
from math import inf, isfinite
from pathlib import Path

import numpy as np

from dccgcn.errors import GraphError

_BYTES_PER_TEXT_BYTE = 12  # memory that reading needs for each byte of a packed text file, at least
_BYTE, _CELL, _LONG_CELL, _ROW, _OBJECT = 3, 50, 90, 150, 250  # and for each of what a file consists of, measured
_ENDS = list(b",\t;|\n\r")  # of cells


def check_table(path: Path, needed: float | None = None) -> None:
    """Raise a GraphError if reading a table needs more memory than the machine has.

    needed : bytes, as ``memory_of_text`` counts them. Omitted: the least that a file of this size needs.
    """
    _, total = available_memory()
    if needed is None:
        needed = _BYTE * path.stat().st_size
    if needed > total:
        raise GraphError(
            f"Reading {path} needs about {format_bytes(needed)} of memory; the machine has {format_bytes(total)}.",
            "Build a NodeGraph from a SciPy sparse matrix if most features are zero, or write the table as Parquet.",
        )


def memory_of_text(content: bytes) -> int:
    """Bytes of memory that reading a text file, or a piece of one, needs, by its cells and rows."""
    ends = np.flatnonzero(np.isin(np.frombuffer(content, np.uint8), _ENDS))
    cells = _CELL * len(ends) + _LONG_CELL * int((np.diff(ends, prepend=-1) > 2).sum())
    rows = _ROW * max(map(content.count, (b"\n", b"\r"))) + _OBJECT * content.count(b"{")
    return _BYTE * len(content) + cells + rows


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
