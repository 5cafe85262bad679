"""Tables as CSV: safe to open in a spreadsheet, and read back unchanged."""

import csv
import io
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from dccgcn.errors import DataFileError, DccgcnError
from dccgcn.graph import NodeGraph
from dccgcn.graph.cells import decode_labels
from dccgcn.io.table import ESCAPED
from dccgcn.progress import Progress, tracked
from dccgcn.runtime.extras import missing_extra
from dccgcn.runtime.files import write_atomically

TABLE = "predictions"  # in a database
_PARQUET_ROWS = 1 << 20  # converted at a time
_CSV_ROWS = 1 << 17
_SQL_TYPES = {"i": "BIGINT", "u": "BIGINT", "f": "DOUBLE", "b": "BOOLEAN"}


def csv_text(frame: pd.DataFrame, float_format: str | None = None) -> str:
    """A table as CSV: ``csv_pieces`` as one text."""
    return b"".join(csv_pieces(frame, float_format)).decode()


def csv_pieces(
    frame: pd.DataFrame, float_format: str | None = None, progress: Progress | None = None
) -> Iterator[bytes]:
    """A table as CSV, some rows at a time.

    A text that a spreadsheet would run as a formula (it starts with =, +, -, @, a tab or a carriage return) gets an
    apostrophe in front, which marks text in spreadsheets and which our reader removes; so does a text that starts with
    an apostrophe. Columns of numbers are written unchanged.
    """
    others = [i for i, dtype in enumerate(frame.dtypes) if dtype.kind not in "biuf"]  # columns that may hold text
    texts = [i for i in others if any(isinstance(cell, str) for cell in frame.iloc[:, i])]
    typed = {i: pd.Series(frame.iloc[:, i].tolist()) for i in others if i not in texts}  # by all rows, not by a block
    names = [_safe(str(name)) for name in frame.columns]
    # a lone carriage return needs quotes too, which the csv module does not add
    cells = chain(names, chain.from_iterable(frame.iloc[:, i].tolist() for i in texts))
    returns = any("\r" in cell for cell in cells if isinstance(cell, str))
    quoting = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    starts = range(0, max(len(frame), 1), _CSV_ROWS)
    for start in tracked(starts, len(starts), "rows as CSV", progress):
        rows = frame.iloc[start : start + _CSV_ROWS].reset_index(drop=True)
        made = rows.set_axis(range(frame.shape[1]), axis=1)
        for i in texts:
            made[i] = pd.Series([_safe(cell) for cell in made[i].tolist()], dtype=object)
        for i, column in typed.items():
            made[i] = column.iloc[start : start + _CSV_ROWS].reset_index(drop=True)
        header = names if start == 0 else False
        text = made.to_csv(index=False, header=header, float_format=float_format, lineterminator="\n", quoting=quoting)
        yield text.encode()


def write_frame(
    frame: pd.DataFrame, path: str | os.PathLike[str], overwrite: bool = False, progress: Progress | None = None
) -> None:
    """Write a table in the form of the file's ending: .csv, .parquet, .sqlite (or .db) or .duckdb.

    In a database it is the table "predictions"; one that exists already is replaced only if asked to. Other tables of
    the database stay as they are.
    """
    path = Path(path)
    match path.suffix.lower():
        case ".parquet":
            if find_spec("pyarrow") is None:
                raise missing_extra("pyarrow", "parquet", "A Parquet file")
            write_atomically(path, _parquet(frame, progress))
        case ".sqlite" | ".sqlite3" | ".db":
            with _database_errors(path), closing(sqlite3.connect(path)) as database, database:
                _write_rows(database, frame, path, overwrite)
        case ".duckdb":
            try:
                duckdb = import_module("duckdb")
            except ModuleNotFoundError:
                raise missing_extra("duckdb", "duckdb", "A DuckDB file") from None
            with _database_errors(path), closing(duckdb.connect(str(path))) as database:
                _write_rows(database, frame, path, overwrite)
        case ".csv" | "":
            write_atomically(path, csv_pieces(frame, "%.6f", progress))
        case other:
            remedy = "Use .csv, .parquet, .sqlite or .duckdb."
            raise DataFileError(f"{path} ends in {other!r}, which is no form of a table.", remedy)


def _parquet(frame: pd.DataFrame, progress: Progress | None) -> bytes:
    """A table as Parquet, converted some rows at a time."""
    arrow, parquet, content = import_module("pyarrow"), import_module("pyarrow.parquet"), io.BytesIO()
    schema = arrow.Schema.from_pandas(frame, preserve_index=False)
    with parquet.ParquetWriter(content, schema) as writer:
        starts = range(0, max(len(frame), 1), _PARQUET_ROWS)
        for start in tracked(starts, len(starts), "rows as Parquet", progress):
            rows = frame.iloc[start : start + _PARQUET_ROWS]
            writer.write_table(arrow.Table.from_pandas(rows, schema=schema, preserve_index=False))
    return content.getvalue()


@contextmanager
def _database_errors(path: Path) -> Iterator[None]:
    """Errors of a database as a DataFileError."""
    try:
        yield
    except DccgcnError:
        raise
    except Exception as error:  # both databases have their own
        raise DataFileError(f"{path} cannot be written ({error}).", "Give a new file, or a database.") from None


def _write_rows(database: Any, frame: pd.DataFrame, path: Path, overwrite: bool) -> None:
    """Create the table "predictions" and fill it, in one transaction."""
    columns = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in map(str, frame.columns)]
    kinds = [_SQL_TYPES.get(dtype.kind, "VARCHAR") for dtype in frame.dtypes]
    lists = [[cell.item() if isinstance(cell, np.generic) else cell for cell in frame[name]] for name in frame.columns]
    texts = [
        [cell if cell is None else str(cell) for cell in cells] if kind == "VARCHAR" else cells
        for cells, kind in zip(lists, kinds, strict=True)
    ]
    if not overwrite and _has_table(database):
        remedy = "Choose another file, or replace it with --overwrite (overwrite=True)."
        raise DataFileError(f"{path} has a table {TABLE} already.", remedy)
    database.execute("BEGIN")
    try:
        database.execute(f"DROP TABLE IF EXISTS {TABLE}")
        listed = ", ".join(f"{name} {kind}" for name, kind in zip(columns, kinds, strict=True))
        database.execute(f"CREATE TABLE {TABLE} ({listed})")
        database.executemany(
            f"INSERT INTO {TABLE} VALUES ({', '.join('?' * len(columns))})", list(zip(*texts, strict=True))
        )
        database.execute("COMMIT")
    except BaseException:
        database.execute("ROLLBACK")
        raise


def _has_table(database: Any) -> bool:
    try:
        database.execute(f"SELECT 1 FROM {TABLE} LIMIT 1")
    except Exception:  # there is no such table
        return False
    return True


def write_tables(graph: NodeGraph, folder: Path, labelled: np.ndarray | None = None) -> list[Path]:
    """Write a graph as nodes.csv and edges.csv; the paths.

    labelled: positions of the nodes whose labels are written. The labels of all others go to truth.csv, so that
    predictions can be checked. Default: all labels are written.
    """
    nodes, edges = to_frames(graph)
    files = {"edges.csv": edges}
    if labelled is not None:
        given = np.isin(np.arange(graph.n), labelled)
        hidden = ~given & (graph.labels >= 0)
        files["truth.csv"] = nodes.loc[hidden, ["id", "label"]]
        nodes["label"] = nodes["label"].where(given, None)
    files["nodes.csv"] = nodes
    for name, frame in files.items():
        write_atomically(folder / name, csv_pieces(frame))
    return [folder / name for name in sorted(files)]


def to_frames(graph: NodeGraph) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A graph as a table of nodes (id, label, w0, w1, …) and one of edges (source, target, and weight if not all 1).

    The edges of several relations have a column ``relation`` too.
    """
    labels = decode_labels(graph.labels, graph.classes)
    dense = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    whole = bool((dense == np.round(dense)).all() and np.abs(dense).max(initial=0) < 2**31)
    features = pd.DataFrame(dense.astype(np.int64) if whole else dense, columns=[f"w{j}" for j in range(graph.d)])
    known = pd.DataFrame({"id": graph.ids, "label": pd.Series(labels, dtype=object)})
    return pd.concat([known, features], axis=1), _edge_frame(graph)


def _edge_frame(graph: NodeGraph) -> pd.DataFrame:
    (u, v), weights, relation = graph.edges.T, graph.weights, None
    if graph.relations:
        matrices = [sp.coo_array(m if graph.directed else sp.triu(m)) for m in graph.relations.values()]
        u, v, weights = (np.concatenate([getattr(m, part) for m in matrices]) for part in ("row", "col", "data"))
        relation = np.repeat(list(graph.relations), [m.nnz for m in matrices])
    edges: dict[str, Any] = {"source": graph.ids[u], "target": graph.ids[v]}
    if relation is not None:
        edges["relation"] = relation
    if (weights != 1).any():
        edges["weight"] = weights
    return pd.DataFrame(edges)


def _safe(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell[:1] and cell[0] in ESCAPED else cell
