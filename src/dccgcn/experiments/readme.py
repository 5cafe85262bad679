"""docs/results/README.md: all experiments in the order of the paper, each with its main results."""

from collections.abc import Sequence

from dccgcn.experiments.confidence import rankings
from dccgcn.experiments.dcc_parts import parts_table
from dccgcn.experiments.pages import provenance
from dccgcn.experiments.reading import reading
from dccgcn.experiments.results import Comparison, Results
from dccgcn.experiments.tables import compatibility_sentence, not_measured, value_table
from dccgcn.experiments.theorems import counts_sentence


def readme(every: Sequence[Results], command: str) -> str:
    """The page."""
    parts = [_INTRODUCTION]
    for results in every:
        spec = results.spec
        parts += [
            f"## {spec.title}",
            f"The paper: {spec.claim}",
            results.runs_left(),
            *_summary(results),
            reading(results),
        ]
        parts.append(f"All numbers: [{spec.name}.md]({spec.name}.md), [{spec.name}.json]({spec.name}.json).")
    parts += [_OTHERS, provenance(command, [row for results in every for row in results.used()])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(results: Results) -> list[str]:
    """Tables, figures and sentences that follow from the numbers alone."""
    spec = results.spec
    image = f"![{spec.title}]({spec.name}.svg)"
    match spec.kind:
        case "theorems":
            return [counts_sentence(results)]
        case "confidence":
            return _confidence(results)
        case "surface" | "map":
            return [image]
        case "curves":
            return [image if results.used() else "", not_measured(results)]
    parts = []
    for metric, name in spec.metrics.items():
        parts.append(f"**{name}**" if len(spec.metrics) > 1 else "")
        parts += [value_table(results, metric), compatibility_sentence(results, metric)]
        parts.append("\n".join(filter(None, map(_sentence, results.comparisons(metric)))))
    return [*parts, parts_table(results), not_measured(results)]


def _sentence(one: Comparison) -> str:
    d = one.unbiased
    if d is None or d.low is None:
        return ""
    verdict = "above" if d.is_above else "below" if d.is_below else "not significantly different from"
    others = "the paper's baselines" if one.baselines == "paper" else "all other systems"
    which = "further " if d is one.further else ""
    paper = f" The paper has {one.published:+.1f}." if one.published is not None else ""
    higher = f" Higher than {one.best}, with fewer runs: {', '.join(one.higher)}." if one.higher else ""
    return (
        f"- {one.column}: {one.subject} is {verdict} {one.best}, the best of {others} here "
        f"({d.mean:+.1f}, 95 % interval {d.interval}, {d.n} {which}{one.unit}).{paper}{higher}"
    )


def _confidence(results: Results) -> list[str]:
    name = results.spec.name
    lines = [
        f"- {r.labels}, {r.system}: agreement finds the first channel's right predictions with an AUROC of "
        f"{r.auroc.mean:.1f}, {r.to_margin.mean:+.1f} against its own margin (95 % interval {r.to_margin.interval})."
        for r in rankings(results)
        if r.signal == "agreement" and r.part == "first_channel" and r.to_margin and r.to_margin.low is not None
    ]
    return [f"![Reliability]({name}-reliability.svg)", f"![Risk and coverage]({name}-risk.svg)", "\n".join(lines)]


_INTRODUCTION = """# Experiments

Every table and figure of the DCC-GCN paper, measured again by one command, with the paper's value beside ours in every
cell. The protocol is the paper's: no validation set, all labelled nodes outside the training set are tested, a fixed
number of epochs (Appendix D), the settings of Table 8, ten runs. Splits are class-balanced and the same for every
system, so that differences are paired. Choices that the paper leaves open were made on
[development splits](dcc-gcn-choices.md); other splits are reported. Only Table 6 uses the public split, with its
validation nodes. Systems below the paper's own rows are ones that it leaves out. Slow ones among them have fewer than
ten runs, given in the cell (n), so that everything can be run on two cores.

At the lowest label rates accuracy varies much between splits, as the standard deviations show, so a mean over ten runs
is uncertain. The paper does not report the spread of its runs. Its value counts as statistically compatible (95 %) with
ours if two means over as many runs, both with our spread, may differ by so much. Systems are compared by paired
differences, on the number of splits given in each line. "The best" is the best of the systems with the most runs; a
system with fewer runs and a higher mean is named. It was chosen by the first ten splits, and DCC-GCN's reading was
compared on them too, so the difference that counts is the one on further splits (seeds from 10), where there are
any."""

_OTHERS = """## Further pages

- [Table 1](table1.md): the graphs, and why some have fewer edges here than in the paper.
- [Concord](concord.md) against all of these systems, with an ablation and the quality of its trust.
- [Many labels](many-labels.md): Concord with a tenth and with half of all labels.
- [Trust on graphs left out](trust.md): how often its promise is kept.
- [Labels that look wrong](label-errors.md): how many of them are, beside cleanlab.
- [Systems against published accuracies](systems-check.md), under the protocol of each publication.
- [What DCC-GCN's paper leaves open](dcc-gcn-choices.md), and what was chosen.
- [Overview](overview.md), the table of the README.
- [The runs behind these pages](runs.jsonl.gz), one per line. Copied into `runs/experiments` they count as run: `dccgcn
  reproduce all --stored` makes the pages from them, and `dccgcn reproduce all --splits 110` continues from there."""
