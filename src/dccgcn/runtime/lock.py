"""Locks between processes: one writer at a time for a folder or a file."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from dccgcn.errors import DataFileError

LOCK = ".lock"
_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")  # names that writers give to unfinished files and folders


def is_temporary(name: str) -> bool:
    """Whether a file or folder of this name was left by a writer that was stopped."""
    return _TEMPORARY.fullmatch(name) is not None


def remove_temporary(folder: Path, older_than: float = 0) -> None:
    """Remove the temporary files of a folder that were not changed for so many seconds."""
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            if not is_temporary(entry.name):
                continue
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime < older_than:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder while writing to it, and remove the temporary files that a killed process left in it."""
    with _lock(folder / LOCK, folder):
        remove_temporary(folder)
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
