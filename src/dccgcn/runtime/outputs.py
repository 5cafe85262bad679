"""The one way in which results leave: as new files, or in place of earlier ones that dccgcn wrote."""

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from dccgcn.errors import DataFileError
from dccgcn.runtime.files import Content, temporary_path, write_atomically, write_errors

REPORT = "report.html"
REPORT_MARK = b'<meta name="generator" content="dccgcn'
_SPLIT_MARK = b'{"dataset": '
_COLUMNS = re.compile(
    "node_id|name|prediction|trust|trusted|probability|channels_agree|corrected|role|label|labelled_by|abstain|"
    "confidence|n_represented|reason|(prediction|probability)_.*",
    re.DOTALL,
)
_HEAD = 4000  # bytes of a file that its kind is read from


def check_output(path: str | Path, overwrite: bool = False, inputs: Iterable[Path] = ()) -> None:
    """Raise a DataFileError unless a result may be written to the path, so that no file of the user's is lost.

    path : a new file; with ``overwrite`` also one that dccgcn wrote. A database, to which tables are added, is checked
        where its tables are written.
    inputs : files and folders that the command reads: none of them, by whatever name or link, may be the output.
    """
    path = Path(path)
    for source in inputs:
        if _same(path, source) or (source.is_dir() and _holds_tables(source) and _same(path.parent, source)):
            raise DataFileError(
                f"{path} is read by this command, or lies in the folder {source} that is.", "Name another file."
            )
    if not (is_database(path) and path.is_file()):
        check_file(path, overwrite)


def check_file(path: str | Path, overwrite: bool = False) -> None:
    """Raise a DataFileError unless a whole file may be written to the path: never in place of a database."""
    path = Path(path)
    if not os.path.lexists(path):
        return
    if not path.is_file():
        raise DataFileError(f"{path} is not a regular file.", "Name a new file.")
    if (path.parent / "model.json").exists() and path.name != REPORT:
        raise DataFileError(f"{path} is part of the run in that folder.", "Name another file.")
    if not _is_ours(path):
        raise DataFileError(f"{path} is there already, and dccgcn did not write it.", "Name another file.")
    if not overwrite:
        raise DataFileError(
            f"{path} is there already.", "Name another file, or replace it with --overwrite (overwrite=True)."
        )


def check_writable(folder: Path) -> None:
    """Raise a DataFileError unless files can be written to the folder, before any work is done."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    probe = temporary_path(folder)
    try:
        with write_errors(folder, "Choose a folder in which you may write."):
            folder.mkdir(parents=True, exist_ok=True)
            probe.touch(exist_ok=False)
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
        for path in missing:  # as it was before
            with suppress(OSError):
                os.rmdir(path)


def write_output(path: str | Path, content: Content, overwrite: bool = False) -> None:
    """Write a file whole or not at all, where ``check_file`` allows one."""
    check_file(path, overwrite)
    write_atomically(path, content, replace=overwrite)


def _same(one: Path, other: Path) -> bool:
    """Whether both paths lead to one file or folder that is there."""
    with suppress(OSError):
        return one.samefile(other)
    return False


def is_database(path: Path) -> bool:
    """Whether the path names a database by its ending."""
    return path.suffix.lower() in (".sqlite", ".sqlite3", ".db", ".duckdb")


def are_ours(columns: Sequence[str]) -> bool:
    """Whether these are the columns of a table of predictions or labels that dccgcn wrote."""
    return (
        list(columns[:1]) == ["node_id"]
        and bool({"prediction", "labelled_by"} & set(columns))
        and all(map(_COLUMNS.fullmatch, columns))
    )


def _is_ours(path: Path) -> bool:
    """Whether dccgcn wrote a file: a report, a split, or a table with its columns."""
    with path.open("rb") as file:
        start = file.read(_HEAD)
    if REPORT_MARK in start or (start.startswith(_SPLIT_MARK) and b'"hash": ' in start):
        return True
    if start.startswith(b"PAR1") and find_spec("pyarrow") is not None:
        with suppress(Exception):  # a damaged file can raise nearly anything
            return are_ours(import_module("pyarrow.parquet").read_schema(path).names)
    with suppress(csv.Error):
        return are_ours(next(csv.reader(io.StringIO(start.decode(errors="ignore"), newline="")), []))
    return False


def _holds_tables(folder: Path) -> bool:
    """Whether a folder that is read is a table in parts, and not a run's, beside which a result may lie."""
    return not (folder / "model.json").exists()
