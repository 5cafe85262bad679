"""Where numba keeps compiled kernels: beside the package, else in the user's cache folder, else nowhere for long."""

import os
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"  # read by numba when it is imported


def prepare_kernel_cache(package: Path, user_cache: Path | None = None) -> None:
    """Name a folder for numba if the package's own cannot be written. Call it before numba is imported.

    user_cache: default ~/.cache, or XDG_CACHE_HOME. If that cannot be written either, kernels go to a temporary
    folder that is removed when the process ends, with a warning.
    """
    if os.environ.get(VARIABLE) or _writable(package):
        return
    if user_cache is None:
        user_cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    kernels = user_cache / "dccgcn" / "kernels"
    os.environ[VARIABLE] = str(kernels) if _writable(kernels) else _temporary_folder(package, kernels)


def _writable(folder: Path) -> bool:
    """Whether files can be created in a folder, which is created if it does not exist."""
    if os.access(folder, os.F_OK) and not os.access(folder, os.W_OK):
        return False
    probe = folder / f".{os.getpid()}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


def _temporary_folder(package: Path, kernels: Path) -> str:
    import atexit
    import shutil
    import tempfile
    import warnings

    # private to this process: numba unpickles what it finds, so the folder must not be one that others can prepare
    folder = tempfile.mkdtemp(prefix="dccgcn-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    warnings.warn(
        f"Neither {package} nor {kernels} can be written, so compiled kernels are not kept: every start takes some "
        f"seconds longer. Name a folder in {VARIABLE} to keep them.",
        stacklevel=3,
    )
    return folder
