"""Cells that hold lists: vectors of numbers (embeddings), which become a column each, and tags, which become words."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from dccgcn.errors import GraphError
from dccgcn.graph.cells import MISSING_FEATURES, is_missing
from dccgcn.text import first_few

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s,;]*")
_ENTRY = re.compile(r"(.+)\[(\d+)\]")  # the name of a vector's entry, such as embedding[3]
_PROBE = 100  # cells looked at to tell what a column holds


def is_list(cell: Any) -> bool:
    """Whether a cell holds several values."""
    return isinstance(cell, list | tuple | np.ndarray | set | frozenset)


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


def expand_as_trained(frame: pd.DataFrame, wanted: Iterable[str]) -> pd.DataFrame:
    """The frame of new nodes with the vectors expanded whose entries an encoder wants."""
    missing = [match for name in wanted if name not in frame.columns and (match := _ENTRY.fullmatch(name))]
    names = {match.group(1) for match in missing} & set(frame.columns)
    return expand_vectors(frame, [name for name in frame.columns if name in names])


def tags_as_text(cell: Any) -> str:
    """Tags as one word each: blanks and signs inside a tag become underscores, so that it is not taken apart.

    >>> tags_as_text(["science fiction", "drama"])
    'science_fiction drama'
    """
    words = (re.sub(r"\W+", "_", str(tag)).strip("_") for tag in cell if not is_missing(tag))
    return " ".join(word if len(word) > 1 else f"tag_{word}" for word in words if word)


def _holds_vectors(cells: pd.Series) -> bool:
    probe = islice((cell for cell in cells.iloc[: 10 * _PROBE] if not _is_empty(cell)), _PROBE)
    vectors: list[np.ndarray] = []
    for cell in probe:
        if (vector := _vector(cell)) is None or len(vector) == 0:
            return False
        vectors.append(vector)
    return bool(vectors) and not _are_codes(vectors)


def _are_codes(vectors: Sequence[np.ndarray]) -> bool:
    """Whether lists are sets of codes such as [17, 256], not vectors: whole numbers, on most nodes another number."""
    lengths = Counter(len(vector) for vector in vectors)
    return max(lengths.values()) <= len(vectors) / 2 and all((vector == np.floor(vector)).all() for vector in vectors)


def _is_empty(cell: Any) -> bool:
    return not is_list(cell) and is_missing(cell, MISSING_FEATURES)


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
    vectors = [None if _is_empty(cell) else _vector(cell) for cell in cells]
    lengths = {len(vector) for vector in vectors if vector is not None}
    wrong = [
        p for p, (cell, vector) in enumerate(zip(cells, vectors, strict=True)) if vector is None and not _is_empty(cell)
    ]
    where = cells.index.name or "row"
    if wrong:
        raise GraphError(
            f"Column {first_few([cells.name])} holds vectors, but not at {where} {_listed(cells, wrong)}.",
            "Give each node a list of numbers, or leave the column out (--ignore).",
        )
    if len(lengths) > 1:
        odd = [p for p, vector in enumerate(vectors) if vector is not None and len(vector) != max(lengths)]
        raise GraphError(
            f"The vectors of column {first_few([cells.name])} have different lengths: {first_few(sorted(lengths))}; "
            f"the shorter ones are at {where} {_listed(cells, odd)}.",
            "Give each node as many numbers, or leave the column out (--ignore).",
        )
    length = lengths.pop()
    return np.array([np.full(length, np.nan) if vector is None else vector for vector in vectors])


def _listed(cells: pd.Series, rows: Sequence[int]) -> str:
    return first_few(cells.index[list(rows)].tolist())
