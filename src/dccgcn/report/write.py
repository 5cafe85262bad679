"""Write the report of a run: its data to report.json, and one HTML file that shows them."""

from pathlib import Path

from dccgcn.progress import Progress
from dccgcn.quality import AuditSummary
from dccgcn.report.data import report_data
from dccgcn.report.nodes import OwnTable
from dccgcn.report.page import render
from dccgcn.report.schema import Report
from dccgcn.report.store import save_data
from dccgcn.runtime import threads_for, write_output
from dccgcn.workflow import Result


def write_report(
    result: Result,
    path: str | Path | None = None,
    overwrite: bool = False,
    folder: str | Path | None = None,
    command: str | None = None,
    progress: Progress | None = None,
    audit: AuditSummary | None = None,
    table: OwnTable | None = None,
) -> Report:
    """Write the report of a run, and return its data.

    path : the HTML file to write; None: no page. overwrite: replace an earlier report.
    folder : the run's folder, which gets report.json; None: the data are not kept.
    command : the command that made the run, shown on the page.
    audit : the audit of its trusted predictions, if there is one.
    table : the nodes' own rows, shown with each node.
    """
    with threads_for(2 * len(result.graph.edges)):
        report = report_data(result, command, progress, audit, table)
    if folder is not None:
        save_data(report, Path(folder))
    if path is not None:
        write_output(path, render(report), overwrite)
    return report
