"""The table of the README: a row per method, or per column of the spec."""

from dccgcn.quality.paired import Summary
from dccgcn.text import markdown_table
from paper.results import Results
from paper.spec import System


def overview_table(results: Results) -> str:
    """Mean ± standard deviation of the accuracy: a row per method, or per column of the spec if these are more."""
    runs = results.spec.runs

    def text(ours: Summary | None) -> str:
        return "–" if ours is None else str(ours) if ours.n == runs else f"{ours} (n = {ours.n})"

    rows = [[s.name, *(text(cell.ours) for cell in results.cells(s))] for s in results.spec.systems]
    rows += [_lead(results, subject) for subject in results.spec.systems if subject.subject]
    table = [["accuracy in %", *map(str, results.spec.columns)], *rows]
    header, *lines = (
        map(list, zip(*table, strict=True)) if len(table) < len(table[0]) else table
    )  # rather long than wide
    return markdown_table(header, lines)


def _lead(results: Results, subject: System) -> list[str]:
    """The paired difference to the best other system of each column, with its 95 % interval."""
    cells = []
    for c in range(len(results.spec.columns)):
        best = results.best_other(subject, c, "accuracy", "all")
        difference = results.paired(subject, best, c) if best else None
        cells.append(f"{best.name}: {difference}" if best and difference else "–")
    return [f"{subject.name} less the best other", *cells]
