"""The page that compares each system with accuracies published for it."""

from dccgcn.experiments.results import Results
from dccgcn.models.registry import METHODS
from dccgcn.text import markdown_table


def published_body(results: Results) -> str:
    """A row for each published accuracy whose runs are complete."""
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
    others = ", ".join(sorted(METHODS.keys() - {system.method for system in spec.systems}))
    parts = [markdown_table(header, rows), f"Not measured yet: {'; '.join(missing)}." if missing else ""]
    return "\n\n".join([part for part in parts if part] + [_NOT_COMPARED.format(others=others)])


_NOT_COMPARED = """Not compared here: {others}. Concord is this project's method, and DCC-GCN is compared in
[the experiments](README.md). For the others no accuracy is published under a protocol that can be repeated, or, as for
CaGCN, it is that of the system that they start from; their formulas are tested against slow reference versions."""
