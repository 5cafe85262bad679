"""The page on Concord: accuracy against other systems on graphs of many kinds, ablation, and quality of trust."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dccgcn.quality.paired import PairedDifference, paired_difference, significance, summary
from dccgcn.text import markdown_table
from paper.results import Results
from paper.spec import System

_MANY = 10  # splits; with two or three an interval is so wide that hardly anything is significant
_TRUST = {
    "ECE": "final_ece",
    "confidence less accuracy": "final_gap",
    "AUROC of trust": "final_auroc_trust",
    "AUROC of the pool's margin": "pool_auroc_margin",
}


@dataclass(frozen=True)
class ConcordPage:
    """The tables and sentences, every number over the splits that were run, with their number."""

    results: Results

    @cached_property
    def concord(self) -> System:
        return self.results.spec.system("concord")

    @cached_property
    def rivals(self) -> list[System]:
        return [system for system in self.results.spec.of_group("paper") if system is not self.concord]

    @cached_property
    def differences(self) -> dict[tuple[str, int], PairedDifference]:
        """Of Concord to each other system, by its name and column; with fewer than two common splits there is none."""
        places = [(s, c) for s in self.rivals for c in range(len(self.results.spec.columns))]
        pairs = {(s.name, c): self.results.paired(self.concord, s, c) for s, c in places}
        return {place: d for place, d in pairs.items() if d and d.n > 1}

    def accuracy_table(self) -> str:
        """Mean ± standard deviation and number of splits of every system."""
        rows = self._by_column([self._mean(s, c) for s in (self.concord, *self.rivals)] for c in self._columns)
        return markdown_table(["accuracy in %", "**concord**", *(s.name for s in self.rivals)], rows)

    def best_table(self) -> str:
        """The best other system of each column, and the difference to it."""
        rows = []
        for c in self._columns:
            best = self.results.best_other(self.concord, c, "accuracy", "paper")
            rows.append([best.name, self._difference(best, c)] if best else ["–", "–"])
        return markdown_table(["", "best other system", "Concord less the best"], self._by_column(rows))

    def paired_table(self) -> str:
        """The difference to every other system."""
        rows = self._by_column([self._difference(s, c) for s in self.rivals] for c in self._columns)
        return markdown_table(["Concord less …", *(s.name for s in self.rivals)], rows)

    def verdict(self) -> str:
        """In how many comparisons Concord is significantly better, and worse."""
        parts = []
        for least, name in ((2, "two"), (_MANY, "ten")):
            counts = significance(d for d in self.differences.values() if d.n >= least)
            parts.append(
                f"of {counts.of} comparisons with at least {name} common splits it is significantly better in "
                f"{counts.above} and significantly worse in {counts.below}"
            )
        return f"{parts[0].capitalize()}; {parts[1]}."

    def lost(self) -> str:
        """The comparisons in which Concord is significantly worse."""
        columns = self.results.spec.columns
        lost = [f"{columns[c]} to {name} ({d.mean:+.1f})" for (name, c), d in self.differences.items() if d.is_below]
        return f"Lost: {'; '.join(lost)}." if lost else "None is lost."

    def ranks(self) -> str:
        """Mean rank over the cells in which all systems that are left out of no column were run."""
        columns = self.results.spec.columns
        systems = [s for s in (self.concord, *self.rivals) if not any(s.method in c.excluded for c in columns)]
        means = pd.DataFrame({s.name: [self.results.values(s, c).mean() for c in self._columns] for s in systems})
        complete = means.dropna()
        if complete.empty:
            return "No cell has runs of all systems yet."
        ranks = complete.rank(axis=1, ascending=False, method="min").mean().sort_values(kind="stable")
        listed = ", ".join(f"{name} {rank:.1f}" for name, rank in ranks.items())
        return f"Mean ranks over {len(complete)} cells: {listed}."

    def ablation_table(self) -> str:
        """Of each part: its graphs, the mean over them, and the graphs on which it matters most."""
        rows = []
        for system in self.results.spec.of_group("ablation"):
            cells = [
                (column.dataset, d.mean)
                for c, column in enumerate(self.results.spec.columns)
                if (d := self.results.paired(system, self.concord, c))
            ]
            if not cells:
                rows.append([system.name, "0", "–", "–", "–"])
                continue
            means = pd.DataFrame(cells, columns=["graph", "gain"]).groupby("graph", sort=False).gain.mean()
            mean = paired_difference(means, np.zeros(len(means)))
            ends = [f"{name} {means[name]:+.1f}" for name in (means.idxmin(), means.idxmax())]
            rows.append([system.name, str(len(means)), str(mean), *ends])
        return markdown_table(["", "graphs", "mean", "loses most", "gains most"], rows)

    def trust_table(self) -> str:
        """The quality of trust in each column, then its mean over the columns, in %."""
        cells = [self.results.runs(self.concord, c).reindex(columns=list(_TRUST.values())) for c in self._columns]
        table = pd.DataFrame([100 * runs.astype(float).mean() for runs in cells])
        table.loc[len(table)] = table.dropna().mean()
        names = [*map(str, self.results.spec.columns), "mean"]
        rows = [["–" if np.isnan(x) else f"{x:.1f}" for x in row] for row in table.to_numpy()]
        return markdown_table(["", *_TRUST], [[name, *row] for name, row in zip(names, rows, strict=True)])

    @property
    def _columns(self) -> range:
        return range(len(self.results.spec.columns))

    def _by_column(self, rows: Iterable[list[str]]) -> list[list[str]]:
        """The rows with the names of their columns of the spec."""
        return [[str(column), *row] for column, row in zip(self.results.spec.columns, rows, strict=True)]

    def _mean(self, system: System, c: int) -> str:
        values = self.results.values(system, c)
        return f"{summary(values)} ({len(values)})" if len(values) else "–"

    def _difference(self, system: System, c: int) -> str:
        return str(self.differences.get((system.name, c)) or "–")
