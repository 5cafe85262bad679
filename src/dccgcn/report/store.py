"""report.json, the report's data in the folder of a run."""

import json
from pathlib import Path

from pydantic import BaseModel, ValidationError

from dccgcn.errors import DataFileError
from dccgcn.report.schema import FORMAT, Report
from dccgcn.runtime import check_regular, write_atomically

FILE = "report.json"


class _Header(BaseModel):
    format: int


def to_json(report: Report) -> str:
    """The report's data as compact ASCII JSON."""
    return json.dumps(report.model_dump(), allow_nan=False, separators=(",", ":"))


def save_data(report: Report, folder: Path) -> None:
    """Write report.json, whole or not at all."""
    write_atomically(folder / FILE, to_json(report) + "\n")


def load_data(folder: Path) -> Report:
    """Read report.json and check every field."""
    path = folder / FILE
    try:
        if path.exists():
            check_regular(path)
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        remedy = "Name a folder that 'dccgcn fit --out FOLDER' wrote, or run it again."
        raise DataFileError(f"There is no {FILE} in {folder}.", remedy) from None
    except OSError as error:
        raise DataFileError(f"{path} cannot be read ({error.strerror}).", "Check the file's permissions.") from None
    remedy = "Run 'dccgcn fit --out FOLDER' again."
    if (folder / "model.json").exists():
        remedy = f"Delete {FILE} and run 'dccgcn report {folder}': the report is then made from the saved model."
    try:
        found = _Header.model_validate_json(content).format
        if found != FORMAT:
            raise DataFileError(f"{path} has format {found}; this version reads format {FORMAT}.", remedy)
        return Report.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        problem = f"{path} is not a report's data, or was altered: {where}: {first['msg']}."
        raise DataFileError(problem, remedy) from None
