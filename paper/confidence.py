"""Whether disagreement of two channels finds wrong predictions, and whether stated confidence is calibrated."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from dccgcn.quality.paired import PairedDifference, Summary, paired_difference, summary
from dccgcn.text import markdown_table
from paper.results import Results, values_of
from paper.signals import BINS, FINAL, FIRST, SIGNALS, column

PARTS = {FIRST: "its first channel alone", FINAL: "its final predictions"}


@dataclass(frozen=True)
class Ranking:
    """One signal of one system in one column."""

    system: str
    part: str
    labels: str
    signal: str
    auroc: Summary  # probability that a right prediction ranks above a wrong one, in %
    aurc: Summary  # mean risk over all coverages, in %
    to_margin: PairedDifference | None  # of the AUROC, on the same runs
    risk: np.ndarray | None  # of final predictions: mean over runs, at COVERAGES


@lru_cache(maxsize=4)  # of a page and of that of all experiments
def rankings(results: Results) -> list[Ranking]:
    """Every signal of every system in every column with runs."""
    entries = []
    for system in results.spec.systems:
        for part in PARTS:
            for c, labels in enumerate(results.spec.columns):
                runs = results.first_runs(system, c)
                for signal in SIGNALS:
                    auroc, margin = column(part, "auroc", signal), column(part, "auroc", "margin")
                    ranked = runs.dropna(subset=[auroc]) if auroc in runs else runs[:0]
                    if ranked.empty:
                        continue
                    risk = column(part, "risk", signal)
                    entries.append(
                        Ranking(
                            *(system.name, part, str(labels), signal),
                            auroc=summary(100 * ranked[auroc]),
                            aurc=summary(100 * ranked[column(part, "aurc", signal)]),
                            to_margin=None if signal == "margin" else _difference(ranked, auroc, margin),
                            risk=np.mean(ranked[risk].tolist(), axis=0) if risk in ranked else None,
                        )
                    )
    return entries


def _difference(runs: pd.DataFrame, first: str, second: str) -> PairedDifference:
    return paired_difference(100 * runs[first], 100 * runs[second].fillna(0))


def pooled_bins(runs: pd.DataFrame) -> np.ndarray:
    """One reliability diagram for all runs, (bins, 3): number of predictions, mean confidence, accuracy.

    The bins of the runs, sorted by confidence, are merged into bins of equal mass.
    """
    parts = [np.reshape(bins, (-1, 3)) for bins in runs["bins"].dropna()] if "bins" in runs else []
    if not parts:
        return np.empty((0, 3))
    merged = np.concatenate(parts).astype(float)
    merged = merged[np.argsort(merged[:, 1], kind="stable")]
    below = np.cumsum(merged[:, 0]) - merged[:, 0] / 2
    which = np.minimum((below / merged[:, 0].sum() * BINS).astype(int), BINS - 1)
    pooled = []
    for b in np.unique(which):
        count, confidence, accuracy = merged[which == b].T
        pooled.append([count.sum(), *(np.average(x, weights=count) for x in (confidence, accuracy))])
    return np.array(pooled)


def ranking_tables(results: Results) -> dict[str, str]:
    """By system and part that have the agreement of two channels: AUROC and AURC of every signal."""
    entries, tables = rankings(results), {}
    for system in results.spec.systems:
        for part, described in PARTS.items():
            own = [r for r in entries if (r.system, r.part) == (system.name, part)]
            if any(r.signal == "agreement" for r in own):
                tables[f"{system.name}, {described}"] = _ranking_table(own)
    return tables


def _ranking_table(entries: list[Ranking]) -> str:
    signals = [s for s in SIGNALS if any(r.signal == s for r in entries)]
    rows = []
    for labels in dict.fromkeys(r.labels for r in entries):
        by_signal = {r.signal: r for r in entries if r.labels == labels}
        best = max(r.auroc.mean for r in by_signal.values())
        cells = []
        for r in (by_signal.get(s) for s in signals):
            text = "–" if r is None else f"{r.auroc} / {r.aurc.mean:.1f}"
            cells.append(f"**{text}**" if r and r.auroc.mean == best else text)
        difference = by_signal["agreement"].to_margin if "agreement" in by_signal else None
        rows.append([labels, *cells, "–" if difference is None else str(difference)])
    return markdown_table(["AUROC / AURC, %", *signals, "AUROC of agreement less margin"], rows)


def margin_table(results: Results) -> str:
    """The AUROC of each system's own margin."""
    by = {(r.system, r.labels): str(r.auroc) for r in rankings(results) if r.part == FINAL and r.signal == "margin"}
    columns = [str(column) for column in results.spec.columns]
    rows = [[s.name, *(by.get((s.name, column), "–") for column in columns)] for s in results.spec.systems]
    return markdown_table(["margin", *columns], rows)


def over_under(gap: Summary) -> str:
    """A confidence gap with its direction."""
    return f"{gap} {'over' if gap.mean > 0 else 'under'}"


def calibration_table(results: Results, metric: str, text: Callable[[Summary], str] = str) -> str:
    """A measure of calibration of every system in every column, in points."""
    rows = []
    for system in results.spec.systems:
        cells = [values_of(results.first_runs(system, c), metric) for c in range(len(results.spec.columns))]
        rows.append([system.name, *(text(summary(100 * values)) if len(values) else "–" for values in cells)])
    return markdown_table(["points", *map(str, results.spec.columns)], rows)


def lowest_errors(results: Results) -> str:
    """A sentence: which system has the lowest calibration error in which columns."""
    lowest: dict[str, list[str]] = {}
    for c, labels in enumerate(results.spec.columns):
        means = {
            system.name: errors.mean()
            for system in results.spec.systems
            if len(errors := values_of(results.first_runs(system, c), "final_ece"))
        }
        if means:
            lowest.setdefault(min(means, key=means.__getitem__), []).append(str(labels))
    ranked = sorted(lowest.items(), key=lambda item: -len(item[1]))
    total = sum(map(len, lowest.values()))
    named = [f"{name} has the lowest error in {len(at)} of {total} columns ({'; '.join(at)})" for name, at in ranked]
    return f"{', '.join(named)}." if named else ""


def agreement_sentences(results: Results) -> str:
    """Of each column: how agreement compares with the margin of the first channel, for the page of all experiments."""
    return "\n".join(
        f"- {r.labels}, {r.system}: agreement finds the first channel's right predictions with an AUROC of "
        f"{r.auroc.mean:.1f}, {r.to_margin.mean:+.1f} against its own margin (95 % interval {r.to_margin.interval})."
        for r in rankings(results)
        if r.signal == "agreement" and r.part == FIRST and r.to_margin and r.to_margin.low is not None
    )


def compared_to_margin(results: Results, system: str, part: str, signal: str) -> tuple[list[str], list[str], int]:
    """Columns in which a signal's AUROC is significantly above that of the margin, those below, and how many in all."""
    own = [r for r in rankings(results) if (r.system, r.part, r.signal) == (system, part, signal)]
    above = [r.labels for r in own if r.to_margin and r.to_margin.is_above]
    below = [r.labels for r in own if r.to_margin and r.to_margin.is_below]
    return above, below, len(own)
