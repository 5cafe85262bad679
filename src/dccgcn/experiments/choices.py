"""The page on DCC-GCN's open choices: each changed alone, on development splits."""

from typing import Any

from dccgcn.evaluation.paired import paired_difference
from dccgcn.experiments.markdown import markdown_table, provenance
from dccgcn.experiments.runner import Row
from dccgcn.experiments.study import Study, System
from dccgcn.models.registry import get_method


def render_choices(study: Study, rows: dict[str, Row]) -> str:
    """Accuracy per cell, and the mean difference to the starting point over all cells."""
    start, *alternatives = study.systems
    settings = get_method(start.method).settings()
    columns = [f"{cell.dataset}, {cell.labels} ({cell.splits})" for cell in study.cells]
    lines = [["**the starting point**", *_means(study, rows, start), "", ""]]
    for system in alternatives:
        changed = {option: value for option, value in system.options.items() if start.options.get(option) != value}
        name = ", ".join(f"{option} = {_shown(value)}" for option, value in changed.items())
        if settings.changed(system.options) == settings:
            name = f"**{name}: the defaults**"
        lines.append([name, *_means(study, rows, system), *_difference(study, rows, system, start)])
    options = sorted({option for system in alternatives for option in system.options})
    meanings = [
        f"- `{option}: {_shown(getattr(settings, option))}` — {type(settings).model_fields[option].description}"
        for option in options
    ]
    return _PAGE.format(
        table=markdown_table(["choice", *columns, "mean difference", "95 % interval"], lines),
        start=", ".join(f"{option} = {_shown(value)}" for option, value in start.options.items()),
        reading=study.reading,
        meanings="\n".join(meanings),
        seed=study.first_seed,
        provenance=provenance("dccgcn reproduce choices", study.rows(rows)),
    )


def _means(study: Study, rows: dict[str, Row], system: System) -> list[str]:
    return [f"{100 * study.values(rows, system, cell).mean():.1f}" for cell in study.cells]


def _difference(study: Study, rows: dict[str, Row], system: System, start: System) -> list[str]:
    # a cell counts once, however many splits it has, so that one dataset does not decide for all
    ours, theirs = ([100 * study.values(rows, s, cell).mean() for cell in study.cells] for s in (system, start))
    difference = paired_difference(ours, theirs)
    return [f"{difference.mean:+.1f}", f"{difference.low:+.1f} to {difference.high:+.1f}"]


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_PAGE = """# What DCC-GCN's paper leaves open, and what was chosen

The paper does not say how several of its steps are meant. Each such choice is a setting. This study changes one at a
time from a starting point (the defaults below, but {start}) and measures test accuracy in per cent on development
splits (seeds from {seed}; the number of splits in brackets). The interval of the mean difference is over the columns,
each of which counts once.

{table}

{reading}

## The defaults

{meanings}

{provenance}
"""
