"""Atomic writing and hashes of files."""

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

from dccgcn.errors import DataFileError


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file completely or not at all: after a crash or on a full disk the old content is still there."""
    path = Path(path)
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")  # same folder: renaming is atomic on one disk
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        is_wrong_path = isinstance(error, IsADirectoryError | NotADirectoryError | FileExistsError)
        remedy = (
            "Give the path of a file in a folder." if is_wrong_path else "Free some space, or choose another folder."
        )
        raise DataFileError(f"{path} cannot be written ({error.strerror or error}).", remedy) from error
    finally:
        with suppress(OSError):  # already renamed, or its folder does not exist
            temporary.unlink(missing_ok=True)


def sha256(path: str | Path) -> str:
    """Hexadecimal SHA-256 of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
