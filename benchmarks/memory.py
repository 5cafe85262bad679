"""Peak memory of this process, and of a function in a process of its own."""

import multiprocessing
import os
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from dccgcn.runtime.process_guard import exit_with_parent

T = TypeVar("T")
_SAMPLE_SECONDS = 0.1


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


def in_own_process(function: Callable[..., T], *arguments: Any, **options: Any) -> tuple[T, float]:
    """What the function returns in a fresh process, and the peak of its ``anonymous_mb``, sampled."""
    with multiprocessing.get_context("spawn").Pool(1, exit_with_parent, (os.getpid(),)) as pool:
        pid, peak = pool.apply(os.getpid), 0.0
        running = pool.apply_async(function, arguments, options)
        while not running.ready():
            running.wait(_SAMPLE_SECONDS)
            peak = max(peak, anonymous_mb(pid))
        return running.get(), peak
