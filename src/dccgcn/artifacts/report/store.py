"""The report's data on disk: report.json in the folder of a run."""

import json
from pathlib import Path
from typing import Any

from dccgcn.errors import DataFileError
from dccgcn.runtime.files import write_atomically

FORMAT = 1  # rises when a field changes its meaning
FILE = "report.json"


def save_data(data: dict[str, Any], folder: Path) -> None:
    """Keep the report's data beside the other files of a run, whole or not at all."""
    write_atomically(folder / FILE, json.dumps(data, allow_nan=False, separators=(",", ":")) + "\n")


def load_data(folder: Path) -> dict[str, Any]:
    """The report's data of a run."""
    path = folder / FILE
    remedy = "Name a folder that 'dccgcn fit --out FOLDER' wrote, or run it again."
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        found = data["format"]
    except (FileNotFoundError, NotADirectoryError):
        raise DataFileError(f"There is no {FILE} in {folder}.", remedy) from None
    except (ValueError, TypeError, KeyError) as error:
        raise DataFileError(f"{path} is not a report's data ({type(error).__name__}: {error}).", remedy) from None
    if found != FORMAT:
        raise DataFileError(f"{path} is of format {found}; this version reads {FORMAT}.", remedy)
    return dict(data)
