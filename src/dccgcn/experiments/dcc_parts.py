"""What each part of DCC-GCN adds: its channels alone, both together, and calibration, beside GCN."""

from collections.abc import Iterable

import numpy as np

from dccgcn.evaluation.paired import PairedDifference, paired_difference, significance, summary
from dccgcn.experiments.results import Results
from dccgcn.experiments.rows import RunRow
from dccgcn.text import markdown_table

_HEADER = [
    "DCC-GCN's parts, accuracy in %", "topology channel", "feature channel", "joint, not calibrated", "calibrated",
    "calibration adds (95 %)", "channels disagree on", "these nodes before", "after", "against GCN (95 %)",
]  # fmt: skip


def parts_table(results: Results) -> str:
    """A row per column, over all stored splits; empty for an experiment without DCC-GCN and GCN."""
    spec = results.spec
    if spec.kind != "table" or not {"DCC-GCN", "GCN"} <= {system.name for system in spec.systems}:
        return ""
    dcc, gcn = spec.system("DCC-GCN"), spec.system("GCN")
    lines, gains, leads = [], [], []
    for c, column in enumerate(spec.columns):
        if rows := list(results.runs(dcc, c).values()):
            to_gcn = results.paired(dcc, gcn, c)
            added = _calibration_gain(rows)
            against = f"{to_gcn}, {to_gcn.n} splits" if to_gcn else "–"
            lines.append([f"{column} ({len(rows)} splits)", *_parts(rows, str(added or "–")), against])
            gains.append(added)
            leads.append(to_gcn)
    if not lines:
        return ""
    gain, lead = (significance(filter(None, found)) for found in (gains, leads))
    sentence = (
        f"Calibration gains significantly in {gain.above} and costs significantly in {gain.below} of {gain.of} columns."
        f" DCC-GCN is significantly above GCN in {lead.above} and significantly below it in {lead.below} of {lead.of}."
    )
    return f"{markdown_table(_HEADER, lines)}\n\n{sentence}"


def _calibration_gain(rows: list[RunRow]) -> PairedDifference | None:
    pairs = [(row.accuracy, row.accuracy_uncorrected) for row in rows if row.accuracy_uncorrected is not None]
    return paired_difference(*(100 * np.array(pairs)).T) if pairs else None


def _parts(rows: list[RunRow], gain: str) -> list[str]:
    return [
        _mean(row.channel_accuracy.get("topology") for row in rows),
        _mean(row.channel_accuracy.get("features") for row in rows),
        _mean(row.accuracy_uncorrected for row in rows),
        _mean(row.accuracy for row in rows),
        gain,
        _mean(None if row.agreement is None else 1 - row.agreement for row in rows) + " %",
        _mean(row.accuracy_low_before for row in rows),
        _mean(row.accuracy_low_after for row in rows),
    ]


def _mean(shares: Iterable[float | None]) -> str:
    known = [100 * share for share in shares if share is not None]
    return f"{summary(known).mean:.1f}" if known else "–"
