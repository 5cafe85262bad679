"""Labels and predictions out: CSV, Parquet, tables of SQLite or DuckDB, and the report."""

import io
import sqlite3
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from dccgcn.api import Result
from dccgcn.artifacts.report.data import report_data
from dccgcn.artifacts.report.page import render
from dccgcn.errors import DccgcnError
from dccgcn.io.write import csv_text
from dccgcn.labelling.audits import summarise
from dccgcn.labelling.events import Labels
from dccgcn.labelling.source import Source
from dccgcn.runtime.extras import missing_extra
from dccgcn.runtime.files import write_atomically

if TYPE_CHECKING:
    from dccgcn.labelling.session import Session

FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "sqlite": "application/vnd.sqlite3",
    "duckdb": "application/octet-stream",
    "html": "text/html; charset=utf-8",
}


def labels_frame(source: Source, labels: Labels) -> pd.DataFrame:
    """One row per label: node_id, label, and who gave it. Disagreements without a decision are left out."""
    agreed, ids = labels.labels, source.graph.ids.tolist()
    rows = [
        (ids[position], agreed[node], ", ".join(sorted(who or "table" for who in labels.given[node])))
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
    """A file of this name. CSV and Parquet hold one table, a database all of them."""
    kind = name.rpartition(".")[2]
    if kind in ("sqlite", "duckdb"):
        return _database(kind, tables)
    (frame,) = tables.values()
    if kind == "csv":
        return csv_text(frame, float_format="%.6f").encode()
    if kind == "parquet":
        if find_spec("pyarrow") is None:
            raise missing_extra("pyarrow", "parquet", "Parquet")
        buffer = io.BytesIO()
        _plain(frame).to_parquet(buffer, index=False)
        return buffer.getvalue()
    raise DccgcnError(f"{name!r} has no known format.", "End it with .csv, .parquet, .sqlite or .duckdb.")


def write(path: Path, tables: dict[str, pd.DataFrame]) -> None:
    """Write a file whole or not at all."""
    write_atomically(path, content(path.name, tables))


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


def _database(kind: str, tables: dict[str, pd.DataFrame]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"answers.{kind}"
        if kind == "sqlite":
            database = sqlite3.connect(path)
            for name, frame in tables.items():
                _plain(frame).to_sql(name, database, index=False)
            database.close()
        else:
            if find_spec("duckdb") is None:
                raise missing_extra("duckdb", "duckdb", "A DuckDB file")
            duckdb: Any = import_module("duckdb")
            with duckdb.connect(str(path)) as connection:
                for name, frame in tables.items():
                    connection.register("frame", _plain(frame))
                    connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM frame')
                    connection.unregister("frame")
        return path.read_bytes()


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of numbers or of text: a column of ids of both kinds becomes text."""
    mixed = [name for name in frame if frame[name].dtype == object]
    return frame.assign(**{name: frame[name].map(str) for name in mixed})
