"""The page on the choices that DCC-GCN's paper leaves open: each changed alone, on development splits."""

import numpy as np

from dccgcn.methods.base import get_method
from dccgcn.quality.paired import PairedDifference, Summary, significance
from dccgcn.text import markdown_table
from paper.results import Results
from paper.spec import System, shown

_SAME = "default"  # the choice is what the published settings have on this dataset


def choices_table(results: Results) -> str:
    """The defaults' accuracy, then each choice's difference to it on the same splits, column by column."""
    spec = results.spec
    start, *alternatives = spec.systems
    means = zip(results.cells(start), spec.columns, strict=True)
    rows = [[f"**{start.name}**, accuracy in %", *(_text(cell.ours, column.splits) for cell, column in means), ""]]
    for system in alternatives:
        differences = _differences(results, system, start)
        rows.append(
            [system.name, *(_text(d, column.splits) for d, column in zip(differences, spec.columns, strict=True))]
        )
        rows[-1].append(_over_columns(differences))
    columns = [f"{column} ({column.splits})" for column in spec.columns]
    return markdown_table(["choice", *columns, "mean over columns"], rows)


def defaults_list(results: Results) -> str:
    """Every option that was varied, with its default and its meaning."""
    start, *alternatives = results.spec.systems
    settings = get_method(start.method or "").settings()
    options = sorted({option for system in alternatives for option in system.options})
    meanings = [
        f"- `{option}: {shown(getattr(settings, option))}` — {type(settings).model_fields[option].description}"
        for option in options
    ]
    return "\n".join(meanings)


def _differences(results: Results, system: System, start: System) -> list[PairedDifference | str | None]:
    """By column: the paired difference to the start, None without common runs, a word where both are the same run."""
    keys = results.spec.keys
    return [
        _SAME if keys[system.name, c, 0] == keys[start.name, c, 0] else results.paired(system, start, c)
        for c in range(len(results.spec.columns))
    ]


def _text(value: Summary | PairedDifference | str | None, splits: int) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    return str(value) if value.n == splits else f"{value}, n = {value.n}"


def _over_columns(differences: list[PairedDifference | str | None]) -> str:
    # a column counts once, however many splits it has, so that one dataset does not dominate
    if None in differences:
        return "–"
    return f"{np.mean([d.mean if isinstance(d, PairedDifference) else 0.0 for d in differences]):+.1f}"


def significant_choices(results: Results) -> str:
    """How many differences exclude zero, and how many would by chance."""
    start, *alternatives = results.spec.systems
    differences = [d for s in alternatives for d in _differences(results, s, start) if isinstance(d, PairedDifference)]
    counts = significance(differences)
    if not counts.of:
        return ""
    return (
        f"Of {counts.of} differences with an interval, {counts.below} are significantly below zero and {counts.above} "
        f"above. The intervals are not corrected for their number: {counts.of / 40:.0f} on either side are expected by "
        "chance."
    )
