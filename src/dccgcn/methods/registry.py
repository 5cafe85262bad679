"""All methods by name. A new one needs a file that defines it and an entry in methods.yaml.

Methods that train with torch are imported when they are asked for, so that all others work without it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module, resources
from importlib.util import find_spec

import yaml

from dccgcn.errors import DccgcnError
from dccgcn.methods.base import Method as Method
from dccgcn.runtime import missing_extra
from dccgcn.text import did_you_mean


@dataclass(frozen=True)
class MethodEntry:
    """What is known of a method before its module is imported."""

    location: str  # module in dccgcn; after a colon the name of the Method, if it is not METHOD
    summary: str
    reference: str
    extra: str | None = "torch"  # the optional dependency it needs; package and extra have the same name

    @property
    def installed(self) -> bool:
        """Whether the method can be loaded."""
        return self.extra is None or find_spec(self.extra) is not None

    def load(self) -> Method:
        """Import the method."""
        module, _, attribute = self.location.partition(":")
        method: Method = getattr(import_module(f"dccgcn.{module}"), attribute or "METHOD")
        return method


def _entries() -> dict[str, MethodEntry]:
    """The entries of methods.yaml."""
    text = (resources.files("dccgcn.methods") / "methods.yaml").read_text(encoding="utf-8")
    return {name: MethodEntry(**entry) for name, entry in yaml.safe_load(text).items()}


ENTRIES = _entries()


class _Methods(Mapping[str, Method]):
    """ENTRIES with each method loaded when it is read."""

    def __getitem__(self, name: str) -> Method:
        entry = ENTRIES[name]
        if entry.extra and not entry.installed:
            raise missing_extra(entry.extra, entry.extra, needed_by=name)
        return entry.load()

    def __iter__(self) -> Iterator[str]:
        return iter(ENTRIES)

    def __len__(self) -> int:
        return len(ENTRIES)

    def __contains__(self, name: object) -> bool:
        return name in ENTRIES


METHODS = _Methods()


def get_method(name: str) -> Method:
    """The method of that name, or an error that lists them."""
    if name in ENTRIES:
        return METHODS[name]
    hint = did_you_mean(name.lower(), ENTRIES)
    raise DccgcnError(f"There is no method {name!r}.{hint}", f"Choose one of: {', '.join(ENTRIES)}.")
