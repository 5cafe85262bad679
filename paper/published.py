"""The page that compares each system with accuracies published for it."""

from dccgcn.methods.base import ENTRIES
from dccgcn.text import markdown_table
from paper.results import Results


def published_table(results: Results) -> str:
    """A row for each published accuracy whose runs are complete; below it the cells that are not."""
    spec = results.spec
    rows, missing = [], []
    for system in spec.systems:
        for column, cell in zip(spec.columns, results.cells(system), strict=True):
            if cell.published is None:
                continue
            if cell.ours is None or cell.difference is None or cell.ours.n < spec.n_runs(system, column):
                missing.append(f"{system.name} on {column}")
                continue
            reproduced = "yes" if cell.difference >= -system.tolerance else "**no**"
            values = [f"{cell.published:.1f}", f"{cell.difference:+.1f}", reproduced, str(cell.ours.n)]
            rows.append([system.name, column.dataset, column.labels, str(cell.ours), *values, system.note])
    header = ["system", "dataset", "labels", "ours", "published", "difference", "met", "runs", "what differs"]
    table = markdown_table(header, rows)
    return f"{table}\n\nNot measured yet: {'; '.join(missing)}." if missing else table


def not_compared(results: Results) -> str:
    """The methods without a system on the page."""
    return ", ".join(sorted(ENTRIES.keys() - {system.method for system in results.spec.systems}))
