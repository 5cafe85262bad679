"""Labels and predictions out: as tables, and as the report."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from dccgcn.errors import DccgcnError
from dccgcn.label.audits import summarise
from dccgcn.label.events import Annotations
from dccgcn.label.source import Source
from dccgcn.report import render, report_data
from dccgcn.tables import write_frames
from dccgcn.workflow import Result

if TYPE_CHECKING:
    from dccgcn.label.session import Session

FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "sqlite": "application/vnd.sqlite3",
    "duckdb": "application/octet-stream",
    "html": "text/html; charset=utf-8",
}


def labels_frame(source: Source, labels: Annotations) -> pd.DataFrame:
    """One row per label: node_id, label, and who gave it. Disagreements without a decision are left out."""
    agreed, ids = labels.labels, source.graph.ids.tolist()
    rows = [
        (ids[position], agreed[node], ", ".join(sorted(who or "table" for who in labels.answers[node])))
        for node, position in source.position.items()
        if node in agreed
    ]
    return pd.DataFrame(rows, columns=["node_id", "label", "labelled_by"])


def predictions_frame(result: Result | None) -> pd.DataFrame:
    """The columns of predictions.csv."""
    if result is None:
        raise DccgcnError("Nothing is predicted yet.", "Label nodes of at least two classes.")
    return result.to_frame()


def content(name: str, tables: dict[str, pd.DataFrame]) -> bytes:
    """A file of this name as bytes. CSV and Parquet hold one table, a database all of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"download.{name.rpartition('.')[2]}"
        write_frames(tables, path)
        return path.read_bytes()


def exported(session: "Session", name: str) -> bytes:
    """A download of the page: labels or predictions in one format, or both as the tables of a database."""
    what, _, kind = name.partition(".")
    picture = session.picture
    tables: dict[str, Any] = {
        "labels": lambda: labels_frame(session.source, session.labels),
        "predictions": lambda: predictions_frame(picture.result if picture else None),
    }
    if kind in ("sqlite", "duckdb") and what == "answers":
        return content(name, {table: make() for table, make in tables.items()})
    if kind not in ("csv", "parquet") or what not in tables:
        raise DccgcnError("There is no such download.", "Reload the page.")
    return content(name, {what: tables[what]()})


def report_html(session: "Session") -> bytes:
    """The report of the present predictions, with the latest audit."""
    picture = session.picture
    if picture is None or picture.result is None:
        raise DccgcnError("Nothing is predicted yet.", "Label nodes of at least two classes.")
    audit = summarise(session.labels.audits[-1]) if session.labels.audits else None
    return render(report_data(picture.result, audit=audit)).encode()
