"""Options for reading a graph from two tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from dccgcn.errors import check_choice

Impute = Literal["error", "zero", "mean"]
UnknownIds = Literal["error", "drop"]
Decimal = Literal[".", ","]


@dataclass(frozen=True)
class TableOptions:
    """The keywords of ``read_tables``, checked. A single name counts as a list of one, None as an empty list.

    ``features`` alone distinguishes None (all remaining columns) from an empty list (none of them).
    """

    label: str | None = None
    id: str | None = None
    features: Sequence[str] | None = None
    text: Sequence[str] | None = ()
    categorical: Sequence[str] | None = ()
    ignore: Sequence[str] | None = ()
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    relation: str | None = None
    directed: bool = False
    classes: Sequence[Any] | None = None
    unlabelled: Sequence[Any] | None = ()
    unknown_ids: UnknownIds = "error"
    impute: Impute = "error"
    scale: bool = True
    encoding: str = "utf-8"
    featureless: bool = False
    name: str | None = None
    labels: Any = None  # a further table, as for ``read_table``
    node_name: str | None = None
    classify: Sequence[str] | None = ()
    decimal: Decimal = "."

    def __post_init__(self) -> None:
        check_choice("impute", self.impute, get_args(Impute))
        check_choice("unknown_ids", self.unknown_ids, get_args(UnknownIds))
        check_choice("decimal", self.decimal, get_args(Decimal))
        for field in ("text", "categorical", "ignore", "unlabelled", "classify"):
            object.__setattr__(self, field, _as_tuple(getattr(self, field)))
        if self.features is not None:
            object.__setattr__(self, "features", _as_tuple(self.features))


def _as_tuple(given: Iterable[Any] | None) -> tuple[Any, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)
