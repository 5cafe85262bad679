"""Errors and findings. Each message says what is wrong, where, and how to fix it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


class DccgcnError(ValueError):
    """An error that the user can fix. The command line prints it and exits with code 2.

    A ValueError, so that scikit-learn and other libraries treat it as invalid input.
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
    """A split does not fit the graph: too few labels, other nodes or overlapping parts."""


class DataFileError(DccgcnError):
    """A file is missing, altered, truncated or not of the expected form."""


class TrainingError(DccgcnError):
    """Training diverged; the message names the epoch."""


@dataclass(frozen=True)
class Finding:
    """Something unusual that does not stop a run but belongs in its report."""

    level: Literal["warning", "note"]
    code: str  # short and stable, such as "isolated-nodes"
    text: str  # one sentence: the observation and what was done about it

    def __str__(self) -> str:
        return f"{self.level}: {self.text}"


def check_choice(name: str, value: str, choices: Sequence[str], error: type[DccgcnError] = GraphError) -> None:
    """Raise an error if an option is not one of its choices."""
    if value not in choices:
        raise error(f"{name}={value!r} is not known.", f"Use one of: {', '.join(choices)}.")
