"""The role of each column of a table: as named by the user, else guessed and reported in a finding."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from dccgcn.errors import Finding, GraphError
from dccgcn.graph.cells import AMBIGUOUS_LABELS, MISSING_FEATURES, is_missing
from dccgcn.progress import Progress, tracked
from dccgcn.tables.lists import is_list
from dccgcn.tables.options import Impute
from dccgcn.tables.table import Table
from dccgcn.text import did_you_mean, first_few

Role = Literal["as-is", "max-abs", "standard", "categorical", "text"]
ROLES = get_args(Role)
NUMERIC: tuple[Role, ...] = ("as-is", "max-abs", "standard")

_BAG_OF_WORDS = 16  # so many columns of counts or more are a bag of words, whose values are comparable unscaled
_FEW = 0.05  # share of the cells of a column
_FEW_CELLS = 20  # in fewer cells no word is expected to repeat
_HUGE = 1e15  # numbers of 16 digits, which are ids more often than measurements
_COMMA_NUMBER = re.compile(r"\s*-?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?\s*")
_PARSED_AT_ONCE = 4_000_000  # cells

_NAMES = {
    "id": ("id", "node_id", "nodeid", "node", "key", "name"),
    "label": ("label", "class", "y", "target", "category", "topic"),
    "source": ("source", "src", "from", "u", "node1", "source_id", "citing"),
    "target": ("target", "dst", "to", "v", "node2", "target_id", "cited"),
    "weight": ("weight", "edge_weight", "w"),
}

_ID = re.compile(r"([\W_]id|[a-z]I[dD])$|^id[\W_]", re.ASCII)  # paper_id, paperId, id_paper


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of a table of edges by role."""

    source: str
    target: str
    weight: str | None = None
    relation: str | None = None  # names the relation of each edge


@dataclass(frozen=True)
class Columns:
    """The columns of all tables by role; enough to read further tables of the same form."""

    id: str
    label: str | None
    edges: Mapping[str, EdgeColumns]  # by the relation that a table holds; "": of one kind, or as a column names it
    name: str | None = None
    features: Mapping[str, Role] = field(default_factory=dict)


def find_column(table: Table, name: str, role: str) -> str:
    """The column of this name, or an error that lists the columns of the table."""
    columns = table.frame.columns
    if name in columns:
        return name
    raise GraphError(
        f"{table.name} has no column {name[:60]!r} for the {role}.{did_you_mean(name, columns)}",
        f"Its columns are: {first_few(columns, 12)}.",
    )


def guess_column(
    table: Table, role: str, taken: Iterable[str | None], guesses: list[str], required: bool = False
) -> str | None:
    """A free column with a usual name for the role. The guess is appended to ``guesses``.

    If there is none and the role is required: a column whose name ends like an id (for ids), else the first free one.
    Columns without a name are never free.
    """
    free = [column for column in table.frame.columns if column not in {*taken, *table.unnamed}]
    by_name = {column.lower(): column for column in reversed(free)}
    found = next((by_name[name] for name in _NAMES[role] if name in by_name), None)
    if found is None and required:
        if not free:
            raise GraphError(
                f"{table.name} has {len(table.frame.columns)} columns, and none is left for the {role}.",
                f"Its columns are: {first_few(table.frame.columns, 12)}. Name the {role} column.",
            )
        found = next((column for column in free if role == "id" and _ID.search(column)), free[0])
    if found is not None:
        guesses.append(f"{role} {first_few([found])} of {table.name}")
    return found


def lacks_header(edges: Table, ids: set[str]) -> bool:
    """Whether the column names of an edge table are ids of nodes: its first line is an edge."""
    names = edges.frame.columns[:2]
    usual = {*_NAMES["source"], *_NAMES["target"]}
    return edges.is_text and set(names) <= ids and not {name.lower() for name in names} <= usual


def match_columns(table: Table, patterns: Sequence[str], role: str) -> list[str]:
    """Columns by name or by patterns such as ``w*``, in the table's order."""
    columns = list(table.frame.columns)
    chosen: set[str] = set()
    for pattern in patterns:
        hits = [pattern] if pattern in columns else [column for column in columns if fnmatchcase(column, pattern)]
        chosen.update(hits or [find_column(table, pattern, role)])
    return [column for column in columns if column in chosen]


def parse_numeric_columns(table: Table, names: Sequence[str], impute: Impute, findings: list[Finding]) -> pd.DataFrame:
    """The frame with these columns as float64 where all their cells are numbers or missing.

    A column of numbers with a few other cells is an error, or these cells are missing if missing numbers are imputed.
    """
    frame = table.frame
    unparsed = [name for name in names if frame[name].dtype.kind not in "biuf" and not _is_categorical(frame[name])]
    if not unparsed:
        return frame
    parsed = {}
    width = max(1, _PARSED_AT_ONCE // max(len(frame), 1))
    for start in range(0, len(unparsed), width):
        part = unparsed[start : start + width]
        values, wrong = to_numbers(frame[part])
        numeric = ~wrong.any(axis=0) & ~np.isnan(values).all(axis=0)
        for i in np.flatnonzero(wrong.any(axis=0)):
            if _is_nearly_numeric(frame[part[i]], values[:, i], wrong[:, i]):
                findings += _bad_cells(table, part[i], wrong[:, i], impute)
                numeric[i] = True
        parsed.update({name: values[:, i] for i, name in enumerate(part) if numeric[i]})
    if not parsed:
        return frame
    others = frame[[name for name in frame.columns if name not in parsed]]
    return pd.concat([others, pd.DataFrame(parsed, index=frame.index)], axis=1)[list(frame.columns)]


def _is_nearly_numeric(cells: pd.Series, values: np.ndarray, wrong: np.ndarray) -> bool:
    """Whether nearly all cells are numbers, or all others are marks for a missing one, such as "unknown"."""
    n_numbers = int(np.isfinite(values).sum())
    if wrong.sum() <= _FEW * n_numbers:
        return True
    marks = {str(cell).strip().casefold() for cell in cells[wrong].iloc[:1000]}
    return n_numbers >= wrong.sum() and marks <= AMBIGUOUS_LABELS


def _bad_cells(table: Table, name: str, wrong: np.ndarray, impute: Impute) -> list[Finding]:
    """A finding about cells that are treated as missing, or an error if missing numbers are one."""
    cells = first_few(dict.fromkeys(str(cell) for cell in table.frame[name][wrong]))
    text = f"Column {first_few([name])} holds numbers except {cells}, on {table.where(wrong)}"
    if impute == "error":
        raise GraphError(
            f"{text}.",
            f"Fix or empty these cells, replace them by the mean of the column (--impute mean, impute='mean'), or read "
            f"the column as categories (--categorical {name}) or not at all (--ignore {name}).",
        )
    return [Finding("warning", "nearly-numbers", f"{text}; these cells count as missing.")]


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


def to_numbers(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """All cells as float64, NaN where missing; and which cells are neither numbers nor missing."""
    if all(dtype.kind in "biuf" for dtype in frame.dtypes):
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
        return values, np.zeros(values.shape, dtype=bool)
    cells = frame.to_numpy(dtype=object)
    try:
        codes, distinct = pd.factorize(
            cells.ravel()
        )  # cells repeat: parsing each distinct one once is ten times as fast
    except TypeError:  # lists and the like, as a Parquet file may hold
        return np.full(cells.shape, np.nan), np.ones(cells.shape, dtype=bool)
    distinct = np.asarray(distinct, dtype=object)
    parsed = pd.to_numeric(pd.Series([_parsable(cell) for cell in distinct], dtype=object), errors="coerce")
    parsed = np.append(np.asarray(parsed, dtype=np.float64), np.nan)  # factorize gives -1 for None and NaN
    wrong = np.append(np.isnan(parsed[:-1]) & np.array([not _is_empty(cell) for cell in distinct], dtype=bool), False)
    return parsed[codes].reshape(cells.shape), wrong[codes].reshape(cells.shape)


def _parsable(cell: Any) -> Any:
    """A cell that may be a number; whole numbers beyond all floats are infinite."""
    if isinstance(cell, int) and abs(cell) >= 2**1023:
        return float("inf") if cell > 0 else float("-inf")
    return cell if isinstance(cell, str | int | float | np.number | bool | np.bool_) else None


def guess_roles(
    table: Table,
    names: Sequence[str],
    findings: list[Finding],
    scale: bool = True,
    shown: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Role]:
    """A role for each of these columns, guessed from its cells.

    Uninformative columns are left out with a finding, except the column of names to show.
    """
    frame = table.frame
    numeric = [name for name in names if frame[name].dtype.kind in "biuf"]
    chosen: dict[str, Role] = dict(zip(numeric, _numeric_roles(frame[numeric], scale), strict=True))
    non_numeric = {name: _text_role(frame[name], progress) for name in names if name not in chosen}
    chosen |= {name: role for name, role in non_numeric.items() if role}
    left_out = [name for name, role in non_numeric.items() if not role]
    if huge := [name for name in numeric if _holds_huge_ids(frame[name])]:
        text = f"Columns {first_few(huge)} of {table.name} hold a different number of 16 digits or more on every node"
        findings.append(Finding("warning", "huge-numbers", f"{text}; if they are ids, leave them out (--ignore)."))
    if empty := [name for name in left_out if frame[name].map(_is_empty).all()]:
        findings.append(Finding("note", "empty-columns", f"Columns {first_few(empty)} of {table.name} are empty."))
        left_out = [name for name in left_out if name not in empty]
    if left_out := [name for name in left_out if name != shown]:
        text = (
            f"Columns {first_few(left_out)} of {table.name} look like names, not text or categories, and are not used"
        )
        findings.append(Finding("warning", "ignored-columns", f"{text}; --text or --categorical uses them."))
    by_role = {role: [name for name in names if chosen.get(name) == role] for role in ROLES}
    listed = [f"as {_MEANING[role]}: {first_few(columns)}" for role, columns in by_role.items() if columns]
    if listed:
        findings.append(Finding("note", "guessed-features", f"Features from {table.name}, {'; '.join(listed)}."))
    return {name: chosen[name] for name in names if name in chosen}


_MEANING = {
    "as-is": "numbers",
    "max-abs": "numbers divided by their largest",
    "standard": "numbers standardised to mean 0 and variance 1",
    "categorical": "categories",
    "text": "text",
}


def _numeric_roles(frame: pd.DataFrame, scale: bool) -> list[Role]:
    values, _ = to_numbers(frame)
    if not scale or values.size == 0:
        return ["as-is"] * values.shape[1]
    zero, one = values == 0, values == 1
    binary = (zero | one | np.isnan(values)).all(axis=0)
    mostly_zero = (np.nan_to_num(values, nan=0.0) >= 0).all(axis=0) & (zero.mean(axis=0) >= 0.5)
    bag = mostly_zero if mostly_zero.sum() >= _BAG_OF_WORDS else np.zeros_like(binary)
    return [
        "as-is" if b or w else "max-abs" if m else "standard" for b, w, m in zip(binary, bag, mostly_zero, strict=True)
    ]


def _text_role(cells: pd.Series, progress: Progress | None = None) -> Role | None:
    """Categorical if cells repeat, text if they hold words that repeat; None if neither, as such a column is a name."""
    if _is_categorical(cells):
        return "categorical"
    if any(is_list(cell) for cell in cells.iloc[:100]):
        return "text" if any(is_list(cell) and len(cell) for cell in cells) else None
    texts = _non_empty_texts(cells)
    distinct = len(set(texts))
    if 0 < distinct <= len(texts) / 10:
        return "categorical"
    n_words = float(np.mean([_word_count(text) for text in texts[:1000]])) if texts else 0.0
    listed = map(_words, tracked(texts, len(texts), f"role of {cells.name}", progress))
    if (n_words >= 3 and _tells_apart(_counted(listed), len(texts))) or _is_tags(texts[:1000]):
        return "text"
    if _is_codes(texts):
        return "text"
    if 0 < distinct <= max(len(texts) / 2, min(len(texts) - 1, 10)):
        return "categorical"
    if n_words < 2:
        return None
    count = _counted(map(_words, texts))
    return "text" if _tells_apart(count, len(texts)) and _repeated_share(count) >= 0.5 else None


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{2,}", text)


def _counted(listed: Iterable[Sequence[str]]) -> Counter[str]:
    """On how many nodes each word is. The lists may come one by one: those of a large table need gigabytes."""
    return Counter(chain.from_iterable(map(set, listed)))


def _tells_apart(count: Counter[str], n: int) -> bool:
    """Whether some word is on several nodes but not on most. "item 17" of every node is a name, for example."""
    return any(1 < times <= n / 2 for times in count.values()) or n < _FEW_CELLS


def _is_codes(texts: Sequence[str]) -> bool:
    """Whether cells list codes that repeat, such as "w15 w43 w201" or "17, 256, 1044"."""

    def codes(text: str) -> list[str]:
        return [code for code in re.split(r"[\s,;|]+", text) if re.search(r"\w", code)]

    if not texts or np.median([len(codes(text)) for text in texts]) < 3:
        return False
    count = _counted(map(codes, texts))
    return _tells_apart(count, len(texts)) and _repeated_share(count) >= 0.5


def _is_tags(texts: Sequence[str]) -> bool:
    """Whether cells are lists such as "drama|comedy", whose entries repeat."""
    listed = [re.split(r"\s*[;|]\s*", text.strip()) for text in texts]
    return sum(len(entries) > 1 for entries in listed) > len(texts) / 2 and _repeated_share(_counted(listed)) >= 0.5


def _repeated_share(count: Counter[str]) -> float:
    """Share of the words that occur on several nodes."""
    return sum(n for n in count.values() if n > 1) / max(sum(count.values()), 1)


def _non_empty_texts(cells: pd.Series) -> list[str]:
    return [cell for cell in cells if isinstance(cell, str) and not _is_empty(cell)]


def _word_count(cell: str) -> int:
    """Number of separate words of letters: a date has none, and a link is one."""
    return sum(re.search(r"[^\W\d_]{2}", word) is not None for word in re.split(r"[\s,;|]+", cell))


def _is_empty(cell: Any) -> bool:
    return is_missing(cell, MISSING_FEATURES)


def _has_decimal_commas(cells: pd.Series) -> bool:
    texts = [text for text in {cell for cell in cells if isinstance(cell, str)} if not _is_empty(text)]
    return any("," in text for text in texts) and all(map(_COMMA_NUMBER.fullmatch, texts))


def _holds_huge_ids(cells: pd.Series) -> bool:
    largest = cells.max()
    return not is_missing(largest) and bool(largest >= _HUGE and cells.nunique() == len(cells))


def _is_categorical(cells: pd.Series) -> bool:
    return isinstance(cells.dtype, pd.CategoricalDtype)
