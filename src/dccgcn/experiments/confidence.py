"""Do channels that disagree find the wrong answers, and can stated confidence be believed?"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dccgcn.evaluation.paired import PairedDifference, Summary, paired_difference, summary
from dccgcn.evaluation.signals import BINS, COVERAGES
from dccgcn.experiments.experiment import Experiment, Line
from dccgcn.experiments.markdown import markdown_table
from dccgcn.experiments.measured import Missing, Rows, label, not_yet

SIGNALS = ("confidence", "margin", "entropy", "agreement", "agreement, then margin", "trust")
OF = {"channel": "its first channel alone", "answer": "its final answers"}


def judged(e: Experiment, rows: Rows, line: Line, c: int, of: str = "answer") -> dict[int, dict[str, Any]]:
    """What the runs of one line in one column say about their answers, by number of the split."""
    found = {}
    for nth in range(e.runs):
        record = rows.get(e.keys.get((line.name, c, nth), ""), {}).get("trust", {})
        if of in record:
            found[nth] = record[of]
    return found


@dataclass(frozen=True)
class Ranking:
    """One signal of one line in one column."""

    line: str
    of: str  # "answer", or "channel": the first channel alone
    labels: str
    signal: str
    auroc: Summary  # chance that a right answer is trusted more than a wrong one, in per cent
    aurc: Summary  # mean risk over all coverages, in per cent
    to_margin: PairedDifference | None  # of the AUROC, on the same runs
    risk: list[float]  # mean over runs, at COVERAGES


def rankings(e: Experiment, rows: Rows) -> list[Ranking]:
    """Every signal of every line in every column with runs."""
    found = []
    for line in e.lines:
        for of in OF:
            for c, column in enumerate(e.columns):
                runs = list(judged(e, rows, line, c, of).values())
                for signal in SIGNALS:
                    told = [r["signals"] for r in runs if r["signals"].get(signal, {}).get("auroc") is not None]
                    if told:
                        found.append(_ranking(line.name, of, label(column), signal, told))
    return found


def _ranking(line: str, of: str, labels: str, signal: str, told: list[dict[str, Any]]) -> Ranking:
    auroc, margin = ([100 * one[name]["auroc"] for one in told] for name in (signal, "margin"))
    return Ranking(
        line, of, labels, signal,
        auroc=summary(auroc),
        aurc=summary([100 * one[signal]["aurc"] for one in told]),
        to_margin=None if signal == "margin" else paired_difference(auroc, margin),
        risk=np.mean([one[signal]["risk"] for one in told], axis=0).round(5).tolist(),
    )  # fmt: skip


def pooled_bins(runs: list[dict[str, Any]], bins: int = BINS) -> list[tuple[int, float, float]]:
    """One reliability diagram for all runs: their bars in the order of confidence, joined to bars of equal mass."""
    bars = np.array(sorted((bar for run in runs for bar in run["bins"]), key=lambda bar: bar[1]), dtype=float)
    if not len(bars):
        return []
    below = np.cumsum(bars[:, 0]) - bars[:, 0] / 2
    which = np.minimum((below / bars[:, 0].sum() * bins).astype(int), bins - 1)
    joined = []
    for b in np.unique(which):
        count, confidence, accuracy = bars[which == b].T
        joined.append((int(count.sum()), *(float(np.average(x, weights=count)) for x in (confidence, accuracy))))
    return joined  # type: ignore[return-value]


def confidence_body(e: Experiment, rows: Rows, missing: Missing) -> str:
    """Tables of AUROC and AURC by signal, then the calibration of every line."""
    parts = []
    found = rankings(e, rows)
    for line in e.lines:
        for of, called in OF.items():
            mine = [r for r in found if (r.line, r.of) == (line.name, of)]
            if mine and any(r.signal == "agreement" for r in mine):
                parts.append(f"## {line.name}, {called}\n\n{_ranking_table(mine)}")
    alone = [r for r in found if r.of == "answer" and r.signal == "margin"]
    parts.append(f"## One model's own margin\n\nAUROC in per cent.\n\n{_by_line(e, alone)}")
    parts.append(
        f"## Over- or under-confident\n\nMean confidence less accuracy, in points.\n\n{_calibration(e, rows, 'gap')}"
    )
    parts.append(
        f"## Expected calibration error\n\n{BINS} bins of equal mass, in points.\n\n{_calibration(e, rows, 'ece')}"
    )
    absent = not_yet(e, rows, missing)
    return "\n\n".join([*parts, absent] if absent else parts)


def _ranking_table(mine: list[Ranking]) -> str:
    signals = [s for s in SIGNALS if any(r.signal == s for r in mine)]
    shown = []
    for labels in dict.fromkeys(r.labels for r in mine):
        by = {r.signal: r for r in mine if r.labels == labels}
        best = max(r.auroc.mean for r in by.values())
        cells = []
        for r in (by.get(s) for s in signals):
            text = "–" if r is None else f"{r.auroc} / {r.aurc.mean:.1f}"
            cells.append(f"**{text}**" if r and r.auroc.mean == best else text)
        shown.append([labels, *cells, _difference(by["agreement"].to_margin if "agreement" in by else None)])
    header = ["AUROC / AURC, %", *signals, "AUROC of agreement less margin"]
    return markdown_table(header, shown)


def _difference(d: PairedDifference | None) -> str:
    if d is None:
        return "–"
    return f"{d.mean:+.1f}" + (f" ({d.low:+.1f} to {d.high:+.1f})" if d.low is not None and d.high is not None else "")


def _by_line(e: Experiment, found: list[Ranking]) -> str:
    by = {(r.line, r.labels): str(r.auroc) for r in found}
    shown = [[line.name, *(by.get((line.name, label(c)), "–") for c in e.columns)] for line in e.lines]
    return markdown_table(["margin", *(label(c) for c in e.columns)], shown)


def _calibration(e: Experiment, rows: Rows, what: str) -> str:
    sign: Callable[[float], str] = (
        (lambda mean: " over" if mean > 0 else " under") if what == "gap" else (lambda mean: "")
    )
    shown = []
    for line in e.lines:
        cells = []
        for c in range(len(e.columns)):
            values = [100 * record[what] for record in judged(e, rows, line, c).values()]
            cells.append(f"{summary(values)}{sign(float(np.mean(values)))}" if values else "–")
        shown.append([line.name, *cells])
    return markdown_table(["points", *(label(c) for c in e.columns)], shown)


def confidence_json(e: Experiment, rows: Rows) -> dict[str, Any]:
    """Rankings, and for each line and column the diagram and the errors."""
    calibration = [
        {
            "line": line.name, "of": of, "labels": label(column),
            "gap": asdict(summary([100 * r["gap"] for r in runs.values()])),
            "ece": asdict(summary([100 * r["ece"] for r in runs.values()])),
            "reliability": pooled_bins(list(runs.values())),
        }
        for line in e.lines
        for of in OF
        for c, column in enumerate(e.columns)
        if (runs := judged(e, rows, line, c, of))
    ]  # fmt: skip
    return {
        "experiment": e.name,
        "title": e.title,
        "bins": {"number": BINS, "scheme": "equal-mass"},
        "coverages": COVERAGES.round(2).tolist(),
        "rankings": [asdict(r) for r in rankings(e, rows)],
        "calibration": calibration,
    }
