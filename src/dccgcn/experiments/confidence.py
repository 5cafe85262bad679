"""Whether disagreement of two channels finds wrong predictions, and whether stated confidence is calibrated."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from dccgcn.evaluation.paired import PairedDifference, Summary, paired_difference, summary
from dccgcn.evaluation.signals import BINS, COVERAGES
from dccgcn.experiments.results import Results
from dccgcn.experiments.rows import ConfidenceMetrics, SignalMetrics
from dccgcn.experiments.spec import System
from dccgcn.text import markdown_table

SIGNALS = ("confidence", "margin", "entropy", "agreement", "agreement, then margin", "trust")
Part = Literal["first_channel", "final"]
PARTS: dict[Part, str] = {"first_channel": "its first channel alone", "final": "its final predictions"}


def metrics_of(results: Results, system: System, c: int, part: Part = "final") -> list[ConfidenceMetrics]:
    """Confidence metrics of a system's runs in column c."""
    found = [getattr(row.trust, part) for row in results.first_runs(system, c).values()]
    return [metrics for metrics in found if metrics is not None]


@dataclass(frozen=True)
class Ranking:
    """One signal of one system in one column."""

    system: str
    part: Part
    labels: str
    signal: str
    auroc: Summary  # probability that a right prediction ranks above a wrong one, in %
    aurc: Summary  # mean risk over all coverages, in %
    to_margin: PairedDifference | None  # of the AUROC, on the same runs
    risk: list[float]  # mean over runs, at COVERAGES


def rankings(results: Results) -> list[Ranking]:
    """Every signal of every system in every column with runs."""
    found = []
    for system in results.spec.systems:
        for part in PARTS:
            for c, column in enumerate(results.spec.columns):
                runs = [metrics.signals for metrics in metrics_of(results, system, c, part)]
                for signal in SIGNALS:
                    known = [r for r in runs if signal in r and r[signal].auroc is not None]
                    if known:
                        found.append(_ranking((system.name, part, str(column), signal), known))
    return found


def _ranking(about: tuple[str, Part, str, str], runs: list[dict[str, SignalMetrics]]) -> Ranking:
    signal = about[3]
    auroc, margin = ([100 * (run[name].auroc or 0.0) for run in runs] for name in (signal, "margin"))
    return Ranking(
        *about,
        auroc=summary(auroc),
        aurc=summary([100 * run[signal].aurc for run in runs]),
        to_margin=None if signal == "margin" else paired_difference(auroc, margin),
        risk=np.mean([run[signal].risk for run in runs], axis=0).round(5).tolist(),
    )


def pooled_bins(runs: Sequence[ConfidenceMetrics]) -> list[tuple[int, float, float]]:
    """One reliability diagram for all runs: their bins, sorted by confidence, merged into bins of equal mass."""
    merged = np.array(sorted((one for run in runs for one in run.bins), key=lambda one: one[1]), dtype=float)
    if not len(merged):
        return []
    below = np.cumsum(merged[:, 0]) - merged[:, 0] / 2
    which = np.minimum((below / merged[:, 0].sum() * BINS).astype(int), BINS - 1)
    pooled = []
    for b in np.unique(which):
        count, confidence, accuracy = merged[which == b].T
        stated, right = (float(np.average(x, weights=count)) for x in (confidence, accuracy))
        pooled.append((int(count.sum()), stated, right))
    return pooled


def confidence_body(results: Results) -> str:
    """Tables of AUROC and AURC by signal, then the calibration of every system."""
    found = rankings(results)
    parts = []
    for system in results.spec.systems:
        for part, described in PARTS.items():
            own = [r for r in found if (r.system, r.part) == (system.name, part)]
            if any(r.signal == "agreement" for r in own):
                parts.append(f"## {system.name}, {described}\n\n{_ranking_table(own)}")
    gaps = _calibration_table(results, "confidence_gap", lambda gap: f"{gap} {'over' if gap.mean > 0 else 'under'}")
    errors = _calibration_table(results, "ece", str)
    parts += [
        f"## A single model's margin\n\nAUROC in %.\n\n{_margin_table(results, found)}",
        f"## Over- and under-confidence\n\nMean confidence less accuracy, in points.\n\n{gaps}",
        f"## Expected calibration error\n\n{BINS} bins of equal mass, in points.\n\n{errors}",
        lowest_errors(results),
        results.columns_without_runs(),
    ]
    return "\n\n".join(part for part in parts if part)


def _ranking_table(found: list[Ranking]) -> str:
    signals = [s for s in SIGNALS if any(r.signal == s for r in found)]
    rows = []
    for labels in dict.fromkeys(r.labels for r in found):
        by_signal = {r.signal: r for r in found if r.labels == labels}
        best = max(r.auroc.mean for r in by_signal.values())
        cells = []
        for r in (by_signal.get(s) for s in signals):
            text = "–" if r is None else f"{r.auroc} / {r.aurc.mean:.1f}"
            cells.append(f"**{text}**" if r and r.auroc.mean == best else text)
        difference = by_signal["agreement"].to_margin if "agreement" in by_signal else None
        rows.append([labels, *cells, "–" if difference is None else str(difference)])
    return markdown_table(["AUROC / AURC, %", *signals, "AUROC of agreement less margin"], rows)


def _margin_table(results: Results, found: list[Ranking]) -> str:
    by = {(r.system, r.labels): str(r.auroc) for r in found if r.part == "final" and r.signal == "margin"}
    columns = [str(column) for column in results.spec.columns]
    rows = [[s.name, *(by.get((s.name, column), "–") for column in columns)] for s in results.spec.systems]
    return markdown_table(["margin", *columns], rows)


def lowest_errors(results: Results) -> str:
    """A sentence: which system has the lowest calibration error in which columns."""
    lowest: dict[str, list[str]] = {}
    for c, column in enumerate(results.spec.columns):
        means = {
            system.name: float(np.mean([run.ece for run in runs]))
            for system in results.spec.systems
            if (runs := metrics_of(results, system, c))
        }
        if means:
            lowest.setdefault(min(means, key=lambda name: means[name]), []).append(str(column))
    ranked = sorted(lowest.items(), key=lambda item: -len(item[1]))
    total = sum(map(len, lowest.values()))
    named = [f"{name} has the lowest error in {len(at)} of {total} columns ({'; '.join(at)})" for name, at in ranked]
    return f"{', '.join(named)}." if named else ""


def _calibration_table(results: Results, metric: str, text: Callable[[Summary], str]) -> str:
    columns = results.spec.columns
    rows = []
    for system in results.spec.systems:
        found = [metrics_of(results, system, c) for c in range(len(columns))]
        rows.append([system.name, *(text(_mean(runs, metric)) if runs else "–" for runs in found)])
    return markdown_table(["points", *map(str, columns)], rows)


def _mean(runs: list[ConfidenceMetrics], metric: str) -> Summary:
    return summary([100 * getattr(run, metric) for run in runs])


def confidence_json(results: Results) -> dict[str, Any]:
    """Rankings, and for each system and column the reliability diagram and the calibration errors."""
    calibration = [
        {
            "system": system.name, "part": part, "labels": str(column),
            "confidence_gap": asdict(_mean(runs, "confidence_gap")),
            "ece": asdict(_mean(runs, "ece")),
            "reliability": pooled_bins(runs),
        }
        for system in results.spec.systems
        for part in PARTS
        for c, column in enumerate(results.spec.columns)
        if (runs := metrics_of(results, system, c, part))
    ]  # fmt: skip
    return {
        "experiment": results.spec.name,
        "title": results.spec.title,
        "bins": {"number": BINS, "scheme": "equal-mass"},
        "coverages": COVERAGES.round(2).tolist(),
        "rankings": [asdict(r) for r in rankings(results)],
        "calibration": calibration,
    }
