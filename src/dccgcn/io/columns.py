"""Which column of a table is what: as told, or guessed and then said."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from dccgcn.errors import Finding, GraphError
from dccgcn.io.frames import Table
from dccgcn.text import did_you_mean, first_few

Role = Literal["as-is", "max-abs", "standard", "categorical", "text"]
ROLES = get_args(Role)
NUMERIC: tuple[Role, ...] = ("as-is", "max-abs", "standard")

MISSING = frozenset({"", "nan", "NaN", "NA", "N/A", "#N/A", "<NA>", "null", "NULL", "None"})  # in a column of numbers
_MANY = 16  # from so many columns of counts on they are a bag of words, whose values are comparable as they are
_A_FEW = 0.05  # of the cells of a column
_AT_ONCE = 4_000_000  # cells that are turned into numbers at once

_NAMES = {
    "id": ("id", "node_id", "nodeid", "node", "key", "name"),
    "label": ("label", "class", "y", "target", "category", "topic"),
    "source": ("source", "src", "from", "u", "node1", "source_id", "citing"),
    "target": ("target", "dst", "to", "v", "node2", "target_id", "cited"),
    "weight": ("weight", "edge_weight", "w"),
}

_ID = re.compile(r"([\W_]id|[a-z]I[dD])$|^id[\W_]", re.ASCII)  # paper_id, paperId, id_paper


@dataclass(frozen=True)
class Columns:
    """What each column of the two tables is; enough to read further tables of the same form."""

    id: str
    label: str | None
    source: str
    target: str
    weight: str | None
    features: Mapping[str, Role] = field(default_factory=dict)


def find(table: Table, name: str, what: str) -> str:
    """A column that was named, or an error that lists the columns there are."""
    columns = table.frame.columns
    if name in columns:
        return name
    raise GraphError(
        f"{table.name} has no column {name[:60]!r} for the {what}.{did_you_mean(name, columns)}",
        f"Its columns are: {first_few(columns, 12)}.",
    )


def guess(table: Table, what: str, taken: Iterable[str | None], guessed: list[str], first: bool = False) -> str | None:
    """A free column by its usual names, else an id by its ending, else the first; it is added to the guesses."""
    free = [column for column in table.frame.columns if column not in set(taken)]
    by_name = {column.lower(): column for column in reversed(free)}
    found = next((by_name[name] for name in _NAMES[what] if name in by_name), None)
    if found is None and first:
        if not free:
            raise GraphError(
                f"{table.name} has {len(table.frame.columns)} columns, and none is left for the {what}.",
                f"Its columns are: {first_few(table.frame.columns, 12)}. Name the {what} column.",
            )
        found = next((column for column in free if what == "id" and _ID.search(column)), free[0])
    if found is not None:
        guessed.append(f"{what} {first_few([found])} of {table.name}")
    return found


def looks_headless(edges: Table, ids: pd.Series) -> bool:
    """Whether the names of the columns are ids of nodes: an edge list without a header."""
    names = edges.frame.columns[:2]
    usual = {*_NAMES["source"], *_NAMES["target"]}
    return edges.is_text and set(names) <= set(ids.tolist()) and not {name.lower() for name in names} <= usual


def matching(table: Table, patterns: Sequence[str], what: str) -> list[str]:
    """Columns by name or by patterns such as ``w*``, in the table's order."""
    columns = list(table.frame.columns)
    chosen: set[str] = set()
    for pattern in patterns:
        hits = [pattern] if pattern in columns else [column for column in columns if fnmatchcase(column, pattern)]
        chosen.update(hits or [find(table, pattern, what)])
    return [column for column in columns if column in chosen]


def typed(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The frame with these columns as float64 where all their cells are numbers or missing."""
    loose = [name for name in names if frame[name].dtype.kind not in "biuf" and not _is_categorical(frame[name])]
    if not loose:
        return frame
    parsed = {}
    width = max(1, _AT_ONCE // max(len(frame), 1))
    for start in range(0, len(loose), width):
        some_columns = loose[start : start + width]
        values, wrong = numbers(frame[some_columns])
        sound = ~wrong.any(axis=0) & ~np.isnan(values).all(axis=0)
        parsed.update({name: values[:, i] for i, name in enumerate(some_columns) if sound[i]})
    if not parsed:
        return frame
    others = frame[[name for name in frame.columns if name not in parsed]]
    return pd.concat([others, pd.DataFrame(parsed, index=frame.index)], axis=1)[list(frame.columns)]


def numbers(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """All cells as float64, NaN where missing; and which cells are neither numbers nor missing."""
    if all(dtype.kind in "biuf" for dtype in frame.dtypes):
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
        return values, np.zeros(values.shape, dtype=bool)
    cells = frame.to_numpy(dtype=object)
    try:
        codes, distinct = pd.factorize(cells.ravel())  # few distinct cells: parsing each once is ten times as fast
    except TypeError:  # lists and the like, as a Parquet file may hold
        return np.full(cells.shape, np.nan), np.ones(cells.shape, dtype=bool)
    distinct = np.asarray(distinct, dtype=object)
    parsed = pd.to_numeric(pd.Series([_plain(cell) for cell in distinct], dtype=object), errors="coerce")
    parsed = np.append(np.asarray(parsed, dtype=np.float64), np.nan)  # factorize gives -1 for None and NaN
    wrong = np.append(np.isnan(parsed[:-1]) & np.array([not _is_missing(cell) for cell in distinct], dtype=bool), False)
    return parsed[codes].reshape(cells.shape), wrong[codes].reshape(cells.shape)


def _plain(cell: Any) -> Any:
    return cell if isinstance(cell, str | int | float | np.number | bool | np.bool_) else None


def _is_missing(cell: Any) -> bool:
    return cell.strip() in MISSING if isinstance(cell, str) else isinstance(cell, float)


def roles(table: Table, names: Sequence[str], findings: list[Finding], scale: bool = True) -> dict[str, Role]:
    """A role for each of these columns, by what they hold; columns that say nothing are left out, and named."""
    frame = table.frame
    numeric = [name for name in names if frame[name].dtype.kind in "biuf"]
    chosen: dict[str, Role] = dict(zip(numeric, _numeric_roles(frame[numeric], scale), strict=True))
    words = {name: _word_role(frame[name]) for name in names if name not in chosen}
    chosen |= {name: role for name, role in words.items() if role}
    left_out = [name for name, role in words.items() if not role]
    findings += _nearly_numbers(table, words)
    commas = [name for name in words if _has_decimal_commas(frame[name])]
    if commas:
        text = f"Columns {first_few(commas)} of {table.name} look like numbers with a decimal comma, which are not read as such"
        findings.append(Finding("warning", "decimal-commas", f"{text}; write them with a point."))
    if empty := [name for name in left_out if frame[name].map(_is_empty).all()]:
        findings.append(Finding("note", "empty-columns", f"Columns {first_few(empty)} of {table.name} are empty."))
        left_out = [name for name in left_out if name not in empty]
    if left_out:
        text = (
            f"Columns {first_few(left_out)} of {table.name} hold names rather than words or classes and were left out"
        )
        findings.append(Finding("warning", "ignored-columns", f"{text}; --text or --categorical uses them."))
    by_role = {role: [name for name in names if chosen.get(name) == role] for role in ROLES}
    said = [f"as {_MEANING[role]}: {first_few(columns)}" for role, columns in by_role.items() if columns]
    if said:
        findings.append(Finding("note", "guessed-features", f"Features from {table.name}, {'; '.join(said)}."))
    return {name: chosen[name] for name in names if name in chosen}


_MEANING = {
    "as-is": "numbers",
    "max-abs": "numbers divided by their largest",
    "standard": "numbers brought to mean 0 and variance 1",
    "categorical": "classes",
    "text": "text",
}


def _nearly_numbers(table: Table, words: Mapping[str, Role | None]) -> Iterator[Finding]:
    """Columns in which a few cells keep all others from being read as numbers."""
    for name, role in words.items():
        values, wrong = numbers(table.frame[[name]])
        wrong = wrong[:, 0]
        if 0 < wrong.sum() <= _A_FEW * np.isfinite(values).sum():
            cells = first_few(dict.fromkeys(table.frame[name][wrong]))
            read = f"read as {_MEANING[role]}" if role else "left out"
            text = f"Column {first_few([name])} holds numbers but for {cells}, on {table.where(wrong)}, and is {read}"
            yield Finding("warning", "nearly-numbers", f"{text}; empty those cells if it should be numbers.")


def _numeric_roles(frame: pd.DataFrame, scale: bool) -> list[Role]:
    values, _ = numbers(frame)
    if not scale or values.size == 0:
        return ["as-is"] * values.shape[1]
    zero, one = values == 0, values == 1
    binary = (zero | one | np.isnan(values)).all(axis=0)
    mostly_zero = (np.nan_to_num(values, nan=0.0) >= 0).all(axis=0) & (zero.mean(axis=0) >= 0.5)
    bag = mostly_zero if mostly_zero.sum() >= _MANY else np.zeros_like(binary)
    return [
        "as-is" if b or w else "max-abs" if m else "standard" for b, w, m in zip(binary, bag, mostly_zero, strict=True)
    ]


def _word_role(cells: pd.Series) -> Role | None:
    """Classes if cells repeat, text if they hold several words; neither says nothing about a node."""
    if _is_categorical(cells):
        return "categorical"
    words = [cell for cell in cells if isinstance(cell, str) and cell.strip() not in MISSING]
    distinct = len(set(words))
    if 0 < distinct <= len(words) / 10:
        return "categorical"
    if words and np.mean([_word_count(cell) for cell in words[:1000]]) >= 3:
        return "text"
    return "categorical" if 0 < distinct <= max(len(words) / 2, min(len(words) - 1, 10)) else None


def _word_count(cell: str) -> int:
    """Words of letters, apart from one another: a date has none, and a link is one."""
    return sum(re.search(r"[^\W\d_]{2}", word) is not None for word in re.split(r"[\s,;|]+", cell))


def _is_empty(cell: Any) -> bool:
    return cell is None or cell is pd.NA or cell is pd.NaT or _is_missing(cell)


def _has_decimal_commas(cells: pd.Series) -> bool:
    first = [cell for cell in cells[:1000] if isinstance(cell, str) and cell.strip() not in MISSING]
    return bool(first) and all(re.fullmatch(r"\s*-?\d+,\d+\s*", cell) for cell in first)


def _is_categorical(cells: pd.Series) -> bool:
    return isinstance(cells.dtype, pd.CategoricalDtype)
