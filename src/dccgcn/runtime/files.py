"""Reading, atomic writing and hashes of files."""

import fcntl
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

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
    except OSError as error:
        is_wrong_path = isinstance(error, IsADirectoryError | NotADirectoryError | FileExistsError)
        remedy = (
            "Give the path of a file in a folder." if is_wrong_path else "Free some space, or choose another folder."
        )
        raise DataFileError(f"{path} cannot be written ({error.strerror or error}).", remedy) from error
    finally:
        with suppress(OSError):  # already renamed, or its folder does not exist
            temporary.unlink(missing_ok=True)


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
