"""The catalogue of benchmark graphs (catalogue.yaml), and their files.

A file is taken from the data folder if its hash is right, and downloaded if it is not there.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import TypeAdapter

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.runtime import sha256
from dccgcn.text import did_you_mean

FOLDER_VARIABLE = "DCCGCN_DATA"

DatasetKind = Literal["citation", "co-author", "co-purchase", "social", "web", "grid"]


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset."""

    path: str  # below the data folder
    url: str | None  # public address, if there is one
    sha256: str


@dataclass(frozen=True)
class DatasetInfo:
    """A benchmark graph as it is known before its files are read."""

    name: str
    title: str
    kind: DatasetKind  # what its edges are
    description: str
    source: str
    format: Literal["embedded", "planetoid", "am-gcn", "citation-full", "citation-partial", "graph-npz"]
    classes: int
    features: int
    nodes: int
    pairs: int  # unique undirected pairs u < v, without self-loops
    isolated: int
    zero_rows: int | None  # None: unknown
    files: tuple[DataFile, ...] = ()
    paper_edges: int | None = None  # as the paper's Table 1 counts: raw lines, duplicates and self-loops included
    directed: bool = False  # whether the files give each edge from its source to its target


_ENTRIES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
DATASETS = {info.name: info for info in TypeAdapter(tuple[DatasetInfo, ...]).validate_python(_ENTRIES)}


def describe(name: str) -> DatasetInfo:
    """The catalogue entry of a dataset; nothing is read or downloaded."""
    try:
        return DATASETS[name]
    except KeyError:
        hint = did_you_mean(name.lower(), DATASETS)
        raise DccgcnError(f"There is no dataset {name!r}.{hint}", f"Choose one of: {', '.join(DATASETS)}.") from None


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder of the argument, else the one in DCCGCN_DATA, else a per-user cache."""
    named = folder or os.environ.get(FOLDER_VARIABLE)
    if not named:
        from platformdirs import user_cache_path

        return user_cache_path("dccgcn")
    return Path(named).expanduser()


def fetch(file: DataFile, folder: str | Path | None = None) -> Path:
    """The path of a file with the right hash. A file with another hash is refused and left untouched."""
    path = data_folder(folder) / file.path
    if path.is_file():
        actual = sha256(path)
        if actual != file.sha256:
            raise DataFileError(
                f"{path} is not the expected file: its SHA-256 is {actual}, not {file.sha256}.",
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
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no details'}"[:300]
        raise DataFileError(
            f"{file.path} is missing and could not be downloaded from {file.url} ({reason}).",
            f"Download it by other means and put it at {path}, or name the folder that holds it in {FOLDER_VARIABLE}.",
        ) from error
    return path
