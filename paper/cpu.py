"""The processor of this machine: another one may round the last digits differently."""

import platform
from functools import cache
from pathlib import Path

# instruction sets among which BLAS, torch and numba choose
_EXTENSIONS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512_vnni", "amx_tile", "asimd", "sve")


@cache
def cpu_description() -> str:
    """Model and vector extensions, such as "AMD EPYC (sse4_2 avx avx2 fma)"."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        lines = []
    return describe_cpu(lines)


def describe_cpu(lines: list[str]) -> str:
    """The description from the lines of /proc/cpuinfo; without any, the name of the architecture.

    >>> describe_cpu(["model name\\t: AMD EPYC", "flags\\t\\t: fpu avx2 fma avx"])
    'AMD EPYC (avx avx2 fma)'
    """
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in reversed(lines))}
    model = fields.get("model name") or platform.processor() or platform.machine() or "unknown"
    flags = set((fields.get("flags") or fields.get("Features") or "").split())
    found = " ".join(name for name in _EXTENSIONS if name in flags)
    return f"{model} ({found})" if found else model
