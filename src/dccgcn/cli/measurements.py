"""Measurements of a benchmark as a table or as JSON."""

from collections.abc import Sequence
from typing import Any

from dccgcn.benchmarks.measurement import Measurement
from dccgcn.cli.display import output, print_json, table

_UNITS = {"ms": "{:,.1f} ms", "s": "{:,.3f} s", "mb": "{:,.0f} MB"}  # by the end of a name


def show(title: str, measured: Measurement | Sequence[Measurement], json: bool, heading: str = "dataset") -> None:
    """Print one measurement or one of each graph, as JSON or as a table."""
    rows = measured if isinstance(measured, Sequence) else [measured]
    if json:
        listed = [row.to_json() for row in rows]
        print_json(listed if rows is measured else listed[0])
    else:
        print_measurements(title, rows, heading)


def print_measurements(title: str, measured: Sequence[Measurement], heading: str) -> None:
    """One column per measurement and one row per field; the heading is the field that names the columns."""
    columns = [vars(m) for m in measured]
    shown = table(title, heading.replace("_", " "), *(_text(heading, column[heading]) for column in columns))
    for name in columns[0]:
        values = [column[name] for column in columns]
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
