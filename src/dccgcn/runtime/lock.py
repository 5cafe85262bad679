"""One process at a time in a folder, or at a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from dccgcn.errors import DataFileError


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder while writing to it.

    What a killed process left half-written is cleared away: temporary files that never got their name.
    """
    with _held(folder / ".lock", folder):
        for left in folder.glob(f".{'[0-9a-f]' * 16}.tmp"):
            left.unlink(missing_ok=True)
        yield


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Hold one file while adding to it."""
    with _held(file.with_suffix(".lock"), file):
        yield


@contextmanager
def _held(lock_file: Path, what: Path) -> Iterator[None]:
    """The system lets go when a process dies, however it dies."""
    lock = FileLock(lock_file, blocking=False)
    try:
        lock_file.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise DataFileError(
            f"Another process is writing to {what}.", "Wait until it has finished, or choose another place."
        ) from None
    except OSError as error:
        raise DataFileError(
            f"Nothing can be written to {what} ({error.strerror or error}).", "Choose another place."
        ) from None
    try:
        yield
    finally:
        lock.release()
