"""Values in cells: numbers, dates, vectors of numbers (embeddings), and tags."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import chain, islice
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import GraphError
from dccgcn.graph import MISSING_FEATURES, is_missing
from dccgcn.text import first_few

_COMMA_NUMBER = re.compile(r"\s*-?(\d+|\d{1,3}(\.\d{3})+),\d+\s*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan", re.IGNORECASE)
# a number with separated thousands, an amount of money or a percentage: 24,310, $24,310 or 34.5%
_AMOUNT = {
    mark: re.compile(
        rf"\s*(-?)\s*([$€£¥]?)\s*(\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|\d+)({re.escape(mark)}\d+)?\s*([%$€£¥]?)\s*"
    )
    for mark, thousands in ((".", ","), (",", "."))
}
_LONGEST_AMOUNT = 40  # characters
_CODE = re.compile(r"\s*0\d+\s*")
_WRAPPED = re.compile(
    r"(?:np|numpy|torch)?\.?(?:float|int|uint|array|tensor)\d*\(|\)|,\s*dtype=[\w.]+"
)  # as numpy 2 prints
_SEPARATORS = re.compile(r"[\s,;]*")
_ENTRY = re.compile(r"(.+)\[(\d+|days|month|weekday|hour)\]")  # a part of a vector or a date, such as embedding[3]
_DATE = re.compile(r"\s*(\d|[A-Z][a-z]{2,8}\.? \d)[\w .,:/+-]*[-/. :]\d[\w.:+-]*\s*")
_DATE_FORMS = (
    "ISO8601",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %b %Y",
    "%d %B %Y",
)
_DATES = 0.95  # share of the cells of a column of dates
_PROBE = 100  # cells looked at to tell what a column holds


def is_empty(cell: Any) -> bool:
    """Whether a cell of a feature column holds no value."""
    return is_missing(cell, MISSING_FEATURES)


def is_list(cell: Any) -> bool:
    """Whether a cell holds several values."""
    return isinstance(cell, list | tuple | np.ndarray | set | frozenset)


def to_numbers(frame: pd.DataFrame, decimal: str = ".") -> tuple[np.ndarray, np.ndarray]:
    """All cells as float64, NaN where missing; and which cells are neither numbers nor missing."""
    if all(dtype.kind in "biuf" for dtype in frame.dtypes):
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
        return values, np.zeros(values.shape, dtype=bool)
    cells = frame.to_numpy(dtype=object)
    try:  # cells repeat: parsing each distinct one once is ten times as fast
        codes, distinct = pd.factorize(cells.ravel())
    except TypeError:  # lists and the like, as a Parquet file may hold
        return np.full(cells.shape, np.nan), np.ones(cells.shape, dtype=bool)
    plain = pd.Series([_plain_number(cell, decimal) for cell in distinct], dtype=object)
    parsed = np.append(np.asarray(pd.to_numeric(plain, errors="coerce"), dtype=np.float64), np.nan)  # -1: None and NaN
    wrong = np.append(np.isnan(parsed[:-1]) & np.array([not is_empty(cell) for cell in distinct], dtype=bool), False)
    return parsed[codes].reshape(cells.shape), wrong[codes].reshape(cells.shape)


def _plain_number(cell: Any, decimal: str) -> Any:
    """A cell that may be a number as pandas reads it; whole numbers beyond all floats are infinite."""
    if isinstance(cell, str) and len(cell) <= _LONGEST_AMOUNT and (amount := _AMOUNT[decimal].fullmatch(cell)):
        return amount[1] + re.sub(r"\D", "", amount[3]) + (amount[4] or "").replace(",", ".")
    if isinstance(cell, int) and abs(cell) >= 2**1023:
        return float("inf") if cell > 0 else float("-inf")
    return cell if isinstance(cell, str | int | float | np.number | bool | np.bool_) else None


def has_leading_zeros(cells: pd.Series) -> bool:
    """Whether some cells are text such as 09508, which is a code: a number would lose its zero."""
    return any(_CODE.fullmatch(cell) for cell in {cell for cell in cells if isinstance(cell, str)})


def refuse_decimal_commas(cells: pd.Series, where: str) -> None:
    """Raise a GraphError if cells that are no numbers are numbers with a decimal comma."""
    texts = {cell for cell in cells if isinstance(cell, str)}
    if texts and all(map(_COMMA_NUMBER.fullmatch, texts)):
        raise GraphError(
            f"Columns {first_few([cells.name])} of {where} hold numbers with a comma.",
            "If it is a decimal comma, say so (--decimal ',', decimal=','); otherwise write the numbers without it, or "
            "read the columns as categories (--categorical).",
        )


def date_form(cells: pd.Series) -> str | None:
    """The form of the dates or times in a column, as pandas calls it; None if it holds others."""
    if cells.dtype.kind == "M":
        return _DATE_FORMS[0]
    known = (cell for cell in cells if not is_empty(cell))
    probe = list(islice(known, _PROBE))
    if not probe or not all(isinstance(c, date) or (isinstance(c, str) and _DATE.fullmatch(c)) for c in probe):
        return None
    texts = pd.Series(
        list({cell if isinstance(cell, str) else cell.isoformat(): 0 for cell in chain(probe, known)}), dtype=object
    )
    fits = (form for form in _DATE_FORMS if _times(texts, form).notna().mean() >= _DATES)
    return next(fits, None)


def _times(cells: pd.Series, form: str) -> pd.Series:
    return pd.to_datetime(cells, format=form, errors="coerce", utc=True)


def _date_parts(cells: pd.Series, form: str) -> pd.DataFrame:
    """A column of dates as days since 1970, and as text the month, the weekday and the hour."""
    times = _times(cells.map(lambda cell: None if is_empty(cell) else cell), form)
    days = (times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    texts = {
        part: times.dt.strftime(code).astype(object)
        for part, code in (("month", "%m"), ("weekday", "%a"), ("hour", "%H"))
    }
    frame = pd.DataFrame({"days": days.astype(np.float64), **texts}, index=cells.index)
    return frame.set_axis([f"{cells.name}[{part}]" for part in frame], axis=1)


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


def expanded(frame: pd.DataFrame, vectors: Sequence[str], dates: Mapping[str, str]) -> pd.DataFrame:
    """The frame with a column for each entry of a vector (embedding[0]) and each part of a date (born[days]).

    dates: columns with the form of their dates.
    """
    if not vectors and not dates:
        return frame
    return pd.concat([_parts(frame[name], vectors, dates) for name in frame.columns], axis=1)


def _parts(cells: pd.Series, vectors: Sequence[str], dates: Mapping[str, str]) -> pd.Series | pd.DataFrame:
    if cells.name in dates:
        return _date_parts(cells, dates[str(cells.name)])
    if cells.name not in vectors:
        return cells
    values = _matrix(cells)
    entries = pd.Index([f"{cells.name}[{i}]" for i in range(values.shape[1])], dtype=object)
    return pd.DataFrame(values, index=cells.index, columns=entries)


def source_column(part: str) -> str:
    """The column that a column of ``expanded`` comes from."""
    match = _ENTRY.fullmatch(part)
    return match[1] if match else part


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
    """The numbers of a cell; None if it is no list of numbers. Without brackets, three or more that are not whole."""
    if isinstance(cell, str):
        text = _WRAPPED.sub("", cell).strip()
        is_marked = text.startswith("[") and text.endswith("]")
        text = text[1:-1] if is_marked else text
        numbers = _NUMBER.findall(text)
        is_listed = is_marked or (len(numbers) == len(re.split(r"[\s,;]+", text)) > 2 and "." in text)
        if not is_listed or not _SEPARATORS.fullmatch(_NUMBER.sub("", text)):
            return None
        return np.array([float(number) for number in numbers])
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
    length = Counter(len(vector) for vector in vectors if vector is not None).most_common(1)[0][0]
    found = zip(cells, vectors, strict=True)
    wrong = [not is_empty(cell) and (vector is None or len(vector) != length) for cell, vector in found]
    if any(wrong):
        raise GraphError(
            f"Column {first_few([cells.name])} holds vectors of {length} numbers, but not at "
            f"{cells.index.name or 'row'} {first_few(cells.index[wrong].tolist())}.",
            "Give each node a list of as many numbers, or leave the column out (--ignore).",
        )
    return np.array([np.full(length, np.nan) if vector is None else vector for vector in vectors])
