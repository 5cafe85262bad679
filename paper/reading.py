"""The interpretation of a page: a template whose numbers are filled from the runs, so that no sentence contradicts its
table."""

from collections.abc import Iterable, Iterator

import pandas as pd
from jinja2 import Environment, StrictUndefined

from dccgcn.quality.paired import PairedDifference, paired_difference, significance
from paper.confidence import compared_to_margin
from paper.results import Results, values_of

_SHOWN_SPREAD = 5  # runs from which a standard deviation counts
_NOTHING = "not measured"


def reading(results: Results) -> str:
    """The spec's text with what the methods of ``Reading`` say of the runs."""
    template = Environment(undefined=StrictUndefined).from_string(results.spec.reading)
    own = Reading(results)
    return template.render({name: getattr(own, name) for name in dir(own) if not name.startswith("_")})


class Reading:
    """What an interpretation may say of the runs. ``datasets``: of these columns only."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._spec = results.spec

    def difference(self, system: str, datasets: str = "") -> str:
        """Our means less the published values of a system, least to most."""
        cells = self._results.cells(self._spec.system(system))
        return _range(d for c in self._columns(datasets) if (d := cells[c].difference) is not None)

    def less(self, first: str, second: str, datasets: str = "") -> str:
        """The differences of two systems on the same splits, and in how many columns they are significant."""
        a, b = map(self._spec.system, (first, second))
        return _counted(d for c in self._columns(datasets) if (d := self._results.paired(a, b, c)))

    def change(self, system: str, before: str, after: str) -> str:
        """Differences of two metrics of the same runs."""
        differences = []
        for c in self._columns():
            values = [self._results.values(self._spec.system(system), c, metric) for metric in (after, before)]
            pair = pd.concat(values, axis=1, join="inner")
            if len(pair):
                differences.append(paired_difference(pair.iloc[:, 0], pair.iloc[:, 1]))
        return _counted(differences)

    def above_paper(self, system: str) -> str:
        """In how many columns a system's mean is above those of all rows of the paper."""
        verdicts = []
        for c in self._columns():
            own = self._results.cell(self._spec.system(system), c).ours
            others = [ours.mean for one in self._spec.of_group("paper") if (ours := self._results.cell(one, c).ours)]
            if own and others:
                verdicts.append(own.mean > max(others))
        return f"{sum(verdicts)} of {len(verdicts)} columns" if verdicts else _NOTHING

    def mean(self, system: str) -> str:
        """Our means of a system, least to most."""
        cells = self._results.cells(self._spec.system(system))
        return _range((cell.ours.mean for cell in cells if cell.ours), sign="")

    def spread(self, column: str) -> str:
        """Standard deviations over the runs of each system in a column, least to most."""
        at = [c for c, one in enumerate(self._spec.columns) if str(one) == column]  # a smoke run has other columns
        cells = [self._results.cell(system, c).ours for c in at for system in self._spec.systems]
        return _range((one.std for one in cells if one and one.std is not None and one.n >= _SHOWN_SPREAD), sign="")

    def to_margin(self, system: str, part: str, signal: str) -> str:
        """In which columns a signal's AUROC differs significantly from that of the margin."""
        above, below, total = compared_to_margin(self._results, system, part, signal)
        return f"higher in {_named(above, total)} and lower in {_named(below, total)}" if total else _NOTHING

    def overconfidence(self, system: str, datasets: str = "") -> str:
        """Mean confidence less accuracy of a system in points, least to most."""
        columns = self._columns(datasets)
        return _range(gap for c, gap in self._gaps(system) if c in columns)

    def under_confident(self, system: str) -> str:
        """In how many columns a system's mean confidence is below its accuracy."""
        gaps = [gap for _, gap in self._gaps(system)]
        return f"{sum(gap < 0 for gap in gaps)} of {len(gaps)}"

    def _gaps(self, system: str) -> Iterator[tuple[int, float]]:
        for c in self._columns():
            gaps = values_of(self._results.first_runs(self._spec.system(system), c), "final_gap")
            if len(gaps):
                yield c, 100 * gaps.mean()

    def _columns(self, datasets: str = "") -> list[int]:
        return [c for c, one in enumerate(self._spec.columns) if not datasets or one.dataset in datasets.split()]


def _named(columns: list[str], total: int) -> str:
    return f"{len(columns)} of {total} columns" + (f" ({'; '.join(columns)})" if columns else "")


def _counted(differences: Iterable[PairedDifference]) -> str:
    listed = list(differences)
    if not listed:
        return _NOTHING
    counts, shown = significance(listed), _range(d.mean for d in listed)
    where = f"significantly above zero in {counts.above} and below in {counts.below} of {len(listed)}"
    return f"{shown} points ({where} columns)"


def _range(values: Iterable[float], sign: str = "+") -> str:
    ordered = sorted(values)
    texts = dict.fromkeys(f"{value:{sign}.1f}" for value in ordered[:1] + ordered[-1:])
    return " to ".join(texts) or _NOTHING
