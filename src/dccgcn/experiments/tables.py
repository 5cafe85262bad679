"""A table of the paper as a page: paper / ours / difference, and differences on the same splits."""

from collections.abc import Sequence

from dccgcn.evaluation.paired import Summary
from dccgcn.experiments.experiment import Experiment
from dccgcn.experiments.markdown import markdown_table
from dccgcn.experiments.measured import NOT_YET, Comparison, Entry, Missing, Rows, comparisons, entry, label

_FEW = 3  # runs that a mean needs to be called the best


def table_body(e: Experiment, rows: Rows, missing: Missing) -> str:
    """All tables of one experiment and what is to be said about them."""
    parts = []
    for metric, called in e.metrics.items():
        heading = f"## {called}\n\n" if len(e.metrics) > 1 else ""
        parts.append(heading + value_table(e, rows, metric, missing))
        parts.append(agreement_sentence(e, rows, metric, missing))
        parts.append(paired_table(comparisons(e, rows, metric)))
    parts.append(not_measured(e, rows, missing))
    return "\n\n".join(part for part in parts if part)


def value_table(e: Experiment, rows: Rows, metric: str, missing: Missing) -> str:
    """A row per line; the best of our means in each column is bold, unless it stands on one or two runs only."""
    entries = {line.name: [entry(e, rows, line, c, metric, missing) for c in range(len(e.columns))] for line in e.lines}
    best = [_best([found[c].ours for found in entries.values()]) for c in range(len(e.columns))]
    printed = any(line.paper.get(metric) for line in e.lines)
    shown = [
        [name, *(_shown(one, best[c], e.runs, printed) for c, one in enumerate(found))]
        for name, found in entries.items()
    ]
    called = "paper / ours / difference, %" if printed else "ours, %"
    return markdown_table([called, *(label(column) for column in e.columns)], shown)


def _best(means: Sequence[Summary | None]) -> float | None:
    known = [one for one in means if one]
    enough = min(_FEW, max((one.n for one in known), default=0))
    return max((one.mean for one in known if one.n >= enough), default=None)


def _shown(found: Entry, best: float | None, runs: int, printed: bool) -> str:
    ours = "not measured" if found.ours is None else str(found.ours)
    if found.ours and found.ours.mean == best:
        ours = f"**{ours}**"
    if found.ours and found.ours.n != runs:
        ours += f" (n = {found.ours.n})"
    if not printed:
        return ours
    paper = "–" if found.paper is None else f"{found.paper:.1f}"
    difference = "–" if found.difference is None else f"{found.difference:+.1f}"
    return f"{paper} / {ours} / {difference}"


def agreement_sentence(e: Experiment, rows: Rows, metric: str, missing: Missing) -> str:
    """In how many cells the paper's value is one that ten further runs could have given."""
    counted = []
    for line in e.lines:
        judged = [entry(e, rows, line, c, metric, missing).agrees for c in range(len(e.columns))]
        if known := [agrees for agrees in judged if agrees is not None]:
            counted.append((line.name, sum(known), len(known)))
    if not counted:
        return ""
    k, of = sum(c[1] for c in counted), sum(c[2] for c in counted)
    each = ", ".join(f"{name} {k} of {of}" for name, k, of in counted)
    return f"The paper's value is within what two means of such runs may differ by in {k} of {of} cells ({each})."


def paired_table(found: list[Comparison]) -> str:
    """Differences on the same splits, with intervals."""
    if not found:
        return ""
    shown = []
    for one in found:
        d = one.difference
        interval = f"{d.low:+.1f} to {d.high:+.1f}" if d.low is not None and d.high is not None else "–"
        among = "the paper's baselines" if one.among == "paper" else "all others"
        paper = "–" if one.paper is None else f"{one.paper:+.1f}"
        shown.append(
            [one.subject, one.column, f"{one.best}, of {among}", f"{d.mean:+.1f}", interval, f"{d.n} {one.unit}", paper]
        )
    header = ["on the same splits", "labels", "against the best", "difference", "95 % interval", "over", "paper"]
    notes = [
        f"Higher than {one.best} on {one.column}, with fewer runs: {', '.join(one.higher)}."
        for one in {(one.best, one.column): one for one in found if one.higher}.values()
    ]
    return "\n\n".join([markdown_table(header, shown), *notes])


def not_measured(e: Experiment, rows: Rows, missing: Missing) -> str:
    """What could not be run, and why, each reason once; what was only not run yet is counted."""
    metric = next(iter(e.metrics), "")
    reasons: dict[str, list[str]] = {}
    waiting = 0
    for c, column in enumerate(e.columns):
        for line in e.lines:
            why = entry(e, rows, line, c, metric, missing).why
            waiting += why == NOT_YET
            if why and why != NOT_YET:
                reasons.setdefault(why, []).append(f"{line.name} on {label(column)}")
    lines = [
        f"- {_listed(cells, len(e.columns))}: {why[:1].lower()}{why[1:].rstrip('.')}." for why, cells in reasons.items()
    ]
    if waiting:
        lines.append(f"- {waiting} cells whose runs have not been made yet.")
    return "Not measured:\n\n" + "\n".join(lines) if lines else ""


def _listed(cells: list[str], columns: int) -> str:
    names = list(dict.fromkeys(cell.split(" on ")[0] for cell in cells))
    where = list(dict.fromkeys(cell.split(" on ", 1)[1] for cell in cells))
    if len(names) * len(where) != len(cells):
        return "; ".join(cells)
    return f"{', '.join(names)} on {'all columns' if len(where) == columns > 1 else '; '.join(where)}"
