"""audit.json: the audit of a run's trusted predictions, which its report and its model card state."""

from pathlib import Path

from pydantic import ValidationError

from dccgcn.errors import DataFileError
from dccgcn.quality import AuditSummary
from dccgcn.report.page import render
from dccgcn.report.store import FILE, load_data, to_json
from dccgcn.runtime import check_regular, lock_folder
from dccgcn.store import AUDIT, CARD, model_card, replace_files
from dccgcn.workflow import Result

PAGE = "report.html"


def save_audit(audit: AuditSummary, result: Result, folder: Path) -> None:
    """Write audit.json, and state the audit in the model card and the report, all at once."""
    files = {AUDIT: audit.model_dump_json(indent=2) + "\n", CARD: model_card(result, audit)}
    if (folder / FILE).exists():
        report = load_data(folder).model_copy(update={"audit": audit})
        files[FILE] = to_json(report) + "\n"
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
