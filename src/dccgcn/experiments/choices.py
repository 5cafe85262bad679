"""The page on the choices that DCC-GCN's paper leaves open: each changed alone, on development splits."""

from dccgcn.evaluation.paired import paired_difference
from dccgcn.experiments.results import Results
from dccgcn.experiments.spec import System, shown
from dccgcn.models.registry import get_method
from dccgcn.text import markdown_table


def choices_body(results: Results) -> str:
    """Accuracy per column, and the mean difference to the starting point over all columns."""
    start, *alternatives = results.spec.systems
    settings = get_method(start.method or "").settings()
    rows = [[f"**{start.name}**", *_means(results, start), "", ""]]
    for system in alternatives:
        is_default = settings.changed(system.options) == settings
        name = f"**{system.name}: the defaults**" if is_default else system.name
        rows.append([name, *_means(results, system), *_difference(results, system, start)])
    columns = [f"{column} ({column.splits})" for column in results.spec.columns]
    return markdown_table(["choice", *columns, "mean difference", "95 % interval"], rows)


def defaults_list(results: Results) -> str:
    """Every option that was varied, with its default and its meaning."""
    start, *alternatives = results.spec.systems
    settings = get_method(start.method or "").settings()
    options = sorted({option for system in alternatives for option in system.options})
    meanings = [
        f"- `{option}: {shown(getattr(settings, option))}` — {type(settings).model_fields[option].description}"
        for option in options
    ]
    return "## The defaults\n\n" + "\n".join(meanings)


def _means(results: Results, system: System) -> list[str]:
    return [f"{cell.ours.mean:.1f}" if cell.ours else "–" for cell in results.cells(system)]


def _difference(results: Results, system: System, start: System) -> list[str]:
    # a column counts once, however many splits it has, so that one dataset does not dominate
    pairs = zip(results.cells(system), results.cells(start), strict=True)
    means = [(a.ours.mean, b.ours.mean) for a, b in pairs if a.ours and b.ours]
    if not means:
        return ["–", "–"]
    difference = paired_difference([a for a, _ in means], [b for _, b in means])
    return [f"{difference.mean:+.1f}", difference.interval]
