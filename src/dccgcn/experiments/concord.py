"""The page on Concord: accuracy against targets and all other systems, ablation, and the quality of its trust."""

from collections.abc import Sequence

import numpy as np

from dccgcn.evaluation.paired import PairedDifference, summary
from dccgcn.experiments.results import Results
from dccgcn.experiments.spec import System
from dccgcn.text import markdown_table

_MANY = 10  # splits; with two or three an interval is so wide that hardly anything is significant
_SIGNALS = ("margin", "confidence", "entropy")
_SOURCES = {
    "pool": "pool of all members, before correction",
    "joint": "one model on both channels",
    "topology": "topology channel alone",
    "features": "feature channel alone",
}


def concord_body(results: Results) -> str:
    """Every number over the splits that were run, with their number."""
    spec = results.spec
    concord = spec.system("concord")
    others = [system for system in spec.of_group("paper", "stored") if system is not concord]
    differences = [(system, _paired(results, concord, system)) for system in others]
    known = [(system, row) for system, row in differences if any(row)]
    columns = list(map(str, spec.columns))
    published = [spec.published(spec.system("dcc-gcn"), column) for column in spec.columns]
    targets = [*spec.targets, *[None] * (len(columns) - len(spec.targets))]
    accuracy = [
        ["DCC-GCN, published", *("–" if value is None else f"{value:.1f}" for value in published)],
        ["target", *("–" if value is None else f"{value:g}" for value in targets)],
        *(
            [f"**{s.name}**" if s is concord else s.name, *_means(results, s)]
            for s in (concord, *(s for s, _ in known))
        ),
    ]
    ablation = [[s.name, *_texts(_paired(results, s, concord))] for s in spec.of_group("ablation")]
    return _BODY.format(
        accuracy=markdown_table(["accuracy in %", *columns], accuracy),
        verdict=_verdict([d for _, row in known for d in row if d]),
        paired=markdown_table(["Concord less …", *columns], [[s.name, *_texts(row)] for s, row in known]),
        ablation=markdown_table(["", *columns], ablation),
        trust=markdown_table(["", *columns, "mean"], _trust(results, concord)),
    )


def _means(results: Results, system: System) -> list[str]:
    found = [list(results.values(system, c).values()) for c in range(len(results.spec.columns))]
    return [f"{summary(values)} ({len(values)})" if values else "–" for values in found]


def _paired(results: Results, first: System, second: System) -> list[PairedDifference | None]:
    """One per column; None with fewer than two common splits."""
    found = [results.paired(first, second, c) for c in range(len(results.spec.columns))]
    return [d if d and d.n > 1 else None for d in found]


def _texts(differences: Sequence[PairedDifference | None]) -> list[str]:
    return ["–" if d is None else str(d) for d in differences]


def _verdict(differences: Sequence[PairedDifference]) -> str:
    parts = []
    for least, name in ((2, "two"), (_MANY, "ten")):
        judged = [d for d in differences if d.n >= least]
        better = sum(d.low is not None and d.low > 0 for d in judged)
        worse = sum(d.high is not None and d.high < 0 for d in judged)
        parts.append(
            f"of {len(judged)} comparisons with at least {name} common splits it is significantly better in {better} "
            f"and significantly worse in {worse}"
        )
    return f"{parts[0].capitalize()}; {parts[1]}."


def _trust(results: Results, concord: System) -> list[list[str]]:
    """Calibration error and gap, and the AUROC of each signal for errors of the final predictions."""
    sources = [(source, signal) for source in _SOURCES for signal in _SIGNALS]

    def column(c: int) -> list[float]:
        runs = [row.trust for row in results.runs(concord, c).values()]
        values: list[list[float | None]] = [[t.final.ece for t in runs], [t.final.confidence_gap for t in runs]]
        values += [[t.final.signals[name].auroc for t in runs] for name in ("trust", "agreement")]
        values += [[t.other_auroc[source][signal] for t in runs] for source, signal in sources]
        known = [[x for x in one if x is not None] for one in values]
        return [100 * float(np.mean(one)) if one else np.nan for one in known]

    names = ["ECE, 15 bins of equal mass", "confidence less accuracy", "AUROC of trust", "AUROC of agreement alone"]
    names += [f"AUROC of the {signal}, {_SOURCES[source]}" for source, signal in sources]
    table = np.array([column(c) for c in range(len(results.spec.columns))]).T
    table = np.column_stack([table, table.mean(axis=1)])
    return [
        [name, *("–" if np.isnan(v) else f"{v:.1f}" for v in values)] for name, values in zip(names, table, strict=True)
    ]


_BODY = """{accuracy}

## Paired differences

Concord's accuracy less that of the other system on the same splits, with a 95 % interval for the mean. {verdict}

{paired}

## Ablation

Accuracy of Concord without one part less that of Concord, on the same splits, with a 95 % interval. A negative number
is the part's contribution.

{ablation}

## Quality of trust

In %, means over the same runs. A positive difference of confidence and accuracy is over-confidence. Every AUROC is for
separating right from wrong final predictions of Concord.

{trust}

## What was tried"""
