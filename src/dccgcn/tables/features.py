"""Feature columns: which columns of the nodes are features, and the role of each, as named or guessed."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain

import numpy as np
import pandas as pd

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import AMBIGUOUS_LABELS, is_missing
from dccgcn.progress import Progress, tracked
from dccgcn.tables.columns import Columns, Role, find_column, possible_labels
from dccgcn.tables.options import TableOptions
from dccgcn.tables.table import INDEX, Table
from dccgcn.tables.values import (
    date_form,
    expanded,
    has_leading_zeros,
    is_empty,
    is_list,
    refuse_decimal_commas,
    source_column,
    to_numbers,
    vector_columns,
)
from dccgcn.text import first_few

_MEANING: dict[Role, str] = {
    "as-is": "numbers",
    "max-abs": "numbers divided by their largest",
    "standard": "numbers standardised to mean 0 and variance 1",
    "categorical": "categories",
    "text": "text",
}
_BAG_OF_WORDS = 16  # so many columns of counts or more are a bag of words, whose values are comparable unscaled
_FEW = 0.05  # share of the cells of a column
_FEW_CELLS = 20  # in fewer cells no word is expected to repeat
_HUGE = 1e15  # numbers of 16 digits, which are ids more often than measurements
_SAMPLE = 500  # cells of a column, of which none may be a number
_PARSED_AT_ONCE = 4_000_000  # cells


def choose_features(
    table: Table, columns: Columns, options: TableOptions, findings: list[Finding], progress: Progress | None = None
) -> tuple[Table, Columns, dict[str, str]]:
    """The table with its numbers parsed, the columns with the role of each feature column, and the forms of dates."""
    if options["featureless"]:
        if options["features"] or options["text"] or options["categorical"]:
            raise GraphError(
                "Feature columns were named although the graph is read without features (--featureless, "
                "featureless=True).",
                "Leave out one of the two.",
            )
        return table, columns, {}
    declared: dict[str, Role | None] = dict.fromkeys(_matching(table, options["text"], "text"), "text")
    declared |= dict.fromkeys(_matching(table, options["categorical"], "categories"), "categorical")
    ignored = {columns.id, columns.label, *_matching(table, options["ignore"], "columns to ignore")}
    candidates = [name for name in table.frame.columns if name not in table.unnamed]
    if options["features"] is not None:
        candidates = _matching(table, options["features"], "features")
    elif unnamed := sorted(table.unnamed - ignored - {INDEX}):
        text = f"Columns without a name in {table.name} were not used: {first_few(unnamed)}; --features uses them."
        findings.append(Finding("note", "unnamed-columns", text))
    if columns.label is None:
        ignored |= set(possible_labels(table, columns.id))
    names = [name for name in table.frame.columns if name in {*candidates, *declared} - ignored]
    if not names:
        raise GraphError(
            f"{table.name} has no feature columns beside the id and the label.",
            "Add numbers, categories or text about each node, or learn from the edges alone (--featureless, "
            "featureless=True).",
        )
    undeclared = [name for name in names if name not in declared]
    vectors = vector_columns(table.frame, undeclared)
    numbers = _numbers(table, [name for name in undeclared if name not in vectors], options, findings)
    frame = pd.DataFrame({name: numbers.get(name, table.frame[name]) for name in table.frame}, table.frame.index)
    others = [name for name in undeclared if name not in vectors and name not in numbers]
    dates = {name: form for name in others if (form := date_form(frame[name]))}
    with table.named_in_errors():
        table = replace(table, frame=expanded(frame, vectors, dates))
    undeclared = [name for name in undeclared if name not in vectors and name not in dates]
    roles = declared | _guess_roles(table, undeclared, findings, options["scale"], options["name"], progress)
    for part in (name for name in table.frame if name not in frame):  # the scales of vectors are part of an embedding
        roles |= {part: "as-is" if source_column(part) in vectors else _role_in_date(table.frame[part])}
    for listed, code in ((vectors, "vectors"), (list(dates), "dates")):
        if listed:
            text = f"Columns {first_few(listed)} of {table.name} hold {code}; features are their"
            text += " numbers." if code == "vectors" else " time, and month, weekday and hour where they repeat."
            findings.append(Finding("note", code, text))
    if not roles:
        raise GraphError(
            f"No column of {table.name} can serve as a feature: {first_few(names)}.",
            f"Declare one of them text or categorical (--text {names[0]}, --categorical {names[0]}), or learn from the "
            "edges alone (--featureless, featureless=True).",
        )
    chosen = {name: role for name in table.frame if (role := roles.get(name))}
    return table, columns.model_copy(update={"features": chosen}), dates


def _matching(table: Table, patterns: Sequence[str], role: str) -> list[str]:
    """Columns by name or by patterns such as ``w*``, in the table's order."""
    columns = list(table.frame.columns)
    matches: set[str] = set()
    for pattern in patterns:
        hits = [pattern] if pattern in columns else [column for column in columns if fnmatchcase(column, pattern)]
        matches.update(hits or [find_column(table, pattern, role)])
    return [column for column in columns if column in matches]


def _numbers(
    table: Table, names: Sequence[str], options: TableOptions, findings: list[Finding]
) -> dict[str, np.ndarray]:
    """These columns as float64, of those whose cells are all numbers or missing.

    Whole numbers with leading zeros are codes. A few other cells in a column of numbers are missing.
    """
    frame = table.frame
    unparsed = [
        name
        for name in names
        if frame[name].dtype.kind not in "biufM"
        and not _is_categorical(frame[name])
        and not to_numbers(frame[[name]].iloc[:: len(frame) // _SAMPLE + 1])[1].all()
        and not has_leading_zeros(frame[name])
    ]
    parsed = {}
    width = max(1, _PARSED_AT_ONCE // max(len(frame), 1))
    for start in range(0, len(unparsed), width):
        part = unparsed[start : start + width]
        values, wrong = to_numbers(frame[part], options["decimal"])
        numeric = ~wrong.any(axis=0) & ~np.isnan(values).all(axis=0)
        for i in np.flatnonzero(wrong.any(axis=0)):
            refuse_decimal_commas(frame[part[i]][wrong[:, i]], table.name)
            if _is_nearly_numeric(frame[part[i]], values[:, i], wrong[:, i]):
                cells = first_few(dict.fromkeys(map(str, frame[part[i]][wrong[:, i]])))
                text = f"Column {first_few([part[i]])} holds numbers except {cells}, on {table.where(wrong[:, i])}"
                remedy = f"--impute mean takes these cells for missing; or --categorical {part[i]}, --ignore {part[i]}."
                if options["impute"] == "error":
                    raise GraphError(f"{text}.", remedy)
                findings.append(Finding("warning", "nearly-numbers", f"{text}; these cells count as missing."))
                numeric[i] = True
        parsed.update({name: values[:, i] for i, name in enumerate(part) if numeric[i]})
    return parsed


def _role_in_date(part: pd.Series) -> Role | None:
    """The role of the time of a date, or of a part of it, which is a category if it differs and repeats."""
    if part.dtype.kind == "f":
        return "standard"
    return "categorical" if 1 < part.nunique() <= len(part) / 2 else None


def _is_nearly_numeric(cells: pd.Series, values: np.ndarray, wrong: np.ndarray) -> bool:
    """Whether nearly all cells are numbers, or all others are marks for a missing one, such as "unknown"."""
    n_numbers = int(np.isfinite(values).sum())
    if wrong.sum() <= _FEW * n_numbers:
        return True
    marks = {str(cell).strip().casefold() for cell in cells[wrong].iloc[:1000]}
    return n_numbers >= wrong.sum() and marks <= AMBIGUOUS_LABELS


def _guess_roles(
    table: Table,
    names: Sequence[str],
    findings: list[Finding],
    scale: bool,
    name_column: str | None,
    progress: Progress | None,
) -> dict[str, Role]:
    """A role for each of these columns, guessed from its cells.

    Uninformative columns are left out with a finding, except the column of the nodes' names.
    """
    frame = table.frame
    numeric = [name for name in names if frame[name].dtype.kind in "biuf"]
    roles: dict[str, Role | None] = dict(zip(numeric, _numeric_roles(frame[numeric], scale), strict=True))
    roles |= {name: _text_role(frame[name], progress) for name in names if name not in roles}
    if huge := [name for name in numeric if _holds_huge_ids(frame[name])]:
        text = f"Columns {first_few(huge)} of {table.name} hold a different number of 16 digits or more on every node"
        findings.append(Finding("warning", "huge-numbers", f"{text}; if they are ids, leave them out (--ignore)."))
    unused = [name for name in names if roles[name] is None]
    empty = [name for name in unused if frame[name].map(is_empty).all()]
    if empty:
        findings.append(Finding("note", "empty-columns", f"Columns {first_few(empty)} of {table.name} are empty."))
    if unused := [name for name in unused if name not in (*empty, name_column)]:
        text = f"Columns {first_few(unused)} of {table.name} look like names, not text or categories, and are not used"
        findings.append(Finding("warning", "ignored-columns", f"{text}; --text or --categorical uses them."))
    by_role = {role: [name for name in names if roles[name] == role] for role in _MEANING}
    listed = [f"as {_MEANING[role]}: {first_few(columns)}" for role, columns in by_role.items() if columns]
    if listed:
        findings.append(Finding("note", "guessed-features", f"Features from {table.name}, {'; '.join(listed)}."))
    return {name: role for name in names if (role := roles[name])}


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
    texts = [cell for cell in cells if isinstance(cell, str) and not is_empty(cell)]
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


def _word_count(cell: str) -> int:
    """Number of separate words of letters: a date has none, and a link is one."""
    return sum(re.search(r"[^\W\d_]{2}", word) is not None for word in re.split(r"[\s,;|]+", cell))


def _counted(listed: Iterable[Sequence[str]]) -> Counter[str]:
    """On how many nodes each word is. The lists may come one by one: those of a large table need gigabytes."""
    return Counter(chain.from_iterable(map(set, listed)))


def _tells_apart(count: Counter[str], n: int) -> bool:
    """Whether some word is on several nodes but not on most. "item 17" of every node is a name, for example."""
    return any(1 < times <= n / 2 for times in count.values()) or n < _FEW_CELLS


def _repeated_share(count: Counter[str]) -> float:
    """Share of the words that occur on several nodes."""
    return sum(n for n in count.values() if n > 1) / max(sum(count.values()), 1)


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


def _holds_huge_ids(cells: pd.Series) -> bool:
    largest = cells[np.isfinite(cells.to_numpy(np.float64, na_value=np.nan))].max()
    return not is_missing(largest) and bool(largest >= _HUGE and cells.nunique() == len(cells))


def _is_categorical(cells: pd.Series) -> bool:
    return isinstance(cells.dtype, pd.CategoricalDtype)
