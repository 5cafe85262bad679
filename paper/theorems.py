"""Theorems 1 and 2 of the paper checked on measured channels, run by run."""

from dataclasses import dataclass

import pandas as pd

from dccgcn.text import markdown_table
from paper import theory
from paper.results import Results

_COUNTS = ["both_right", "both_wrong_same", "both_wrong_different", "only_first_right", "only_second_right"]


@dataclass(frozen=True)
class TheoremCheck:
    """Means over the runs of one system in one column, as shares, and numbers of runs."""

    system: str
    labels: str
    n: int
    p1: float
    p2: float
    r: float
    w: float
    p_low: float  # counted
    p_low_identity: float  # (p1 - r) / (1 - r - w)
    bound1: float  # Theorem 1
    bound1_holds: int  # runs with p_low below it
    below_p1: int  # runs with p_low < p1, Theorem 1 in words
    bound2: float  # Theorem 2
    bound2_corrected: float
    gain: float
    assumption2_holds: int  # runs
    bound2_holds: int  # of those, runs with a gain below the paper's bound
    bound2_corrected_holds: int


def theorem_checks(results: Results) -> list[TheoremCheck]:
    """One entry for each system and column with runs."""
    checks = []
    for system in results.spec.systems:
        for c, column in enumerate(results.spec.columns):
            runs = results.first_runs(system, c)
            if {*_COUNTS, "accuracy_low_after"} <= set(runs):
                runs = runs.dropna(subset=[*_COUNTS, "accuracy_low_after"])
                if len(runs):
                    checks.append(_check(system.name, str(column), runs))
    return checks


def _check(system: str, labels: str, runs: pd.DataFrame) -> TheoremCheck:
    stats = pd.DataFrame(
        [vars(theory.statistics(theory.ChannelCounts(*map(int, counts)))) for counts in runs[_COUNTS].to_numpy()]
    )
    after = runs.accuracy_low_after.to_numpy()
    p1, p2, r, w, low = (stats[name].to_numpy(float) for name in ("p1", "p2", "r", "w", "p_low"))
    bound1, gain = theory.theorem1_bound(p1, p2), theory.gain(p1, r, w, after)
    bound2, corrected = theory.theorem2_bound(p1, r + w), theory.theorem2_corrected(p1, r, w)
    assumed = after < p1
    return TheoremCheck(
        system=system,
        labels=labels,
        n=len(runs),
        p1=float(p1.mean()),
        p2=float(p2.mean()),
        r=float(r.mean()),
        w=float(w.mean()),
        p_low=float(low.mean()),
        p_low_identity=float(theory.low_accuracy(p1, r, w).mean()),
        bound1=float(bound1.mean()),
        bound1_holds=int((low < bound1).sum()),
        below_p1=int((low < p1).sum()),
        bound2=float(bound2.mean()),
        bound2_corrected=float(corrected.mean()),
        gain=float(gain.mean()),
        assumption2_holds=int(assumed.sum()),
        bound2_holds=int((gain < bound2)[assumed].sum()),
        bound2_corrected_holds=int((gain < corrected)[assumed].sum()),
    )


def theorem1_table(results: Results) -> str:
    """The bound of Theorem 1 beside the accuracy on the nodes on which the channels disagree."""
    header = ["Theorem 1", "labels", "runs", "p1", "p2", "r", "w", "p_low, counted", "(p1 - r)/(1 - r - w)",
              "the paper's bound", "p_low < p1", "bound holds"]  # fmt: skip
    rows = [
        [t.system, t.labels, str(t.n),
         *(f"{x:.3f}" for x in (t.p1, t.p2, t.r, t.w, t.p_low, t.p_low_identity, t.bound1)),
         f"{t.below_p1} of {t.n}", f"{t.bound1_holds} of {t.n}"]
        for t in theorem_checks(results)
    ]  # fmt: skip
    return markdown_table(header, rows)


def theorem2_table(results: Results) -> str:
    """The bounds of Theorem 2 beside the gain by calibration."""
    header = ["Theorem 2", "labels", "gain", "the paper's bound", "corrected bound", "Assumption 2 holds",
              "the paper's bound holds", "corrected bound holds"]  # fmt: skip
    rows = [
        [t.system, t.labels, *(f"{x:.3f}" for x in (t.gain, t.bound2, t.bound2_corrected)),
         f"{t.assumption2_holds} of {t.n}", f"{t.bound2_holds} of {t.assumption2_holds}",
         f"{t.bound2_corrected_holds} of {t.assumption2_holds}"]
        for t in theorem_checks(results)
    ]  # fmt: skip
    return markdown_table(header, rows)


def counts_sentence(results: Results) -> str:
    """In how many runs of all columns the theorems held; empty without runs."""
    checks = theorem_checks(results)
    if not checks:
        return ""
    n, below, bound1, assumed, bound2, corrected = (
        sum(getattr(t, name) for t in checks)
        for name in ("n", "below_p1", "bound1_holds", "assumption2_holds", "bound2_holds", "bound2_corrected_holds")
    )
    return (
        f"In {n} runs, Theorem 1's bound held in {bound1}, and its statement in words (low-confidence nodes are less "
        f"accurate than the first channel overall) in {below}. Assumption 2 held in {assumed}; of these, Theorem 2's "
        f"bound held in {bound2} and the corrected one in {corrected}."
    )
