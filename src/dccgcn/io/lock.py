"""One process at a time in a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from dccgcn.errors import DataFileError


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder while writing to it. The system lets go when a process dies, however it dies.

    What a killed process left half-written is cleared away: temporary files that never got their name.
    """
    lock = FileLock(folder / ".lock", blocking=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise DataFileError(
            f"Another process is writing to {folder}.", "Wait until it has finished, or choose another folder."
        ) from None
    except OSError as error:
        raise DataFileError(
            f"Nothing can be written to {folder} ({error.strerror or error}).", "Choose another folder."
        ) from None
    try:
        for left in folder.glob(f".{'[0-9a-f]' * 16}.tmp"):
            left.unlink(missing_ok=True)
        yield
    finally:
        lock.release()
