"""Theorems 1 and 2 against what two channels measure, split by split."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dccgcn.evaluation import theory
from dccgcn.evaluation.metrics import ChannelCounts
from dccgcn.experiments.experiment import Experiment
from dccgcn.experiments.markdown import markdown_table
from dccgcn.experiments.measured import Missing, Rows, label, not_yet


@dataclass(frozen=True)
class Tested:
    """Means over the runs of one line in one column; shares, not per cent."""

    line: str
    labels: str
    n: int
    p1: float
    p2: float
    r: float
    w: float
    p_low: float  # counted
    identity: float  # (p1 - r) / (1 - r - w)
    bound1: float  # Theorem 1's
    holds1: int  # runs in which p_low is below it
    below_p1: int  # runs in which Theorem 1's words hold
    bound2: float  # Theorem 2's
    corrected2: float
    gain: float
    assumed: int  # runs that meet Assumption 2
    holds2: int  # of those, runs whose gain is below the paper's bound
    holds_corrected: int  # and below the corrected one


def tested(e: Experiment, rows: Rows) -> list[Tested]:
    """One entry for each line and column with runs."""
    found = []
    for line in e.lines:
        for c, column in enumerate(e.columns):
            every = [rows.get(e.keys.get((line.name, c, nth), ""), {}) for nth in range(e.runs)]
            runs = [row for row in every if "channel_counts" in row and row.get("accuracy_low_after") is not None]
            if runs:
                found.append(_tested(line.name, label(column), runs))
    return found


def _tested(line: str, labels: str, runs: list[dict[str, Any]]) -> Tested:
    stats = [theory.statistics(ChannelCounts(**row["channel_counts"])) for row in runs]
    after = np.array([row["accuracy_low_after"] for row in runs])
    p1, p2, r, w = (np.array([getattr(s, name) for s in stats]) for name in ("p1", "p2", "r", "w"))
    low = np.array([s.p_low for s in stats], dtype=float)
    bound1, gain = theory.theorem1_bound(p1, p2), theory.gain(p1, r, w, after)
    bound2, corrected = theory.theorem2_bound(p1, r + w), theory.theorem2_corrected(p1, r, w)
    assumed = after < p1
    return Tested(
        line=line,
        labels=labels,
        n=len(runs),
        p1=float(p1.mean()),
        p2=float(p2.mean()),
        r=float(r.mean()),
        w=float(w.mean()),
        p_low=float(low.mean()),
        identity=float(theory.low_accuracy(p1, r, w).mean()),
        bound1=float(bound1.mean()),
        holds1=int((low < bound1).sum()),
        below_p1=int((low < p1).sum()),
        bound2=float(bound2.mean()),
        corrected2=float(corrected.mean()),
        gain=float(gain.mean()),
        assumed=int(assumed.sum()),
        holds2=int((gain < bound2)[assumed].sum()),
        holds_corrected=int((gain < corrected)[assumed].sum()),
    )


def theorems_body(e: Experiment, rows: Rows, missing: Missing) -> str:
    """One table for each theorem."""
    found = tested(e, rows)
    one = [
        [t.line, t.labels, str(t.n), *(f"{x:.3f}" for x in (t.p1, t.p2, t.r, t.w, t.p_low, t.identity, t.bound1)),
         f"{t.below_p1} of {t.n}", f"{t.holds1} of {t.n}"]
        for t in found
    ]  # fmt: skip
    two = [
        [t.line, t.labels, *(f"{x:.3f}" for x in (t.gain, t.bound2, t.corrected2)), f"{t.assumed} of {t.n}",
         f"{t.holds2} of {t.assumed}", f"{t.holds_corrected} of {t.assumed}"]
        for t in found
    ]  # fmt: skip
    header1 = ["Theorem 1", "labels", "runs", "p1", "p2", "r", "w", "p_low, counted", "(p1 - r)/(1 - r - w)",
               "the paper's bound", "p_low < p1", "bound holds"]  # fmt: skip
    header2 = ["Theorem 2", "labels", "gain", "the paper's bound", "corrected bound", "Assumption 2 met",
               "the paper's holds", "corrected holds"]  # fmt: skip
    parts = [markdown_table(header1, one), markdown_table(header2, two), not_yet(e, rows, missing)]
    return "\n\n".join(part for part in parts if part)


def theorems_json(e: Experiment, rows: Rows) -> dict[str, Any]:
    return {"experiment": e.name, "title": e.title, "tested": [asdict(t) for t in tested(e, rows)]}
