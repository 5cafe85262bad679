"""A run's folder: predictions.csv, settings.yaml, split.json, the model and result.json.

A run writes only to a folder that is new or empty, or, if asked to overwrite, to the folder of an earlier run. A folder
with any other file in it is refused, so that no file is ever replaced or removed that a run did not write.
"""

import json
from pathlib import Path

import pandas as pd

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.progress import Progress
from dccgcn.quality import rankings
from dccgcn.runtime import LOCK, STAGED, Content, current_path, is_temporary, lock_folder, read_json, replace_files
from dccgcn.settings import FORMAT as SETTINGS_FORMAT
from dccgcn.store.model_io import CARD, DESCRIPTION, TENSORS, model_files
from dccgcn.tables import Tables, csv_pieces, csv_text
from dccgcn.text import first_few, printable
from dccgcn.workflow import Result

RESULT = "result.json"
AUDIT, LABELS = "audit.json", "labels.sqlite"
_DERIVED = ("report.html", "report.json", AUDIT)  # made from a run by other commands
_LOG = (LABELS, f"{LABELS}-journal", "labels.lock")  # labels that people gave; a new run keeps them
_WRITTEN = ("predictions.csv", "settings.yaml", "split.json", TENSORS, CARD, DESCRIPTION, RESULT)
RUN_FILES = frozenset({*_WRITTEN, *_DERIVED, *_LOG})
RANKED = "ranked.csv"  # the first nodes of each class that is rare or never predicted, if there is one


def save_run(
    result: Result,
    folder: str | Path,
    tables: Tables | None,
    overwrite: bool,
    predictions: pd.DataFrame,
    command: str | None,
    progress: Progress | None = None,
) -> None:
    """Write all files of a run at once: after a crash at any moment the folder holds the earlier run or this one.

    tables: how the nodes were read, so that ``load_model`` can read new nodes in the same way. predictions: the rows of
    predictions.csv. command: what was typed, for settings.yaml.
    """
    folder = Path(folder)
    files: dict[str, Content] = {
        "predictions.csv": csv_pieces(predictions, "%.6f", progress),
        "settings.yaml": f"{_made_by(result, command)}format: {SETTINGS_FORMAT}\n{result.settings.to_yaml()}",
        "split.json": result.split.to_json(),
        **model_files(result, tables),
        RESULT: json.dumps(result.summary(), indent=2) + "\n",
    }
    ranked = rankings(result.graph, result.split, result.prediction)
    files |= {} if ranked is None else {RANKED: csv_text(ranked, float_format="%.6f")}
    check_run_folder(folder, overwrite)
    with lock_folder(folder):
        check_run_folder(folder, overwrite)  # again: another process may have finished meanwhile
        replace_files(folder, files, outdated={*_DERIVED, RANKED} - files.keys())


def _made_by(result: Result, command: str | None) -> str:
    """Comments: the whole command, if one was typed, and the options that give the same run again."""
    options = f"--method {result.method} --seed {result.seed} --settings settings.yaml --split split.json"
    again = f"# {result.method} again: {options}\n"
    # file names that are not UTF-8 reach Python as lone surrogates
    return again if command is None else f"# {printable(command.encode(errors='replace').decode())}\n{again}"


def check_run_folder(folder: Path, overwrite: bool) -> None:
    """Raise a DataFileError unless a run may write to the folder: it is new, empty, or of an earlier run."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DataFileError(f"{folder} is a file.", "Give the path of a folder.")
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise DataFileError(f"{folder} cannot be read ({error.strerror}).", "Choose another folder.") from None
    names = [name for name in names if name != LOCK and not is_temporary(name)]
    if not names:
        return
    foreign = [name for name in names if name not in RUN_FILES | {RANKED, STAGED}]
    if not foreign and not _is_run(folder):
        foreign = names
    if foreign:
        raise DataFileError(
            f"{folder} holds files that no run wrote: {first_few(foreign)}.",
            "Choose a new or empty folder; nothing was changed.",
        )
    if not overwrite:
        raise DataFileError(
            f"{folder} holds an earlier run.", "Choose another folder, or replace it with --overwrite (overwrite=True)."
        )


def _is_run(folder: Path) -> bool:
    """Whether model.json is one of a run's, of any version."""
    try:
        description = read_json(current_path(folder, DESCRIPTION))
    except DccgcnError:
        return False
    return isinstance(description, dict) and {"dccgcn", "format", "hash"} <= description.keys()
