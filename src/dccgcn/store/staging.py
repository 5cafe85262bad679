"""Replacing several files of a folder at once: after a crash at any moment all of them are old, or all are new.

All new files are written to a temporary folder inside the target. Renaming that folder to ``.new`` is the moment at
which they become valid; readers look there first. Then they are moved to their places one by one. A writer that finds
``.new`` finishes the move of the process that was stopped.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from dccgcn.errors import DataFileError
from dccgcn.runtime import Content, sync_folder, temporary_path, write_and_sync

STAGED = ".new"


def current_path(folder: Path, name: str) -> Path:
    """Where the valid version of a file is."""
    staged = folder / STAGED / name
    return staged if staged.exists() else folder / name


def replace_files(folder: Path, files: Mapping[str, Content], outdated: Iterable[str] = ()) -> None:
    """Replace these files, and remove the outdated ones. The caller holds the lock of the folder."""
    finish_move(folder)
    temporary = temporary_path(folder)
    try:
        temporary.mkdir()
        for name, content in files.items():
            write_and_sync(temporary / name, content)
        sync_folder(temporary)
        for name in outdated:
            (folder / name).unlink(missing_ok=True)
        os.replace(temporary, folder / STAGED)
        sync_folder(folder)
    except OSError as error:
        remedy = "Free some space, or choose another folder. What was there before is unchanged."
        raise DataFileError(f"{folder} cannot be written ({error.strerror or error}).", remedy) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    finish_move(folder)


def finish_move(folder: Path) -> None:
    """Move what a complete ``.new`` holds to its place. Repeated after a crash it continues."""
    staged = folder / STAGED
    if not staged.is_dir():
        return
    try:
        for name in sorted(os.listdir(staged)):
            os.replace(staged / name, folder / name)
        sync_folder(folder)
        staged.rmdir()
    except OSError as error:
        remedy = "The new files are complete; repeat the command to finish."
        raise DataFileError(f"{folder} cannot be written ({error.strerror or error}).", remedy) from error
