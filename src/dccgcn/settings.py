"""The checked settings that Python, YAML and the command line share."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dccgcn.errors import SettingsError
from dccgcn.text import did_you_mean

FORMAT = 1  # of a settings file; one without a format is of the first
_MAX_YAML = 1_000_000  # bytes
_MOST_STEPS = 1000


class Settings(BaseModel):
    """Base of every method's settings: frozen and checked; unknown options are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Build from plain values; every mistake is a SettingsError."""
        unknown = [name for name in values if name not in cls.model_fields]
        if unknown:
            raise SettingsError(
                f"There is no option {unknown[0]!r}.{did_you_mean(unknown[0], cls.model_fields)}",
                f"The options are: {', '.join(cls.model_fields)}.",
            )
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            field = cls.model_fields.get(name)
            raise SettingsError(
                f"Option {name} = {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}.",
                f"It means: {field.description}" if field and field.description else "",
            ) from None

    @property
    def neighbours(self) -> int:
        """Neighbours of each node in the feature graph; 0: the method has none."""
        return 0

    def changed(self, values: Mapping[str, Any]) -> Self:
        """A checked copy with some options changed."""
        return type(self).of({**self.model_dump(), **values})

    def to_yaml(self) -> str:
        """All options with their descriptions as comments, to be edited and read back."""
        lines = []
        for name, field in type(self).model_fields.items():
            lines.append(f"# {field.description}")
            lines.append(yaml.safe_dump({name: getattr(self, name)}, default_flow_style=False).rstrip("\n"))
        return "\n".join(lines) + "\n"


def parse_assignments(assignments: Iterable[str]) -> dict[str, Any]:
    """``option=value`` pairs of the command line, values read as YAML."""
    values = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise SettingsError(f"{assignment!r} is not an assignment.", "Write it as option=value, such as k=5.")
        values[name.strip()] = _number_or_yaml(value)
    return values


class _NoAliases(yaml.SafeLoader):
    """Settings need no aliases, and a few lines of them can stand for billions of values."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it contains an alias (*name)")
        return super().compose_node(parent, index)


def read_yaml(path: Path) -> dict[str, Any]:
    """Settings from a file such as a run writes."""
    if not path.is_file():
        found = "is not a regular file" if path.exists() else "does not exist"
        raise SettingsError(f"There is no settings file {path}: it {found}.", "Check the path.")
    if path.stat().st_size > _MAX_YAML:
        raise SettingsError(f"{path} is too large for settings.", "Check the path.")
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), _NoAliases)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror}).", "Check its permissions.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(
            f"{path} is not readable YAML: {error}.", "Fix the file, or start from one that a run wrote."
        ) from None
    if not isinstance(values, dict):
        raise SettingsError(f"{path} holds no settings.", "It must hold lines such as 'k: 5'.")
    if (version := values.pop("format", FORMAT)) != FORMAT:
        raise SettingsError(
            f"{path} is of format {repr(version)[:20]}, and this version of dccgcn reads format {FORMAT}.",
            "Use the version that wrote it, or write its options again; 'dccgcn methods NAME' lists them.",
        )
    return {str(name): value for name, value in values.items()}


def _number_or_yaml(text: str) -> Any:
    try:
        value = yaml.load(text, _NoAliases)
        return float(text) if value == text.strip() else value  # YAML reads 1e-4 as text
    except (ValueError, yaml.YAMLError, RecursionError):
        return text


# shared ranges
def rate(default: float, description: str, most: float | None = None) -> Any:
    return Field(default, gt=0, le=most, description=description)


def share(default: float, description: str) -> Any:
    return Field(default, ge=0, lt=1, description=description)


def weight(default: float, description: str, most: float | None = None) -> Any:
    return Field(default, ge=0, le=most, description=description)


def count(default: int, description: str) -> Any:
    return Field(default, ge=1, description=description)


def steps(default: int, description: str) -> Any:
    """A number of steps in every prediction, bounded so that no saved model can keep a machine busy for days."""
    return Field(default, ge=1, le=_MOST_STEPS, description=description)
