"""Every way in which dccgcn says that something is wrong: what, where, and how to mend it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


class DccgcnError(ValueError):
    """A mistake that the user can mend. The command line prints it and exits with code 2.

    A ValueError, so that scikit-learn and others who do not know this package take it for what it is.
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what} {remedy}".strip())
        self.what = what
        self.remedy = remedy


class GraphError(DccgcnError):
    """The features, edges, labels or ids of a graph do not fit together."""


class SettingsError(DccgcnError):
    """An option is unknown, of the wrong type or out of its range."""


class SplitError(DccgcnError):
    """A split asks for what the graph does not have."""


class DataFileError(DccgcnError):
    """A file is missing, altered, truncated or not of the expected form."""


class TrainingError(DccgcnError):
    """Training broke down; the message names the epoch."""


@dataclass(frozen=True)
class Finding:
    """Something odd that does not stop a run but belongs in its report."""

    level: Literal["warning", "note"]
    code: str  # short and stable, such as "isolated-nodes"
    text: str  # one sentence: what was seen and what was done about it

    def __str__(self) -> str:
        return f"{self.level}: {self.text}"


def check_word(name: str, given: str, known: Sequence[str], error: type[DccgcnError] = GraphError) -> None:
    """An option that takes one of a few words was given another."""
    if given not in known:
        raise error(f"{name}={given!r} is not known.", f"It is one of: {', '.join(known)}.")
