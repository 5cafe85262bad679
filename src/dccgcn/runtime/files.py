"""Reading, atomic writing, locks and hashes of files.

``replace_files`` replaces several files of a folder at once: after a crash at any moment all of them are old, or all
are new. They are written to a temporary folder inside the target. Renaming that folder to ``.new`` is the moment at
which they become valid; readers look there first. Then they are moved to their places one by one. A writer that finds
``.new`` finishes the move of the process that was stopped.
"""

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

from filelock import FileLock, Timeout

from dccgcn.errors import DataFileError

Content: TypeAlias = "str | bytes | Iterable[bytes | memoryview]"  # of a file, whole or in pieces

_MAX_JSON = 2**30  # bytes
_MIN_AGE = 2  # seconds: a younger temporary file may not be locked yet


def write_atomically(path: str | Path, content: Content, replace: bool = True) -> None:
    """Write a file completely or not at all: after a crash or on a full disk the old content is still there.

    ``replace=False``: a file that is there, even since a moment, is an error and stays as it is.

    A process that is killed leaves its temporary file beside it; the next call that writes to the folder removes it.
    """
    path = Path(path)
    temporary = temporary_path(path.parent)  # same folder: renaming is atomic on one disk
    with write_errors(path, "Free some space, or choose another folder."):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_temporary(path.parent)
            with open(temporary, "xb") as file:
                _hold(file)
                file.writelines(_pieces(content))
                file.flush()
                os.fsync(file.fileno())
                place(temporary, path, replace)
            sync_folder(path.parent)
        finally:
            with suppress(OSError):  # already renamed, or its folder does not exist
                temporary.unlink(missing_ok=True)


@contextmanager
def write_errors(path: Path, remedy: str) -> Iterator[None]:
    """Turn what the system reports inside the block into a DataFileError: the path cannot be written."""
    try:
        yield
    except OSError as error:
        if isinstance(error, IsADirectoryError | NotADirectoryError | FileExistsError):
            remedy = "Give the path of a file in a folder."
        raise DataFileError(f"{path} cannot be written ({error.strerror or error}).", remedy) from error


def place(temporary: Path, path: Path, replace: bool) -> None:
    """Give a complete file its name. ``replace=False``: a file of that name is a FileExistsError."""
    if not replace:
        try:
            os.link(temporary, path)
            temporary.unlink()
            return
        except FileExistsError:
            raise
        except OSError as error:
            if os.path.lexists(path):
                raise FileExistsError(f"{path} is there already") from error
    os.replace(temporary, path)  # the system has no links, or an earlier file is meant


def temporary_path(folder: Path) -> Path:
    """A new name for an unfinished file or folder."""
    return folder / f".{secrets.token_hex(8)}.tmp"


def is_temporary(name: str) -> bool:
    """Whether a name is one of ``temporary_path``."""
    return re.fullmatch(r"\.[0-9a-f]{16}\.tmp", name) is not None


def remove_temporary(folder: Path) -> None:
    """Remove temporary files that a killed process left: no process holds them, and they are some seconds old."""
    for entry in os.scandir(folder):
        if is_temporary(entry.name):
            with suppress(OSError), open(entry.path, "rb") as file:
                if time.time() - os.fstat(file.fileno()).st_mtime > _MIN_AGE:
                    _hold(file)
                    os.unlink(entry.path)


def _hold(file: IO[bytes]) -> None:
    """Lock an open file until it is closed or its process ends; an OSError if another process holds it."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_and_sync(path: Path, content: Content) -> None:
    """Write a new file and wait until it is on disk."""
    with open(path, "xb") as file:
        file.writelines(_pieces(content))
        file.flush()
        os.fsync(file.fileno())


def _pieces(content: Content) -> Iterable[bytes | memoryview]:
    if isinstance(content, str | bytes):
        return [content.encode() if isinstance(content, str) else content]
    return content


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk; where a system cannot open folders, do nothing."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def check_regular(path: Path) -> None:
    """Raise a DataFileError unless the path is a regular file: a pipe or a device may never end."""
    if not path.is_file():
        kind = "missing" if not path.exists() else "not a regular file"
        raise DataFileError(f"{path} is {kind}.", "Give the path of a file.")


def read_json(path: Path) -> Any:
    """The content of a JSON file; whatever is wrong with it is a DataFileError."""
    check_regular(path)
    size = path.stat().st_size
    if size > _MAX_JSON:
        raise DataFileError(f"{path} has {size:,} bytes, more than the {_MAX_JSON:,} that are read.", "Check the file.")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise DataFileError(f"{path} is nested too deep.", "Check the file.") from None
    except (OSError, ValueError) as error:
        raise DataFileError(f"{path} was cut short or altered ({error}).", "Check the file.") from None


def sha256(path: str | Path) -> str:
    """Hexadecimal SHA-256 of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
    with write_errors(target, "Choose another path."):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            remedy = "Wait until it has finished, or choose another path."
            raise DataFileError(f"Another process is writing to {target}.", remedy) from None
    try:
        yield
    finally:
        lock.release()


STAGED = ".new"


def current_path(folder: Path, name: str) -> Path:
    """Where the valid version of a file is."""
    staged = folder / STAGED / name
    return staged if staged.exists() else folder / name


def replace_files(folder: Path, files: Mapping[str, Content], outdated: Iterable[str] = ()) -> None:
    """Replace these files, and remove the outdated ones. The caller holds the lock of the folder."""
    finish_move(folder)
    temporary = temporary_path(folder)
    with write_errors(folder, "Free some space, or choose another folder. What was there before is unchanged."):
        try:
            temporary.mkdir()
            for name, content in files.items():
                write_and_sync(temporary / name, content)
            sync_folder(temporary)
            for name in outdated:
                (folder / name).unlink(missing_ok=True)
            os.replace(temporary, folder / STAGED)
            sync_folder(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    finish_move(folder)


def finish_move(folder: Path) -> None:
    """Move what a complete ``.new`` holds to its place. Repeated after a crash it continues."""
    staged = folder / STAGED
    if not staged.is_dir():
        return
    with write_errors(folder, "The new files are complete; repeat the command to finish."):
        for name in sorted(os.listdir(staged)):
            os.replace(staged / name, folder / name)
        sync_folder(folder)
        staged.rmdir()
