"""Tables out: CSV that is safe to open in a spreadsheet, Parquet, SQLite and DuckDB, all read back unchanged."""

import csv
import io
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
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
from dccgcn.graph import NodeGraph, decode_labels
from dccgcn.progress import Progress, tracked
from dccgcn.runtime import are_ours, check_output, is_database, missing_extra, place, temporary_path, write_output
from dccgcn.tables.table import ALONE, ESCAPED

_PARQUET_ROWS = 1 << 20  # converted at a time
_CSV_ROWS = 1 << 17
_SQL_TYPES = {"i": "BIGINT", "f": "DOUBLE", "b": "BOOLEAN"}


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


def write_frames(
    tables: Mapping[str, pd.DataFrame],
    path: str | os.PathLike[str],
    overwrite: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write tables in the form of the file's ending: .csv, .parquet, .sqlite (or .db) or .duckdb.

    CSV and Parquet hold one table. A database gets a table of each name and keeps its others. A file that is there is
    an error, and so is a table of the same name; with ``overwrite`` one that dccgcn wrote is replaced.
    """
    path = Path(path)
    check_frames(list(tables), path, overwrite)
    if is_database(path):
        _write_database(tables, path, overwrite)
        return
    (frame,) = tables.values()
    if path.suffix.lower() == ".parquet":
        write_output(path, _parquet(storable(frame), progress), overwrite)
    else:
        write_output(path, csv_pieces(frame, "%.6f", progress), overwrite)


def check_frames(names: Sequence[str], path: Path, overwrite: bool) -> None:
    """Raise a DataFileError, or that an extra is missing, unless ``write_frames`` may write tables of these names."""
    check_output(path, overwrite)
    form = path.suffix.lower()
    if is_database(path):
        if form == ".duckdb" and find_spec("duckdb") is None:
            raise missing_extra("duckdb", "duckdb", "A DuckDB file")
        if path.exists():
            with _database(path, path) as database:
                _check_names(database, names, path, overwrite)
        return
    if len(names) > 1:
        raise DataFileError(f"{path} cannot hold {' and '.join(names)}.", "Name two files, or a database.")
    if form not in (".parquet", ".csv", ""):
        remedy = "Use .csv, .parquet, .sqlite or .duckdb."
        raise DataFileError(f"{path} ends in {form!r}, which is no form of a table.", remedy)
    if form == ".parquet" and find_spec("pyarrow") is None:
        raise missing_extra("pyarrow", "parquet", "A Parquet file")


def storable(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with columns of one type each, as Parquet and databases want them.

    Whole numbers beyond 64 bits, and columns of several types, become text.
    """
    return frame.assign(**{name: _of_one_type(frame[name]) for name in frame if frame[name].dtype == object})


def _of_one_type(cells: pd.Series) -> pd.Series:
    missing = [cell is None or cell is pd.NA or cell != cell for cell in cells]
    known = [cell for cell, is_missing in zip(cells, missing, strict=True) if not is_missing]
    kinds = {bool if isinstance(cell, np.bool_) else type(cell) for cell in known}
    if kinds == {int} and min(known) >= -(2**63) and max(known) < 2**63:
        return cells.astype("Int64")
    if kinds == {bool}:
        return cells.astype("boolean")
    texts = [None if is_missing else str(cell) for cell, is_missing in zip(cells, missing, strict=True)]
    return pd.Series(texts, index=cells.index, dtype=object)


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


def _write_database(tables: Mapping[str, pd.DataFrame], path: Path, overwrite: bool) -> None:
    """Add tables to a database in one transaction. A new database gets its name when it is complete."""
    is_new = not path.exists()
    place_of_work = temporary_path(path.parent) if is_new else path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _database(place_of_work, path) as database:
            _add_tables(database, tables, path, overwrite)
        if is_new:
            place(place_of_work, path, replace=False)
    finally:
        if is_new:
            place_of_work.unlink(missing_ok=True)


@contextmanager
def _database(file: Path, named: Path) -> Iterator[Any]:
    """A connection; errors inside the block become a DataFileError."""
    try:
        if named.suffix.lower() == ".duckdb":
            opened = import_module("duckdb").connect(str(file), config=ALONE)
        else:
            opened = sqlite3.connect(file, isolation_level=None)
        with closing(opened) as database:
            yield database
    except DccgcnError:
        raise
    except Exception as error:  # both databases have their own
        raise DataFileError(f"{named} cannot be written ({error}).", "Give a new file, or a database.") from None


def _add_tables(database: Any, tables: Mapping[str, pd.DataFrame], path: Path, overwrite: bool) -> None:
    is_sqlite = isinstance(database, sqlite3.Connection)
    database.execute("BEGIN")
    try:
        replaced = _check_names(database, list(tables), path, overwrite)
        for name, frame in tables.items():
            if name in replaced:
                database.execute(f'DROP TABLE "{name}"')
            stored = storable(frame)
            columns = [f'"{column.replace(chr(34), chr(34) * 2)}"' for column in map(str, stored.columns)]
            if is_sqlite:
                kinds = [_SQL_TYPES.get(dtype.kind, "TEXT") for dtype in stored.dtypes]
                listed = ", ".join(f"{column} {kind}" for column, kind in zip(columns, kinds, strict=True))
                rows = zip(*([None if c is pd.NA else c for c in stored[c].tolist()] for c in stored), strict=True)
                database.execute(f'CREATE TABLE "{name}" ({listed})')
                database.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(columns))})', rows)
            else:
                database.register("written", stored)
                database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM written')
                database.unregister("written")
        database.execute("COMMIT")
    except BaseException:
        database.execute("ROLLBACK")
        raise


def _names_of_tables(database: Any) -> list[str]:
    is_sqlite = isinstance(database, sqlite3.Connection)
    query = "SELECT name FROM sqlite_master" if is_sqlite else "SELECT table_name FROM information_schema.tables"
    return [row[0] for row in database.execute(query).fetchall()]


def _check_names(database: Any, names: Sequence[str], path: Path, overwrite: bool) -> list[str]:
    """The tables of these names that are there; a DataFileError unless dccgcn wrote them and may replace them."""
    present = {name.casefold() for name in _names_of_tables(database)}
    if isinstance(database, sqlite3.Connection) and "events" in present:
        raise DataFileError(f"{path} is a log of labels.", "Name another file.")
    for name in (replaced := [name for name in names if name.casefold() in present]):
        columns = [column[0] for column in database.execute(f'SELECT * FROM "{name}" LIMIT 0').description]
        if not are_ours(columns):
            raise DataFileError(f"{path} has a table {name} that dccgcn did not write.", "Name another file.")
        if not overwrite:
            remedy = "Choose another file, or replace the table with --overwrite (overwrite=True)."
            raise DataFileError(f"{path} has a table {name} already.", remedy)
    return replaced


def write_tables(graph: NodeGraph, folder: Path, labelled: np.ndarray | None = None) -> list[Path]:
    """Write a graph as nodes.csv and edges.csv; the paths.

    labelled: positions of the nodes whose labels are written. The labels of all others go to truth.csv, so that
    predictions can be checked. Default: all labels are written.
    """
    nodes, edges = to_frames(graph)
    files = {"edges.csv": edges}
    if labelled is not None:
        is_shown = np.isin(np.arange(graph.n), labelled)
        hidden = ~is_shown & (graph.labels >= 0)
        files["truth.csv"] = nodes.loc[hidden, ["id", "label"]]
        nodes["label"] = nodes["label"].where(is_shown, None)
    files["nodes.csv"] = nodes
    for name in files:
        check_output(folder / name)
    for name, frame in files.items():
        write_output(folder / name, csv_pieces(frame))
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
