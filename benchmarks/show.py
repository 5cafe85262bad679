"""Printing measurements, as a table or as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from dccgcn.cli.display import output, print_json, table

Measured = Mapping[str, Any]  # what a benchmark measured, by name; the end of a name is its unit

_UNITS = {"ms": "{:,.1f} ms", "s": "{:,.3f} s", "mb": "{:,.0f} MB"}


def show(title: str, measured: Measured | Sequence[Measured], json: bool, heading: str = "dataset") -> None:
    """Print one measurement or one of each graph.

    heading: the field that names the columns of the table.
    """
    if json:
        print_json(plain(measured))
    else:
        print_table(title, [measured] if isinstance(measured, Mapping) else measured, heading)


def plain(value: Any) -> Any:
    """A measurement as plain values for JSON."""
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def print_table(title: str, measured: Sequence[Measured], heading: str) -> None:
    """One column per measurement and one row per field."""
    shown = table(title, heading.replace("_", " "), *(_text(heading, one[heading]) for one in measured))
    for name in measured[0]:
        values = [one[name] for one in measured]
        if name != heading and any(value is not None for value in values):
            stem, _, unit = name.rpartition("_")
            label = stem if unit in _UNITS else name
            shown.add_row(label.replace("_", " "), *(_text(name, value) for value in values))
    output.print(shown)


def _text(name: str, value: Any) -> str:
    """The value of a field, with the unit at the end of its name."""
    unit = name.rpartition("_")[2]
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return _UNITS.get(unit, "{:.3g}").format(value)
        case dict():
            form = _UNITS["mb" if name == "peaks" else "s"]
            return "\n".join(f"{part} {form.format(number)}" for part, number in value.items())
        case list():
            return "\n".join(map(str, value)) or "–"
        case tuple():
            return " / ".join("exact" if part is None else _text(name, part) for part in value)  # None: recall
        case _:  # a name, a Summary or a PairedDifference
            return str(value)
