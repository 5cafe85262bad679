"""The files of a report: report.json, audit.json and the page."""

from pathlib import Path

import pandas as pd
from pydantic import ValidationError

from dccgcn.errors import DataFileError
from dccgcn.progress import Progress
from dccgcn.quality import AuditSummary
from dccgcn.report.data import report_data
from dccgcn.report.page import render
from dccgcn.report.schema import FORMAT, Report
from dccgcn.runtime import check_regular, lock_folder, replace_files, threads_for, write_atomically, write_output
from dccgcn.store import AUDIT, CARD, model_card
from dccgcn.workflow import Result

FILE = "report.json"


def save_data(report: Report, folder: Path) -> None:
    """Write report.json, whole or not at all."""
    write_atomically(folder / FILE, report.to_json() + "\n")


def load_data(folder: Path) -> Report:
    """Read report.json and check every field."""
    path = folder / FILE
    if not path.exists():
        remedy = "Name a folder that 'dccgcn fit --out FOLDER' wrote, or run it again."
        raise DataFileError(f"There is no {FILE} in {folder}.", remedy)
    remedy = "Run 'dccgcn fit --out FOLDER' again."
    if (folder / "model.json").exists():
        remedy = f"Delete {FILE} and run 'dccgcn report {folder}': the report is then made from the saved model."
    try:
        check_regular(path)
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataFileError(f"{path} cannot be read ({error.strerror}).", "Check the file's permissions.") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["loc"] == ("format",) and isinstance(first["input"], int):
            raise DataFileError(
                f"{path} has format {first['input']}; this version reads format {FORMAT}.", remedy
            ) from None
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        problem = f"{path} is not a report's data, or was altered: {where}: {first['msg']}."
        raise DataFileError(problem, remedy) from None


def write_report(
    result: Result,
    path: str | Path | None = None,
    overwrite: bool = False,
    folder: str | Path | None = None,
    command: str | None = None,
    progress: Progress | None = None,
    audit: AuditSummary | None = None,
    rows: pd.DataFrame | None = None,
) -> Report:
    """Write the report of a run, and return its data.

    path : the HTML file to write; None: no page. overwrite: replace an earlier report.
    folder : the run's folder, which gets report.json; None: the data are not kept.
    command : the command that made the run, shown on the page.
    audit : the audit of its trusted predictions, if there is one.
    rows : the table of nodes, in the order of the graph, shown with each node; default: what its ``tables`` keep.
    """
    with threads_for(2 * len(result.graph.edges)):
        report = report_data(result, command, progress, audit, rows)
    if folder is not None:
        save_data(report, Path(folder))
    if path is not None:
        write_output(path, render(report), overwrite)
    return report


PAGE = "report.html"


def save_audit(audit: AuditSummary, result: Result, folder: Path) -> None:
    """Write audit.json, and state the audit in the model card and the report, all at once."""
    files = {AUDIT: audit.model_dump_json(indent=2) + "\n", CARD: model_card(result, audit)}
    if (folder / FILE).exists():
        report = load_data(folder).model_copy(update={"audit": audit})
        files[FILE] = report.to_json() + "\n"
        if (folder / PAGE).exists():
            files[PAGE] = render(report)
    with lock_folder(folder):
        replace_files(folder, files)


def read_audit(folder: Path) -> AuditSummary | None:
    """The audit of a run, if there is one."""
    path = folder / AUDIT
    if not path.exists():
        return None
    check_regular(path)
    try:
        return AuditSummary.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        remedy = f"Delete it and repeat 'dccgcn audit {folder}'."
        raise DataFileError(f"{path} is not an audit, or was altered ({str(error).splitlines()[0]}).", remedy) from None
