"""Values in cells: numbers, vectors of numbers (embeddings), and tags."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import GraphError
from dccgcn.graph import MISSING_FEATURES, is_missing
from dccgcn.tables.table import Table
from dccgcn.text import first_few

_COMMA_NUMBER = re.compile(r"\s*-?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?\s*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan", re.IGNORECASE)
# an amount of money or a percentage, such as $24,310 or 34.5%; a sign of the unit stands on one side
_AMOUNT = re.compile(r"\s*(-?)\s*([$€£¥]?)\s*(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?\s*([%$€£¥]?)\s*")
_LONGEST_AMOUNT = 40  # characters
_CODE = re.compile(r"\s*0\d+\s*")
_SEPARATORS = re.compile(r"[\s,;]*")
_ENTRY = re.compile(r"(.+)\[(\d+)\]")  # the name of a vector's entry, such as embedding[3]
_PROBE = 100  # cells looked at to tell what a column holds


def is_empty(cell: Any) -> bool:
    """Whether a cell of a feature column holds no value."""
    return is_missing(cell, MISSING_FEATURES)


def is_list(cell: Any) -> bool:
    """Whether a cell holds several values."""
    return isinstance(cell, list | tuple | np.ndarray | set | frozenset)


def to_numbers(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """All cells as float64, NaN where missing; and which cells are neither numbers nor missing."""
    if all(dtype.kind in "biuf" for dtype in frame.dtypes):
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
        return values, np.zeros(values.shape, dtype=bool)
    cells = frame.to_numpy(dtype=object)
    try:  # cells repeat: parsing each distinct one once is ten times as fast
        codes, distinct = pd.factorize(cells.ravel())
    except TypeError:  # lists and the like, as a Parquet file may hold
        return np.full(cells.shape, np.nan), np.ones(cells.shape, dtype=bool)
    distinct = np.asarray(distinct, dtype=object)
    parsed = pd.to_numeric(pd.Series([_parsable(cell) for cell in distinct], dtype=object), errors="coerce")
    parsed = np.append(np.asarray(parsed, dtype=np.float64), np.nan)  # factorize gives -1 for None and NaN
    wrong = np.append(np.isnan(parsed[:-1]) & np.array([not is_empty(cell) for cell in distinct], dtype=bool), False)
    return parsed[codes].reshape(cells.shape), wrong[codes].reshape(cells.shape)


def _parsable(cell: Any) -> Any:
    """A cell that may be a number; of an amount its number, and of whole numbers beyond all floats infinity."""
    if isinstance(cell, str) and len(cell) <= _LONGEST_AMOUNT and (amount := _AMOUNT.fullmatch(cell)):
        return amount[1] + amount[3].replace(",", "") + (amount[4] or "") if amount[2] or amount[5] else cell
    if isinstance(cell, int) and abs(cell) >= 2**1023:
        return float("inf") if cell > 0 else float("-inf")
    return cell if isinstance(cell, str | int | float | np.number | bool | np.bool_) else None


def has_leading_zeros(cells: pd.Series) -> bool:
    """Whether some cells are text such as 09508, which is a code: a number would lose its zero."""
    return any(_CODE.fullmatch(cell) for cell in {cell for cell in cells if isinstance(cell, str)})


def decimal_points(table: Table, names: Sequence[str], decimal: str) -> Table:
    """The table with the numbers of these columns written with a decimal point.

    decimal: what the table uses. Numbers with a comma are an error if it is a point.
    """
    commas = [
        name for name in names if table.frame[name].dtype.kind not in "biuf" and _has_decimal_commas(table.frame[name])
    ]
    if not commas:
        return table
    if decimal != ",":
        raise GraphError(
            f"Columns {first_few(commas)} of {table.name} hold numbers with a comma.",
            "If it is a decimal comma, say so (--decimal ',', decimal=','); otherwise write the numbers without it, or "
            "read the columns as categories (--categorical).",
        )
    pointed = {
        name: table.frame[name].map(
            lambda cell: cell.replace(".", "").replace(",", ".") if isinstance(cell, str) else cell
        )
        for name in commas
    }
    return replace(table, frame=table.frame.assign(**pointed))


def _has_decimal_commas(cells: pd.Series) -> bool:
    texts = [text for text in {cell for cell in cells if isinstance(cell, str)} if not is_empty(text)]
    return any("," in text for text in texts) and all(map(_COMMA_NUMBER.fullmatch, texts))


def tags_as_text(cell: Any) -> str:
    """Tags as one word each: blanks and signs inside a tag become underscores, so that it is not taken apart.

    >>> tags_as_text(["science fiction", "drama"])
    'science_fiction drama'
    """
    words = (re.sub(r"\W+", "_", str(tag)).strip("_") for tag in cell if not is_missing(tag))
    return " ".join(word if len(word) > 1 else f"tag_{word}" for word in words if word)


def vector_columns(frame: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """The columns whose cells are lists of numbers, or text such as "[0.5, -1.2]", as a CSV file has them."""
    return [name for name in names if frame[name].dtype.kind not in "biufM" and _holds_vectors(frame[name])]


def expand_vectors(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The frame with each of these columns replaced by a column of numbers for each entry, such as embedding[0]."""
    if not names:
        return frame
    parts = []
    for name in frame.columns:
        if name not in names:
            parts.append(frame[[name]])
            continue
        values = _matrix(frame[name])
        entries = [f"{name}[{i}]" for i in range(values.shape[1])]
        parts.append(pd.DataFrame(values, index=frame.index, columns=pd.Index(entries, dtype=object)))
    return pd.concat(parts, axis=1)


def expand_as_trained(frame: pd.DataFrame, entries: Iterable[str]) -> pd.DataFrame:
    """The frame of new nodes with the vectors expanded whose entries an encoder needs."""
    matches = (_ENTRY.fullmatch(name) for name in entries if name not in frame.columns)
    vectors = {match.group(1) for match in matches if match}
    return expand_vectors(frame, [name for name in frame.columns if name in vectors])


def _holds_vectors(cells: pd.Series) -> bool:
    """Whether all cells are vectors, and not sets of codes such as [17, 256]."""
    probe = islice((cell for cell in cells.iloc[: 10 * _PROBE] if not is_empty(cell)), _PROBE)
    vectors: list[np.ndarray] = []
    for cell in probe:
        if (vector := _vector(cell)) is None or len(vector) == 0:
            return False
        vectors.append(vector)
    lengths = Counter(len(vector) for vector in vectors)
    if not lengths:
        return False
    differ = max(lengths.values()) <= len(vectors) / 2  # codes are whole numbers, and most nodes have another number
    return not (differ and all((vector == np.floor(vector)).all() for vector in vectors))


def _vector(cell: Any) -> np.ndarray | None:
    """The numbers of a cell; None if it is no list of numbers."""
    if isinstance(cell, str):
        text = cell.strip()
        if not (text.startswith("[") and text.endswith("]")) or not _SEPARATORS.fullmatch(_NUMBER.sub("", text[1:-1])):
            return None
        return np.array([float(number) for number in _NUMBER.findall(text)])
    if not is_list(cell) or isinstance(cell, set | frozenset):
        return None
    try:
        values = np.asarray(cell, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    is_text = any(isinstance(value, str) for value in list(cell)[:1])
    return values if values.ndim == 1 and not is_text else None


def _matrix(cells: pd.Series) -> np.ndarray:
    """(rows, length) float64; NaN in the rows of missing vectors."""
    vectors = [None if is_empty(cell) else _vector(cell) for cell in cells]
    wrong = [vector is None and not is_empty(cell) for cell, vector in zip(cells, vectors, strict=True)]
    place = cells.index.name or "row"
    if any(wrong):
        raise GraphError(
            f"Column {first_few([cells.name])} holds vectors, but not at {place} "
            f"{first_few(cells.index[wrong].tolist())}.",
            "Give each node a list of numbers, or leave the column out (--ignore).",
        )
    lengths = {len(vector) for vector in vectors if vector is not None}
    if len(lengths) > 1:
        short = [vector is not None and len(vector) != max(lengths) for vector in vectors]
        raise GraphError(
            f"The vectors of column {first_few([cells.name])} have different lengths: {first_few(sorted(lengths))}; "
            f"the shorter ones are at {place} {first_few(cells.index[short].tolist())}.",
            "Give each node as many numbers, or leave the column out (--ignore).",
        )
    length = lengths.pop()
    return np.array([np.full(length, np.nan) if vector is None else vector for vector in vectors])
