"""Ids, labels and missing values: how each is recognised and written, wherever it comes from.

Tables with gaps store whole numbers as floats, so 2 and 2.0 are the same id and the same label.
"""

from collections.abc import Collection, Iterable, Sequence
from numbers import Number
from typing import Any

import numpy as np

from dccgcn.errors import GraphError
from dccgcn.text import first_few

# Text that means "no value". NA may be the name of a class, but not a number.
MISSING_LABELS = frozenset({"", "nan", "NaN", "None", "null", "NULL", "<NA>"})
MISSING_FEATURES = MISSING_LABELS | {"NA", "N/A", "#N/A"}
# Labels that are read as classes although they may mean "no value"; without regard to capitals.
AMBIGUOUS_LABELS = frozenset(
    {"na", "n/a", "n.a.", "none", "?", "-", "--", "unknown", "missing", "unlabelled", "unlabeled", "undefined"}
)

_BLANK = frozenset({""})


def is_missing(value: Any, spellings: Collection[str] = _BLANK) -> bool:
    """Whether a value is None, NaN, pandas' NA or NaT, or text that is one of the spellings.

    >>> is_missing(float("nan")), is_missing("  "), is_missing("NA"), is_missing("NA", MISSING_FEATURES)
    (True, True, False, True)
    """
    if isinstance(value, str):
        return value.strip() in spellings
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:  # without importing pandas
        return True
    return isinstance(value, Number | np.generic) and bool(value != value)


def is_text(value: str) -> bool:
    """Whether every file can hold a text: it has no lone surrogates and no NUL character."""
    try:
        return "\0" not in value and (value.isascii() or bool(value.encode()))
    except UnicodeEncodeError:
        return False


def is_too_long(value: Any) -> bool:
    """Whether a whole number has more digits, some 3,000, than Python and other programs read."""
    return type(value) is int and value.bit_length() > 10_000


def exact_type(value: Any) -> Any:
    """A value of NumPy, or of a subclass of text or whole numbers such as an enumeration, as Python's own."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return str.__str__(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def spell_id(value: Any) -> str:
    """An id as text, for comparisons.

    >>> spell_id(1), spell_id(1.0), spell_id("1"), spell_id(1.5)
    ('1', '1', '1', '1.5')
    """
    if is_too_long(value):
        raise GraphError("An id is a number of more than 3,000 digits.", "Give shorter ids.")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def plain_id(value: Any) -> str | int:
    """An id as text or a whole number, the two kinds that every file gives back equal; else a GraphError.

    >>> plain_id(np.uint64(2**63)), plain_id(2.0), plain_id("07")
    (9223372036854775808, 2, '07')
    """
    value = exact_type(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if is_missing(value):
        raise GraphError(f"An id is missing: {first_few([value])}.", "Give every node an id.")
    if isinstance(value, str) and not is_text(value):
        raise GraphError(f"The id {ascii(value)[:60]} is no valid text.", "Remove lone surrogates and NUL characters.")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise GraphError(
            f"An id is a {type(value).__name__}: {first_few([value])}.",
            "Ids are text or whole numbers: ids=map(str, …).",
        )
    return value


def spell_label(value: Any) -> Any:
    """A label as a plain Python value; whole floats become integers.

    >>> spell_label(2.0), spell_label(np.str_("a"))
    (2, 'a')
    """
    value = exact_type(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def decode_labels(labels: Iterable[int], classes: Sequence[Any]) -> list[Any]:
    """Class names of label codes; None for -1, an unlabelled node.

    >>> decode_labels([1, -1, 0], ["theory", "methods"])
    ['methods', None, 'theory']
    """
    return [None if code < 0 else classes[code] for code in labels]
