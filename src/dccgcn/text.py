"""Text for messages and pages: shortened lists, suggestions, printable names, Markdown tables."""

import difflib
from collections.abc import Iterable, Sequence


def first_few(items: Iterable[object], limit: int = 5, total: int | None = None) -> str:
    """The first ids, names or line numbers of a list, for a message. total: of how many, if not all are listed.

    >>> first_few([3, 1, 4, 1, 5, 9])
    '3, 1, 4, 1, 5, … (6 in all)'
    """
    listed = list(items)
    shown = ", ".join(_shortened_repr(item) for item in listed[:limit])
    total = len(listed) if total is None else total
    return shown if total <= limit else f"{shown}, … ({total} in all)"


def _shortened_repr(item: object) -> str:
    # an id may be ten kilobytes long or hold line breaks; a message must stay readable
    return truncate(repr(str(item)) if isinstance(item, str) else str(item), 60)


def counted(n: int, noun: str) -> str:
    """A number and what is counted, in the singular or plural.

    >>> counted(1, "feature"), counted(2000, "node")
    ('1 feature', '2,000 nodes')
    """
    return f"{n:,} {noun if n == 1 else noun + 's'}"


def truncate(text: str, limit: int) -> str:
    """The text, cut to a length; an ellipsis marks the cut.

    >>> truncate("semi-supervised", 5)
    'semi…'
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"


def printable(text: object, replacement: str = " ") -> str:
    """The text without control characters, line breaks and other unprintable characters.

    >>> printable("red\\x1b[31m")
    'red [31m'
    """
    return "".join(character if character.isprintable() else replacement for character in str(text))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A suggestion to append to an error message; empty if no known name is similar.

    >>> did_you_mean("concrod", ["concord", "gcn"])
    " Did you mean 'concord'?"
    """
    listed = {one.casefold(): one for one in known}
    similar = difflib.get_close_matches(name.casefold(), listed, n=1)
    return f" Did you mean {listed[similar[0]]!r}?" if similar else ""


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table. The first column is aligned left, the others right.

    >>> print(markdown_table(["method", "accuracy"], [["concord", "81.2"]]))
    | method | accuracy |
    |---|---:|
    | concord | 81.2 |
    """
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)
