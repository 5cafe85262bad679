"""The interpretation of a page. Its numbers are filled from the runs, so that no sentence contradicts its table."""

import re
from collections.abc import Callable, Iterable, Iterator

from dccgcn.evaluation.paired import PairedDifference, paired_difference, significance
from dccgcn.experiments.confidence import metrics_of, rankings
from dccgcn.experiments.results import Results

_SHOWN_SPREAD = 5  # runs from which a standard deviation counts
_NOTHING = "not measured"


def reading(results: Results) -> str:
    """The spec's text with every ``{name argument}`` replaced by what the function of that name says of the runs."""

    def filled(found: re.Match[str]) -> str:
        return _FILL[found[1]](results, " ".join(found[2].split()))

    return re.sub(r"\{(\w+)\s([^}]+)\}", filled, results.spec.reading)


def _difference(results: Results, asked: str) -> str:
    """Our means less the published values of a system, least to most."""
    system, columns = _at(results, asked)
    cells = results.cells(results.spec.system(system))
    return _range(d for c in columns if (d := cells[c].difference) is not None)


def _less(results: Results, asked: str) -> str:
    """``A less B``: the differences of two systems on the same splits, and in how many columns they are significant."""
    pair, columns = _at(results, asked)
    first, second = map(results.spec.system, pair.split(" less "))
    return _counted(d for c in columns if (d := results.paired(first, second, c)))


def _change(results: Results, asked: str) -> str:
    """``SYSTEM, from METRIC to METRIC``: differences of two metrics of the same runs."""
    name, _, metrics = asked.partition(", from ")
    before, after = metrics.split(" to ")
    system, found = results.spec.system(name), []
    for c in range(len(results.spec.columns)):
        first, second = (results.values(system, c, metric) for metric in (after, before))
        if common := sorted(first.keys() & second.keys()):
            found.append(paired_difference([first[n] for n in common], [second[n] for n in common]))
    return _counted(found)


def _above_paper(results: Results, system: str) -> str:
    """In how many columns a system's mean is above those of all rows of the paper."""
    spec, found = results.spec, []
    for c in range(len(spec.columns)):
        own = results.cell(spec.system(system), c).ours
        others = [ours.mean for one in spec.of_group("paper") if (ours := results.cell(one, c).ours)]
        if own and others:
            found.append(own.mean > max(others))
    return f"{sum(found)} of {len(found)} columns" if found else _NOTHING


def _mean(results: Results, asked: str) -> str:
    """Our means of a system, least to most."""
    system, columns = _at(results, asked)
    cells = results.cells(results.spec.system(system))
    return _range((ours.mean for c in columns if (ours := cells[c].ours)), sign="")


def _spread(results: Results, column: str) -> str:
    """Standard deviations over the runs of each system in a column, least to most."""
    at = [c for c, one in enumerate(results.spec.columns) if str(one) == column]  # a smoke run has other columns
    cells = [results.cell(system, c).ours for c in at for system in results.spec.systems]
    return _range((one.std for one in cells if one and one.std is not None and one.n >= _SHOWN_SPREAD), sign="")


def _to_margin(results: Results, asked: str) -> str:
    """``SYSTEM, PART, SIGNAL``: in which columns a signal's AUROC differs significantly from that of the margin."""
    system, part, signal = asked.split(", ", 2)
    known = [r for r in rankings(results) if (r.system, r.part, r.signal) == (system, part, signal)]
    higher = [r.labels for r in known if r.to_margin and r.to_margin.is_above]
    lower = [r.labels for r in known if r.to_margin and r.to_margin.is_below]
    return f"higher in {_named(higher, len(known))} and lower in {_named(lower, len(known))}" if known else _NOTHING


def _named(columns: list[str], total: int) -> str:
    return f"{len(columns)} of {total} columns" + (f" ({'; '.join(columns)})" if columns else "")


def _overconfidence(results: Results, asked: str) -> str:
    """Mean confidence less accuracy of a system in points, least to most."""
    system, columns = _at(results, asked)
    return _range(gap for c, gap in _gaps(results, system) if c in columns)


def _under_confident(results: Results, system: str) -> str:
    """In how many columns a system's mean confidence is below its accuracy."""
    gaps = [gap for _, gap in _gaps(results, system)]
    return f"{sum(gap < 0 for gap in gaps)} of {len(gaps)}"


def _gaps(results: Results, system: str) -> Iterator[tuple[int, float]]:
    for c in range(len(results.spec.columns)):
        if runs := metrics_of(results, results.spec.system(system), c):
            yield c, 100 * sum(run.confidence_gap for run in runs) / len(runs)


def _at(results: Results, asked: str) -> tuple[str, list[int]]:
    """What is asked, and the columns of the datasets named after a colon; without one all columns."""
    what, _, datasets = asked.partition(": ")
    columns = enumerate(results.spec.columns)
    return what, [c for c, column in columns if not datasets or column.dataset in datasets.split()]


def _counted(differences: Iterable[PairedDifference]) -> str:
    found = list(differences)
    if not found:
        return _NOTHING
    counts, shown = significance(found), _range(d.mean for d in found)
    where = f"significantly above zero in {counts.above} and below in {counts.below} of {len(found)}"
    return f"{shown} points ({where} columns)"


def _range(values: Iterable[float], sign: str = "+") -> str:
    known = sorted(values)
    texts = dict.fromkeys(f"{value:{sign}.1f}" for value in known[:1] + known[-1:])
    return " to ".join(texts) or _NOTHING


_FILL: dict[str, Callable[[Results, str], str]] = {
    "difference": _difference,
    "less": _less,
    "change": _change,
    "above_paper": _above_paper,
    "mean": _mean,
    "spread": _spread,
    "to_margin": _to_margin,
    "overconfidence": _overconfidence,
    "under_confident": _under_confident,
}
