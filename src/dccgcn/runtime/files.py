"""Files that are either whole or not there, and their fingerprints."""

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

from dccgcn.errors import DataFileError


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file so that a crash or a full disk leaves the old one, never half of the new one."""
    path = Path(path)
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")  # same folder: a rename must not cross disks
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        is_misplaced = isinstance(error, IsADirectoryError | NotADirectoryError | FileExistsError)
        remedy = "Name a file in a folder." if is_misplaced else "Free some space, or choose another folder."
        raise DataFileError(f"{path} cannot be written ({error.strerror or error}).", remedy) from error
    finally:
        with suppress(OSError):  # gone where all went well, and nowhere to go where there is no folder
            temporary.unlink(missing_ok=True)


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
