"""Measurement: what a benchmark found, a row of its table."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """The base of all of them."""

    def to_json(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)
