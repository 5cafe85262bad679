"""The page on Concord: accuracy against other systems on graphs of many kinds, ablation, and quality of trust."""

from collections.abc import Sequence

import numpy as np

from dccgcn.evaluation.paired import PairedDifference, paired_difference, significance, summary
from dccgcn.experiments.results import Results
from dccgcn.experiments.spec import System
from dccgcn.text import markdown_table

_MANY = 10  # splits; with two or three an interval is so wide that hardly anything is significant


def concord_body(results: Results) -> str:
    """Every number over the splits that were run, with their number."""
    spec = results.spec
    concord = spec.system("concord")
    rivals = [system for system in spec.of_group("paper") if system is not concord]
    columns = range(len(spec.columns))
    differences = {(s.name, c): d for s in rivals for c in columns if (d := _paired(results, concord, s, c))}
    accuracy = [[str(spec.columns[c]), *(_mean(results, s, c) for s in (concord, *rivals))] for c in columns]
    best = [[str(spec.columns[c]), *_best(results, concord, c)] for c in columns]
    paired = [[str(spec.columns[c]), *(str(differences.get((s.name, c)) or "–") for s in rivals)] for c in columns]
    return _BODY.format(
        accuracy=markdown_table(["accuracy in %", "**concord**", *(s.name for s in rivals)], accuracy),
        verdict=_verdict(list(differences.values())),
        lost=_lost(results, differences),
        ranks=_ranks(results, [concord, *rivals]),
        best=markdown_table(["", "best other system", "Concord less the best"], best),
        paired=markdown_table(["Concord less …", *(s.name for s in rivals)], paired),
        ablation=markdown_table(["", "graphs", "mean", "loses most", "gains most"], _ablation(results, concord)),
        trust=markdown_table(["", *_TRUST], _trust(results, concord)),
    )


def _mean(results: Results, system: System, c: int) -> str:
    values = list(results.values(system, c).values())
    return f"{summary(values)} ({len(values)})" if values else "–"


def _paired(results: Results, first: System, second: System, c: int) -> PairedDifference | None:
    """None with fewer than two common splits."""
    found = results.paired(first, second, c)
    return found if found and found.n > 1 else None


def _best(results: Results, concord: System, c: int) -> list[str]:
    best = results.best_other(concord, c, "accuracy", "paper")
    return ["–", "–"] if best is None else [best.name, str(_paired(results, concord, best, c) or "–")]


def _verdict(differences: Sequence[PairedDifference]) -> str:
    parts = []
    for least, name in ((2, "two"), (_MANY, "ten")):
        counts = significance(d for d in differences if d.n >= least)
        parts.append(
            f"of {counts.of} comparisons with at least {name} common splits it is significantly better in "
            f"{counts.above} and significantly worse in {counts.below}"
        )
    return f"{parts[0].capitalize()}; {parts[1]}."


def _lost(results: Results, differences: dict[tuple[str, int], PairedDifference]) -> str:
    lost = [
        f"{results.spec.columns[c]} to {name} ({d.mean:+.1f})" for (name, c), d in differences.items() if d.is_below
    ]
    return f"Lost: {'; '.join(lost)}." if lost else "None is lost."


def _ranks(results: Results, every: Sequence[System]) -> str:
    """Mean rank over the cells in which all systems that are left out of no column were run."""
    systems = [s for s in every if not any(s.method in column.excluded for column in results.spec.columns)]
    means = np.array([[np.mean(list(results.values(s, c).values()) or [np.nan]) for s in systems]
                      for c in range(len(results.spec.columns))])  # fmt: skip
    complete = means[~np.isnan(means).any(axis=1)]
    if not len(complete):
        return "No cell has runs of all systems yet."
    ranks = (complete[:, None, :] > complete[:, :, None]).sum(axis=2) + 1
    order = np.argsort(ranks.mean(axis=0), kind="stable")
    listed = ", ".join(f"{systems[i].name} {ranks[:, i].mean():.1f}" for i in order)
    return f"Mean ranks over {len(complete)} cells: {listed}."


def _ablation(results: Results, concord: System) -> list[list[str]]:
    """Of each part: its graphs, the mean over them, and the graphs on which it matters most."""
    rows = []
    for system in results.spec.of_group("ablation"):
        by_graph: dict[str, list[float]] = {}
        for c, column in enumerate(results.spec.columns):
            if found := results.paired(system, concord, c):
                by_graph.setdefault(column.dataset, []).append(found.mean)
        means = {graph: float(np.mean(cells)) for graph, cells in by_graph.items()}
        if not means:
            rows.append([system.name, "0", "–", "–", "–"])
            continue
        mean = paired_difference(list(means.values()), np.zeros(len(means)))
        ends = [
            f"{name} {means[name]:+.1f}"
            for name in (min(means, key=means.__getitem__), max(means, key=means.__getitem__))
        ]
        rows.append([system.name, str(len(means)), str(mean), *ends])
    return rows


_TRUST = ("ECE", "confidence less accuracy", "AUROC of trust", "AUROC of the pool's margin")


def _trust(results: Results, concord: System) -> list[list[str]]:
    """Of each column, then their mean."""
    table = []
    for c in range(len(results.spec.columns)):
        runs = [row.trust for row in results.runs(concord, c).values()]
        values: list[list[float | None]] = [[t.final.ece for t in runs], [t.final.confidence_gap for t in runs]]
        values.append([t.final.signals["trust"].auroc for t in runs])
        values.append([t.other_auroc["pool"]["margin"] for t in runs])
        known = [[x for x in one if x is not None] for one in values]
        table.append([100 * float(np.mean(one)) if one else np.nan for one in known])
    measured = np.array([row for row in table if not np.isnan(row).any()]).reshape(-1, len(_TRUST))
    names = [*map(str, results.spec.columns), "mean"]
    rows = [*table, measured.mean(axis=0).tolist() if len(measured) else [np.nan] * len(_TRUST)]
    shown = [["–" if np.isnan(x) else f"{x:.1f}" for x in row] for row in rows]
    return [[name, *cells] for name, cells in zip(names, shown, strict=True)]


_BODY = """{accuracy}

## Paired differences

Concord's accuracy less that of the other system on the same splits, with a 95 % interval for the mean. {verdict}
{lost} {ranks}

{best}

{paired}

## Ablation

Accuracy of Concord without one part less that of Concord, on the same splits, as a mean over the cells of each graph;
then the mean over graphs with its 95 % interval, and the graphs that lose and gain most without the part.

{ablation}

## Quality of trust

In %, means over the same runs. A positive difference of confidence and accuracy is over-confidence. Every AUROC is for
separating right from wrong final predictions of Concord. [How often the promise of trust is kept](trust.md)
on graphs left out has a page of its own.

{trust}

## What was tried"""
