"""The interpretation of a page. Its numbers are filled from the runs, so that no sentence contradicts its table."""

import re
from collections.abc import Callable, Iterable

from dccgcn.experiments.confidence import metrics_of
from dccgcn.experiments.results import Results

_SHOWN_SPREAD = 5  # runs from which a standard deviation counts


def reading(results: Results) -> str:
    """The spec's text with every ``{name argument}`` replaced by what the function of that name says of the runs."""
    return re.sub(r"\{(\w+) ([^}]+)\}", lambda found: _FILL[found[1]](results, found[2]), results.spec.reading)


def _difference(results: Results, system: str) -> str:
    """Our means less the published values, least to most."""
    cells = results.cells(results.spec.system(system))
    return _range(cell.difference for cell in cells if cell.difference is not None)


def _spread(results: Results, column: str) -> str:
    """Standard deviations over the runs of each system in a column, least to most."""
    at = [c for c, one in enumerate(results.spec.columns) if str(one) == column]  # a smoke run has other columns
    cells = [results.cell(system, c).ours for c in at for system in results.spec.systems]
    return _range((one.std for one in cells if one and one.std is not None and one.n >= _SHOWN_SPREAD), sign="")


def _overconfidence(results: Results, asked: str) -> str:
    """Mean confidence less accuracy of a system in points, least to most, on the datasets named after a colon."""
    system, _, datasets = asked.partition(": ")
    gaps = _gaps(results, system)
    return _range(gap for dataset, gap in gaps if not datasets or dataset in datasets.split())


def _under_confident(results: Results, system: str) -> str:
    """In how many columns a system's mean confidence is below its accuracy."""
    gaps = [gap for _, gap in _gaps(results, system)]
    return f"{sum(gap < 0 for gap in gaps)} of {len(gaps)}"


def _gaps(results: Results, system: str) -> list[tuple[str, float]]:
    found = []
    for c, column in enumerate(results.spec.columns):
        if runs := metrics_of(results, results.spec.system(system), c):
            found.append((column.dataset, 100 * sum(run.confidence_gap for run in runs) / len(runs)))
    return found


def _range(values: Iterable[float], sign: str = "+") -> str:
    known = sorted(values)
    texts = dict.fromkeys(f"{value:{sign}.1f}" for value in known[:1] + known[-1:])
    return " to ".join(texts) or "not measured"


_FILL: dict[str, Callable[[Results, str], str]] = {
    "difference": _difference,
    "spread": _spread,
    "overconfidence": _overconfidence,
    "under_confident": _under_confident,
}
