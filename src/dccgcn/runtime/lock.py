"""Locks between processes: one writer at a time for a folder or a file."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from dccgcn.errors import DataFileError
from dccgcn.runtime.files import is_temporary

LOCK = ".lock"


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder while writing to it, and remove the temporary files that a killed process left in it."""
    with _lock(folder / LOCK, folder):
        with suppress(OSError):  # they do no harm
            for path in folder.iterdir():
                if is_temporary(path.name):
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
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
