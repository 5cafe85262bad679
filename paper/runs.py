"""The runs behind all pages in one compact Parquet file, and the stores of a folder."""

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dccgcn.errors import DataFileError
from dccgcn.runtime.files import lock_file, write_atomically
from dccgcn.workflow.runner import Row, Rows, append, read_store
from paper.measure import DIGITS, PaperJob
from paper.signals import FINAL, FIRST

RESULTS = Path("docs/results")
FILE = "runs.parquet"
JOB_FIELDS = tuple(field.name for field in fields(PaperJob))
# of the columns on confidence and trust, those that are kept of every run with trust
_SHORT = ("final_gap", "final_ece", "final_auroc_trust", "pool_auroc_margin")
_LEVEL = 19  # of compression


def job_of(row: Row) -> PaperJob:
    """The job of a stored run."""
    return PaperJob(**{name: row[name] for name in JOB_FIELDS if name in row})


def packed(rows: Rows, detailed: Collection[str]) -> bytes:
    """A Parquet file of one row per run; the same runs give the same bytes.

    detailed: keys of the runs whose signals of confidence are kept; of others only what the page on Concord reads.
    """
    frame = pd.DataFrame([_packed_row(row, key in detailed) for key, row in rows.items()])
    order = ["study", "dataset", "draw", "amount", "method", "settings", "options", "seed", "rule"]
    frame = frame.sort_values([name for name in order if name in frame], kind="stable", ignore_index=True)
    numbers = [name for name in frame.select_dtypes("float") if name not in ("amount", "seconds")]
    whole = [name for name in numbers if (frame[name].dropna() % 1 == 0).all()]
    frame = frame.astype(dict.fromkeys(numbers, "float32")).astype(dict.fromkeys(whole, "Int32"))
    table = pa.Table.from_pandas(frame[sorted(frame)], preserve_index=False).replace_schema_metadata(None)
    table = table.cast(pa.schema([_narrow(field) for field in table.schema]))
    buffer = BytesIO()
    pq.write_table(table, buffer, compression="zstd", compression_level=_LEVEL)
    return buffer.getvalue()


def _packed_row(row: Row, is_detailed: bool) -> Row:
    def is_kept(name: str) -> bool:
        of_trust = name == "bins" or name.startswith((FINAL, FIRST, "pool"))
        return name != "key" and (is_detailed or not of_trust or (name in _SHORT and "final_auroc_trust" in row))

    columns = {name: value for name, value in row.items() if is_kept(name)}
    return {**columns, "options": json.dumps(row["options"], sort_keys=True)} if "options" in row else columns


def _narrow(field: pa.Field) -> pa.Field:
    """Lists of numbers of 32 bits, or of fewer where they are whole or yes and no."""
    if not pa.types.is_list(field.type):
        return field
    values = field.type.value_type
    if pa.types.is_floating(values):
        values = pa.float32()
    elif pa.types.is_integer(values):
        values = pa.int16()
    return field.with_type(pa.list_(values))


def unpacked(path: Path) -> Rows:
    """The runs of a Parquet file by key; those of studies, which are no runs of jobs, by their position."""
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException):
        raise DataFileError(f"{path} is no complete Parquet file.", "Copy it again, or delete it.") from None
    rows = {}
    for position, values in enumerate(table.to_pylist()):
        row = {name: _rounded(value) for name, value in values.items() if value is not None}
        if "options" in row:
            row["options"] = json.loads(row["options"])
            row["key"] = job_of(row).key(row["settings"])
        rows[str(row.get("key", position))] = row
    return rows


def _rounded(value: Any) -> Any:
    """Floating-point numbers rounded as they were measured."""
    if isinstance(value, list):
        return [_rounded(x) for x in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def stores_in(folder: Path) -> list[Path]:
    """All stores of a folder, Parquet files first."""
    return [*sorted(folder.glob("*.parquet")), *sorted(folder.glob("*.jsonl"))]


def read_all(store: Path, others: Iterable[Path]) -> Rows:
    """Runs of several stores by key; on equal keys the first store takes precedence, then the last of the others."""
    rows: Rows = {}
    for other in others:
        if other != store:
            rows |= unpacked(other) if other.suffix == ".parquet" else read_store(other, repair=False)
    return rows | read_store(store)


def of_study(rows: Rows, study: str) -> pd.DataFrame:
    """The rows of a study as a data frame."""
    return pd.DataFrame([row for row in rows.values() if row.get("study") == study])


def stored_runs(store: Path, study: str, measure: Callable[..., Row], jobs: Iterable[tuple[Any, ...]]) -> list[Row]:
    """What is measured of each job of a study. Each row is stored at once, so a second call continues."""
    file = store / "studies" / f"{study}.jsonl"
    settings = PaperJob("cora", "public", 0, 0, "concord", 0).settings_hash()  # the defaults of Concord
    made = []
    with lock_file(file):
        rows = read_store(file)
        for job in jobs:
            key = " ".join(map(str, (*job, settings)))
            if key not in rows:
                rows[key] = {"key": key, **measure(*job)}
                append(file, rows[key])
                print(*job, flush=True)
            made.append(rows[key])
    return made


def write_study(
    out: Path, study: str, measured: Callable[[], pd.DataFrame] | None, page: Callable[[pd.DataFrame], str]
) -> None:
    """Write the page of a study, and replace its rows in the Parquet file of the folder.

    measured: makes the rows; None: those of the file.
    """
    rows = unpacked(out / FILE) if (out / FILE).exists() else {}
    if measured is not None:
        made = [
            {name: x for name, x in row.items() if name != "key" and (isinstance(x, list) or not pd.isna(x))}
            for row in measured().to_dict("records")
        ]
        others = {key: row for key, row in rows.items() if row.get("study") != study}
        detailed = {key for key, row in others.items() if "bins" in row}
        content = packed({**others, **{f"{study} {i}": row for i, row in enumerate(made)}}, detailed)
        write_atomically(out / FILE, content)
        rows = unpacked(out / FILE)
    runs = of_study(rows, study)
    if runs.empty:
        raise DataFileError(f"{out / FILE} has no runs of {study}.", "Leave --stored out, and they are measured.")
    write_atomically(out / f"{study}.md", page(runs))
