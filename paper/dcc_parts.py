"""What each part of DCC-GCN adds: its channels alone, both together, and calibration, beside GCN."""

import pandas as pd

from dccgcn.quality.paired import PairedDifference, paired_difference, significance
from dccgcn.text import markdown_table
from paper.results import Results, values_of

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
        runs = results.runs(dcc, c)
        if len(runs):
            to_gcn = results.paired(dcc, gcn, c)
            added = _calibration_gain(runs)
            against = f"{to_gcn}, {to_gcn.n} splits" if to_gcn else "–"
            lines.append([f"{column} ({len(runs)} splits)", *_parts(runs, str(added or "–")), against])
            gains.append(added)
            leads.append(to_gcn)
    if not lines:
        return ""
    gain, lead = (significance(filter(None, differences)) for differences in (gains, leads))
    sentence = (
        f"Calibration gains significantly in {gain.above} and costs significantly in {gain.below} of {gain.of} columns."
        f" DCC-GCN is significantly above GCN in {lead.above} and significantly below it in {lead.below} of {lead.of}."
    )
    return f"{markdown_table(_HEADER, lines)}\n\n{sentence}"


def _calibration_gain(runs: pd.DataFrame) -> PairedDifference | None:
    if "accuracy_uncorrected" not in runs:
        return None
    pairs = 100 * runs[["accuracy", "accuracy_uncorrected"]].dropna()
    return paired_difference(pairs.iloc[:, 0], pairs.iloc[:, 1]) if len(pairs) else None


def _parts(runs: pd.DataFrame, gain: str) -> list[str]:
    first = ("accuracy_channel1", "accuracy_channel2", "accuracy_uncorrected", "accuracy")
    disagree = runs.assign(disagree=1 - runs.agreement) if "agreement" in runs else runs
    return [
        *(_mean(runs, name) for name in first),
        gain,
        _mean(disagree, "disagree") + " %",
        _mean(runs, "accuracy_low_before"),
        _mean(runs, "accuracy_low_after"),
    ]


def _mean(runs: pd.DataFrame, name: str) -> str:
    shares = 100 * values_of(runs, name)
    return f"{shares.mean():.1f}" if len(shares) else "–"
