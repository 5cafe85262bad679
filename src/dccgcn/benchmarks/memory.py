"""Peak memory of this process."""

import resource
import sys
from contextlib import suppress
from pathlib import Path


def peak_mb() -> float:
    """Largest resident set size so far, in MB. On Linux getrusage would include the parent's before the fork."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)


def anonymous_mb(pid: int) -> float:
    """Memory of a process that is no page of a file, in MB; such pages can be dropped. 0 where it is not known."""
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024
    return 0.0


def reset_peak() -> None:
    """Let ``peak_mb`` count from now on; only Linux can, elsewhere it counts from the start."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
