"""docs/results/README.md: all experiments in the order of the paper, with what came of each."""

from collections.abc import Sequence

from dccgcn.experiments.confidence import rankings
from dccgcn.experiments.experiment import Experiment
from dccgcn.experiments.markdown import provenance
from dccgcn.experiments.measured import Comparison, Missing, Rows, comparisons
from dccgcn.experiments.tables import agreement_sentence, not_measured, value_table
from dccgcn.experiments.theorems import tested


def section(experiments: Sequence[Experiment], rows: Rows, missing: Missing, command: str) -> str:
    """The page."""
    parts, found = [_INTRODUCTION], [row for e in experiments for row in e.rows(rows)]
    for e in experiments:
        told = [f"## {e.title}", f"The paper: {e.claim}", *_found(e, rows, missing), e.reading]
        told.append(f"All numbers: [{e.name}.md]({e.name}.md), [{e.name}.json]({e.name}.json).")
        parts.append("\n\n".join(part for part in told if part))
    return "\n\n".join([*parts, _OTHERS, provenance(command, found)]) + "\n"


def _found(e: Experiment, rows: Rows, missing: Missing) -> list[str]:
    """What can be said without anyone's judgement."""
    if e.kind == "theorems":
        return [_theorems(e, rows)]
    if e.kind == "confidence":
        return [_confidence(e, rows)]
    if e.kind in ("surface", "map"):
        return [f"![{e.title}]({e.name}.svg)"]
    if e.kind == "curves":
        return [f"![{e.title}]({e.name}.svg)", not_measured(e, rows, missing)]
    told = []
    for metric, called in e.metrics.items():
        told += [
            f"**{called}**" if len(e.metrics) > 1 else "",
            value_table(e, rows, metric, missing),
            agreement_sentence(e, rows, metric, missing),
        ]
        told.append("\n".join(filter(None, map(_compared, comparisons(e, rows, metric)))))
    return [*told, not_measured(e, rows, missing)]


def _compared(one: Comparison) -> str:
    d = one.difference
    if d.low is None or d.high is None:
        return ""
    verdict = "above" if d.low > 0 else "below" if d.high < 0 else "not to be told apart from"
    others = "the paper's baselines" if one.among == "paper" else "all other systems"
    paper = f" The paper has {one.paper:+.1f}." if one.paper is not None else ""
    higher = f" Higher than {one.best}, with fewer runs: {', '.join(one.higher)}." if one.higher else ""
    return (
        f"- {one.column}: {one.subject} is {verdict} {one.best}, the best of {others} here "
        f"({d.mean:+.1f}, 95 % interval {d.low:+.1f} to {d.high:+.1f}, {d.n} {one.unit}).{paper}{higher}"
    )


def _theorems(e: Experiment, rows: Rows) -> str:
    found = tested(e, rows)
    if not found:
        return ""
    runs, assumed = sum(t.n for t in found), sum(t.assumed for t in found)
    return (
        f"In {runs} runs, Theorem 1's bound held in {sum(t.holds1 for t in found)}, and its words (low-confidence "
        f"nodes are less accurate than the first channel at large) in {sum(t.below_p1 for t in found)}. Assumption 2 "
        f"was met in {assumed}; of these, Theorem 2's bound held in {sum(t.holds2 for t in found)} and the corrected "
        f"one in {sum(t.holds_corrected for t in found)}."
    )


def _confidence(e: Experiment, rows: Rows) -> str:
    pictures = f"![Reliability]({e.name}-reliability.svg)\n\n![Risk and coverage]({e.name}-risk.svg)"
    told = []
    for r in rankings(e, rows):
        if r.signal == "agreement" and r.of == "channel" and r.to_margin and r.to_margin.low is not None:
            d = r.to_margin
            told.append(
                f"- {r.labels}, {r.line}: agreement finds the first channel's right answers with an AUROC of "
                f"{r.auroc.mean:.1f}, {d.mean:+.1f} against its own margin (95 % interval {d.low:+.1f} to "
                f"{d.high:+.1f})."
            )
    return "\n\n".join(part for part in (pictures, "\n".join(told)) if part)


_INTRODUCTION = """# Experiments

Every table and figure of the DCC-GCN paper, measured again by one command, with the paper's own value beside ours in
every cell. The protocol is the paper's: no validation set, every labelled node that does not train is tested, a fixed
number of epochs (Appendix D), settings of Table 8, ten runs. Splits are drawn class-balanced and are the same for every
system, so that differences are paired; choices that the paper leaves open were settled on
[development splits](dcc-gcn-choices.md) and are reported on others. Table 6 alone is on the public split, with its
validation nodes. Systems below the paper's own rows are ones that it leaves out. Those of them that are slow have fewer
than ten runs, which the cells tell (n), so that all of it stays within three hours on two cores.

At the lowest label rates accuracy varies more from split to split than from system to system, so that a mean over ten
runs says little by itself. The paper does not tell how far its runs spread; its value is counted as reproduced where
two means over as many runs, both with our spread, would differ so much in one case of twenty or more. Whether one
system is better than another is judged by paired differences, on as many splits as each line tells; "the best" is the
best of the systems with the most runs, and if one with fewer has a higher mean the line says so."""

_OTHERS = """## Further pages

- [Concord](concord.md) against all of these systems, without each of its parts, and what its trust is worth.
- [Systems against figures published for them](systems-check.md), under the protocol of each publication.
- [What DCC-GCN's paper leaves open](dcc-gcn-choices.md), and what was chosen.
- [Overview](overview.md), the table of the README.
- [The runs behind these pages](runs.jsonl.gz), a line each. Copied into `runs/experiments` they count as run: `dccgcn
  reproduce all --stored` makes the pages of them, and `dccgcn reproduce all --splits 100` goes on from there."""
