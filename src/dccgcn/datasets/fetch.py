"""The files of a dataset: from the data folder if their hashes are right, else downloaded."""

import os
from contextlib import suppress
from pathlib import Path

from dccgcn.datasets.info import DataFile
from dccgcn.errors import DataFileError
from dccgcn.runtime.files import sha256

FOLDER_VARIABLE = "DCCGCN_DATA"


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder given, else the one in DCCGCN_DATA, else a per-user cache."""
    named = folder or os.environ.get(FOLDER_VARIABLE)
    if not named:
        from platformdirs import user_cache_path

        return user_cache_path("dccgcn")
    return Path(named).expanduser()


def fetch(file: DataFile, folder: str | Path | None = None) -> Path:
    """The path of a file with the right hash. A file with another hash is refused and left untouched."""
    path = data_folder(folder) / file.path
    if path.is_file():
        found = sha256(path)
        if found != file.sha256:
            raise DataFileError(
                f"{path} is not the expected file: its SHA-256 is {found}, not {file.sha256}.",
                "Delete it and it will be downloaded again."
                if file.url
                else "Replace it by the right one; it has no public address.",
            )
        return path
    if file.url is None:
        raise DataFileError(
            f"{file.path} is missing and has no public address.",
            f"If you have it, put it at {path}, or name the folder that holds it in {FOLDER_VARIABLE}.",
        )
    import pooch  # slow to import

    try:
        # pooch downloads to a temporary file, checks the hash, and only then moves the file into place
        pooch.retrieve(file.url, f"sha256:{file.sha256}", fname=path.name, path=path.parent)
    except (OSError, ValueError) as error:  # no network or no space; wrong hash
        with suppress(OSError):  # pooch creates the folder first; remove it if empty
            path.parent.rmdir()
        raise DataFileError(
            f"{file.path} is missing and could not be downloaded from {file.url} ({_first_line(error)}).",
            f"Download it by other means and put it at {path}, or name the folder that holds it in {FOLDER_VARIABLE}.",
        ) from error
    return path


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no details'}"[:300]
