"""A table of the paper as Markdown: published / ours / difference, and paired differences."""

from collections.abc import Sequence

from dccgcn.quality.paired import PairedDifference, Summary
from dccgcn.text import markdown_table
from paper.results import NOT_RUN, Cell, Results

_MIN_RUNS = 3  # that a mean needs to be marked as the best


def value_table(results: Results, metric: str) -> str:
    """A row per system; the best of our means in each column is bold, unless it has one or two runs only."""
    spec = results.spec
    cells = {system.name: results.cells(system, metric) for system in spec.systems}
    best = [_best([row[c].ours for row in cells.values()]) for c in range(len(spec.columns))]
    published = any(system.published.get(metric) for system in spec.systems)
    rows = [
        [name, *(_cell_text(cell, best[c], spec.runs, published) for c, cell in enumerate(row))]
        for name, row in cells.items()
    ]
    corner = "paper / ours / difference, %" if published else "ours, %"
    return markdown_table([corner, *map(str, spec.columns)], rows)


def _best(means: Sequence[Summary | None]) -> float | None:
    measured = [mean for mean in means if mean]
    enough = min(_MIN_RUNS, max((mean.n for mean in measured), default=0))
    return max((mean.mean for mean in measured if mean.n >= enough), default=None)


def _cell_text(cell: Cell, best: float | None, runs: int, published: bool) -> str:
    ours = "not measured" if cell.ours is None else str(cell.ours)
    if cell.ours and cell.ours.mean == best:
        ours = f"**{ours}**"
    if cell.ours and cell.ours.n != runs:
        ours += f" (n = {cell.ours.n})"
    if not published:
        return ours
    paper = "–" if cell.published is None else f"{cell.published:.1f}"
    difference = "–" if cell.difference is None else f"{cell.difference:+.1f}"
    return f"{paper} / {ours} / {difference}"


def compatibility(results: Results, metric: str) -> str:
    """In how many cells the paper's value is statistically compatible with ours."""
    counted = []
    for system in results.spec.systems:
        judged = [cell.compatible for cell in results.cells(system, metric)]
        if verdicts := [compatible for compatible in judged if compatible is not None]:
            counted.append((system.name, sum(verdicts), len(verdicts)))
    if not counted:
        return ""
    k, of = sum(c[1] for c in counted), sum(c[2] for c in counted)
    each = ", ".join(f"{name} {k} of {of}" for name, k, of in counted)
    return f"The paper's value is statistically compatible with ours (95 %) in {k} of {of} cells ({each})."


def paired_table(results: Results, metric: str) -> str:
    """Differences on the same splits: those behind the means, and beside them the further ones, with their numbers."""
    comparisons = results.comparisons(metric)
    if not comparisons:
        return ""
    rows = []
    for one in comparisons:
        others = "the paper's baselines" if one.baselines == "paper" else "all others"
        paper = "–" if one.published is None else f"{one.published:+.1f}"
        differences = (_counted(d, one.unit) for d in (one.first, one.further))
        rows.append([one.subject, one.column, f"{one.best}, of {others}", *differences, paper])
    header = ["on the same splits", "labels", "against the best", "difference (95 %), first", "further", "paper"]
    notes = [
        f"Higher than {one.best} on {one.column}, with fewer runs: {', '.join(one.higher)}."
        for one in {(one.best, one.column): one for one in comparisons if one.higher}.values()
    ]
    return "\n\n".join([markdown_table(header, rows), *notes])


def _counted(difference: PairedDifference | None, unit: str) -> str:
    return f"{difference}, {difference.n} {unit}" if difference else "–"


def paired_sentences(results: Results, metric: str) -> str:
    """The comparisons as a list of sentences, for the page of all experiments."""
    lines = []
    for one in results.comparisons(metric):
        d = one.unbiased
        if d is None or d.low is None:
            continue
        verdict = "above" if d.is_above else "below" if d.is_below else "not significantly different from"
        others = "the paper's baselines" if one.baselines == "paper" else "all other systems"
        which = "further " if d is one.further else ""
        paper = f" The paper has {one.published:+.1f}." if one.published is not None else ""
        higher = f" Higher than {one.best}, with fewer runs: {', '.join(one.higher)}." if one.higher else ""
        lines.append(
            f"- {one.column}: {one.subject} is {verdict} {one.best}, the best of {others} here "
            f"({d.mean:+.1f}, 95 % interval {d.interval}, {d.n} {which}{one.unit}).{paper}{higher}"
        )
    return "\n".join(lines)


def not_measured(results: Results) -> str:
    """Cells without runs by reason, each reason once; cells that have only not been run yet are counted."""
    columns = results.spec.columns
    metric = next(iter(results.spec.metrics), "")
    reasons: dict[str, list[tuple[str, str]]] = {}
    waiting = 0
    for c, column in enumerate(columns):
        for system in results.spec.systems:
            reason = results.cell(system, c, metric).reason
            waiting += reason == NOT_RUN
            if reason and reason != NOT_RUN:
                reasons.setdefault(reason, []).append((system.name, str(column)))
    lines = [
        f"- {_listed(cells, len(columns))}: {reason[:1].lower()}{reason[1:].rstrip('.')}."
        for reason, cells in reasons.items()
    ]
    if waiting:
        lines.append(f"- {waiting} cells whose runs have not been made yet.")
    return "Not measured:\n\n" + "\n".join(lines) if lines else ""


def _listed(cells: list[tuple[str, str]], n_columns: int) -> str:
    names, columns = (list(dict.fromkeys(parts)) for parts in zip(*cells, strict=True))
    if len(names) * len(columns) != len(cells):
        return "; ".join(f"{name} on {column}" for name, column in cells)
    return f"{', '.join(names)} on {'all columns' if len(columns) == n_columns > 1 else '; '.join(columns)}"
