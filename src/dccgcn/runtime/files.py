"""Reading, atomic writing and hashes of files."""

import hashlib
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from dccgcn.errors import DataFileError

_MAX_JSON = 2**30  # bytes


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file completely or not at all: after a crash or on a full disk the old content is still there.

    A process that was killed leaves a temporary file beside it, which the next call removes.
    """
    path = Path(path)
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")  # same folder: renaming is atomic on one disk
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_and_sync(temporary, content)
        os.replace(temporary, path)
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


def write_and_sync(path: Path, content: str | bytes) -> None:
    """Write a new file and wait until it is on disk."""
    with open(path, "xb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk; where a system cannot open folders, do nothing."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def check_regular(path: Path, what: str = "") -> None:
    """Raise a DataFileError unless the path is a regular file: a pipe or a device may never end."""
    if not path.is_file():
        kind = "missing" if not path.exists() else "not a regular file"
        raise DataFileError(f"{what or path} is {kind}.", "Give the path of a file.")


def read_json(path: Path, largest: int = _MAX_JSON) -> Any:
    """The content of a JSON file of at most so many bytes; whatever is wrong with it is a DataFileError."""
    check_regular(path)
    size = path.stat().st_size
    if size > largest:
        raise DataFileError(f"{path} has {size:,} bytes, more than the {largest:,} that are read.", "Check the file.")
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
