"""Table: cells of a file or a DataFrame, unchanged, each row with its place in the file."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from dccgcn.errors import DataFileError, Finding, GraphError
from dccgcn.kernels import Texts
from dccgcn.runtime import largest_table
from dccgcn.text import first_few

TableSource: TypeAlias = Any  # a path, a DataFrame or the like of another library, columns by name, or pairs
Cells: TypeAlias = "Texts | pd.Series"  # of one column

LIMIT_VARIABLE = "DCCGCN_TABLE_GB"  # environment variable
_LARGEST_UNPACKED = 4e9  # bytes, unless the variable says otherwise
ESCAPED = "=+-@\t\r'"  # spreadsheets run cells that start like this as formulas, unless after an apostrophe
ALONE = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}  # how DuckDB is opened
INDEX = "index"  # column of a DataFrame's index without a name
_UNNAMED = re.compile(rf"Unnamed: \d+|column_\d+|__index_level_\d+__|{INDEX}")  # by pandas or by this module


@dataclass(frozen=True, eq=False)
class Table:
    """A table whose index gives the place of each row in its file.

    The index is called "line" and counts the lines of a text file from 1, or "row" and counts rows from 0.
    """

    frame: pd.DataFrame  # columns have text names, none twice
    name: str  # for messages, such as "nodes.csv"
    findings: tuple[Finding, ...] = ()

    def where(self, rows: Any) -> str:
        """The place of rows, given by position or mask, for messages."""
        return self.places(self.frame.index[rows].tolist())

    def places(self, numbers: Sequence[int], total: int | None = None) -> str:
        """Numbers of lines or rows, for messages. total: of how many, if not all are listed."""
        count = len(numbers) if total is None else total
        return f"{self.frame.index.name}{'s' if count > 1 else ''} {first_few(numbers, total=total)} of {self.name}"

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Prefix errors with the name of the table, for functions that see only its frame."""
        try:
            yield
        except GraphError as error:
            raise GraphError(f"{self.name}: {error.what}", error.remedy) from None

    @property
    def unnamed(self) -> set[str]:
        """Columns without a name in the file, such as the index that pandas writes. They are never guessed."""
        return {column for column in self.frame.columns if _UNNAMED.fullmatch(column)}

    @property
    def is_text(self) -> bool:
        """Whether the table comes from a text file, so that every cell is text."""
        return bool(self.frame.index.name == "line")


@dataclass(frozen=True, eq=False)
class TableRows:
    """Some rows of a table."""

    columns: dict[str, Cells]  # text without protecting apostrophes, or cells with the types of a file or DataFrame
    numbers: np.ndarray  # (rows,) the line or row of each in its file


@dataclass(frozen=True, eq=False)
class OpenTable(Table):
    """A table that is read some rows at a time, so that one of any length takes little memory.

    ``frame`` holds its first rows, ``batches`` gives some columns of all rows.
    """

    batches: Callable[[Sequence[str]], Iterator[TableRows]] = lambda columns: iter(())
    n_rows: int = 0  # of text files estimated from the first lines


def plain_table(frame: pd.DataFrame, name: str) -> Table:
    """A DataFrame as a table whose rows are counted from 0."""
    index = frame.index
    if index.nlevels > 1 or index.name is not None or not isinstance(index, pd.RangeIndex):
        names = [INDEX if name is None else name for name in index.names]
        levels = {name: index.get_level_values(i) for i, name in enumerate(names) if name not in frame}
        frame = pd.concat([pd.DataFrame(levels, index=index), frame], axis=1)
    numbered = frame.set_axis(pd.RangeIndex(len(frame), name="row"))
    return Table(named_columns(numbered, [str(column) for column in frame.columns], name), name)


def any_frame(source: Any, what: str) -> pd.DataFrame | None:
    """A table in memory as a DataFrame; None of a path. Whole numbers with gaps stay whole."""
    if isinstance(source, str | os.PathLike | pd.DataFrame):
        return source if isinstance(source, pd.DataFrame) else None
    try:
        if isinstance(source, Mapping):
            return pd.DataFrame({str(name): list(cells) for name, cells in source.items()})
        if is_pairs(source):
            is_long = isinstance(source, list | tuple) or np.shape(source)[0] != 2 or np.shape(source)[1] in (2, 3)
            pairs = pd.DataFrame(list(source) if is_long else np.asarray(source).T)
            return pairs.set_axis(["source", "target", "weight"][: pairs.shape[1]], axis=1)
        import narwhals

        frame: Any = narwhals.from_native(source)
        frame = frame.collect() if isinstance(frame, narwhals.LazyFrame) else frame
        return pd.DataFrame({name: _cells(frame[name]) for name in frame.columns})
    except ImportError as error:
        raise DataFileError(f"The table of {what} needs {error.name}.", "pip install 'dccgcn[parquet]'") from None
    except (TypeError, ValueError) as error:
        raise GraphError(
            f"The table of {what} is a {type(source).__name__} that cannot be read ({error}).",
            "Give a path, a DataFrame of pandas, polars, PyArrow or DuckDB, or a mapping of column names to lists.",
        ) from None


def _cells(column: Any) -> Any:
    if column.dtype.is_numeric() and not column.null_count():
        return column.to_numpy()
    return pd.Series(column.to_list(), dtype=object)


def is_pairs(source: Any) -> bool:
    """Whether an object is an array or list of pairs (or triples with weights) of ids."""
    if isinstance(source, list | tuple):
        return bool(source) and isinstance(source[0], list | tuple | np.ndarray)
    return hasattr(source, "__array__") and getattr(source, "ndim", 0) == 2 and not hasattr(source, "columns")


def named_columns(frame: pd.DataFrame, names: list[str], what: str) -> pd.DataFrame:
    """The frame with these column names, none twice; a column without a name is called column_N."""
    names = [name.strip() or f"column_{position}" for position, name in enumerate(names, 1)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise GraphError(f"Columns of {what} share a name: {first_few(twice)}.", "Give every column a name of its own.")
    frame.columns = pd.Index(names, dtype=object)
    return frame


def open_in_memory(table: Table) -> OpenTable:
    """A table whose rows are there already, as one to be read in pieces."""

    def batches(columns: Sequence[str]) -> Iterator[TableRows]:
        yield TableRows({column: table.frame[column] for column in columns}, table.frame.index.to_numpy())

    return OpenTable(table.frame, table.name, table.findings, batches, len(table.frame))


def table_limit() -> int:
    """Bytes that a packed table may unpack to: a small file can stand for any number of them."""
    gigabytes = os.environ.get(LIMIT_VARIABLE)
    if gigabytes is None:
        return int(min(_LARGEST_UNPACKED, largest_table()))
    try:
        return int(float(gigabytes) * 1e9)
    except (ValueError, OverflowError):
        raise DataFileError(
            f"{LIMIT_VARIABLE}={gigabytes[:40]!r} is not a number.", "Give gigabytes, such as 8."
        ) from None


def too_large(path: Path, limit: int, cause: str = "") -> DataFileError:
    """The error of a file that unpacks to more than the limit. cause: the cell or column that takes most of it."""
    return DataFileError(
        f"{path} unpacks to more than {limit / 1e9:.3g} GB{f', most of it for {cause}' if cause else ''}.",
        f"If that is right, raise the limit: {LIMIT_VARIABLE}={2 * limit / 1e9:.3g}.",
    )
