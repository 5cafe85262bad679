"""One checked settings model serves Python, YAML and the command line."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dccgcn.errors import SettingsError
from dccgcn.text import did_you_mean


class Settings(BaseModel):
    """Base of every method's settings: frozen, checked, without surprises."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Build from plain values; mistakes become sentences."""
        unknown = [name for name in values if name not in cls.model_fields]
        if unknown:
            hint = did_you_mean(unknown[0], cls.model_fields)
            raise SettingsError(
                f"There is no option {unknown[0]!r}.{hint}", f"The options are: {', '.join(cls.model_fields)}."
            )
        try:
            return cls.model_validate({name: v for name, v in values.items() if not cls._is_default(name, v)})
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            field = cls.model_fields.get(name)
            raise SettingsError(
                f"Option {name} = {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}.",
                f"It means: {field.description}" if field and field.description else "",
            ) from None

    @classmethod
    def _is_default(cls, name: str, value: Any) -> bool:
        """Settings that are written out in full, as a run does, are those of a run that named none of them."""
        default = cls.model_fields[name].default
        return type(value) is type(default) and value == default

    @property
    def neighbours(self) -> int:
        """Of each node in the feature graph; 0: the method has none."""
        return 0

    def changed(self, values: Mapping[str, Any]) -> Self:
        """A checked copy with some options changed."""
        return type(self).of({**self.model_dump(), **values})

    def to_yaml(self) -> str:
        """Every option with its meaning, ready to be edited and read back."""
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


def read_yaml(path: Path) -> dict[str, Any]:
    """Settings as a run wrote them."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"There is no settings file {path}.", "Check the path.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not readable YAML: {error}.", "Mend the file or start from a run's.") from None
    if not isinstance(values, dict):
        raise SettingsError(f"{path} holds no settings.", "It must hold lines such as 'k: 5'.")
    return {str(name): value for name, value in values.items()}


def _number_or_yaml(text: str) -> Any:
    try:
        value = yaml.safe_load(text)
        return float(text) if value == text.strip() else value  # YAML takes 1e-4 for a word
    except (ValueError, yaml.YAMLError):
        return text


# shared ranges, so that a rate is a rate everywhere
def rate(default: float, description: str) -> Any:
    return Field(default, gt=0, description=description)


def share(default: float, description: str) -> Any:
    return Field(default, ge=0, lt=1, description=description)


def weight(default: float, description: str) -> Any:
    return Field(default, ge=0, description=description)


def count(default: int, description: str) -> Any:
    return Field(default, ge=1, description=description)
