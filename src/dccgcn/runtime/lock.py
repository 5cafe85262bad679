"""Locks between processes: one writer at a time for a folder or a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from dccgcn.errors import DataFileError


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder while writing to it, and remove the temporary files that a killed process left in it."""
    with _lock(folder / ".lock", folder):
        for temporary in folder.glob(f".{'[0-9a-f]' * 16}.tmp"):
            temporary.unlink(missing_ok=True)
        yield


@contextmanager
def lock_file(file: Path) -> Iterator[None]:
    """Lock one file while appending to it."""
    with _lock(file.with_suffix(".lock"), file):
        yield


@contextmanager
def _lock(path: Path, target: Path) -> Iterator[None]:
    """Hold the lock file of a target. The operating system releases it when the process ends in any way."""
    lock = FileLock(path, blocking=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise DataFileError(
            f"Another process is writing to {target}.", "Wait until it has finished, or choose another path."
        ) from None
    except OSError as error:
        raise DataFileError(
            f"{target} cannot be written ({error.strerror or error}).", "Choose another path."
        ) from None
    try:
        yield
    finally:
        lock.release()
