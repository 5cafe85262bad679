"""Wrong labels among the given ones: how many of the first suspects are wrong, against chance and against cleanlab.

    python -m dccgcn.experiments.label_errors collect     flips labels, fits Concord and writes who flagged which
    python -m dccgcn.experiments.label_errors             writes docs/results/label-errors.md

All runs are on development splits. Both see the same held-out probabilities of the same labels: ``suspect_labels``, and
cleanlab's ``find_label_issues`` with its defaults, ranked by self-confidence (Northcutt, Jiang & Chuang 2021).
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dccgcn.datasets import load_dataset
from dccgcn.evaluation.label_errors import POOL, suspect_labels
from dccgcn.experiments.rows import Stored
from dccgcn.experiments.store import read_rows
from dccgcn.experiments.study import collect_or_write
from dccgcn.experiments.trust_runs import GRAPHS
from dccgcn.graph import NodeGraph
from dccgcn.graph.cells import decode_labels
from dccgcn.graph.splits import per_class
from dccgcn.models.concord import method
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.runtime.extras import missing_extra
from dccgcn.runtime.files import write_atomically
from dccgcn.text import markdown_table

RUNS, PAGE = Path("docs/results/label-errors-runs.jsonl"), Path("docs/results/label-errors.md")
SHARES = (0.05, 0.1)  # of the labels that are flipped
LABELS_PER_CLASS, FIRST_SEED, N_SPLITS = 20, 1000, 3
FINDERS = ("dccgcn", "cleanlab")


class FlipRun(Stored):
    """The labels that were flagged in one run, most suspect first, each with whether it was flipped."""

    version: Literal[1] = 1
    graph: str
    share: float
    seed: int
    labels: int
    flipped: int
    dccgcn: list[bool]
    cleanlab: list[bool]

    def first(self, finder: str) -> list[bool]:
        """As many of the first flagged as labels were flipped, or fewer: as many as both flag.

        The first of a list are the best of it, so lists of different lengths could not be compared.
        """
        return getattr(self, finder)[: min(self.flipped, len(self.dccgcn), len(self.cleanlab))]


def flip(labels: np.ndarray, share: float, c: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The labels with a share of them, at least one, changed to another class at random; and which ones, (m,) bool."""
    rng = np.random.default_rng(seed)
    is_flipped = np.zeros(len(labels), dtype=bool)
    is_flipped[rng.choice(len(labels), max(1, round(share * len(labels))), replace=False)] = True
    other = (labels + rng.integers(1, c, len(labels))) % c
    return np.where(is_flipped, other, labels), is_flipped


def collect(graph: NodeGraph, name: str, share: float, seed: int) -> FlipRun:
    """Flip labels of one split, fit Concord to them, and let both look at its held-out probabilities."""
    train = per_class(graph, LABELS_PER_CLASS, seed, "half").train
    given, is_flipped = flip(graph.labels[train], share, graph.c, seed)
    labels = np.full(graph.n, -1)
    labels[train] = given
    flipped = graph.with_labels(decode_labels(labels, graph.classes), classes=graph.classes)
    prediction = method.fit(flipped, train, ConcordSettings(), seed)
    ours = suspect_labels(prediction.held_out, prediction.channel_weights, given).positions
    theirs = cleanlab_issues(given, prediction.held_out[POOL])
    return FlipRun(
        graph=name,
        share=share,
        seed=seed,
        labels=len(train),
        flipped=int(is_flipped.sum()),
        dccgcn=is_flipped[ours].tolist(),
        cleanlab=is_flipped[theirs].tolist(),
    )


def cleanlab_issues(given: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Positions of the labels that cleanlab flags, most suspect first."""
    try:
        cleanlab: Any = import_module("cleanlab.filter")
    except ModuleNotFoundError as error:
        raise missing_extra(error.name or "cleanlab", "dev", "The comparison") from None
    p = np.asarray(p, dtype=np.float64)
    p /= p.sum(axis=1, keepdims=True)
    return np.asarray(
        cleanlab.find_label_issues(given, p, return_indices_ranked_by="self_confidence", n_jobs=1), dtype=np.int64
    )


def collect_all(path: Path) -> None:
    """All runs that the file does not have yet; written after every graph."""
    runs = read_runs(path)
    known = {(run.graph, run.share, run.seed) for run in runs}
    for name in GRAPHS:
        wanted = [(name, share, FIRST_SEED + i) for share in SHARES for i in range(N_SPLITS)]
        if missing := [key for key in wanted if key not in known]:
            graph = load_dataset(name).graph
            runs += [collect(graph, *key) for key in missing]
            write_atomically(path, "".join(run.model_dump_json() + "\n" for run in runs))
            print(f"{name}: {len(missing)} runs", flush=True)


def read_runs(path: Path) -> list[FlipRun]:
    """The runs of a file; none if there is no file."""
    return read_rows(path, FlipRun, checksum_needed=False, repair=False)


def precision(runs: Sequence[FlipRun], finder: str) -> float | None:
    """Share of flipped labels among the first flagged, of all runs together; None if nothing is flagged."""
    first = [hit for run in runs for hit in run.first(finder)]
    return sum(first) / len(first) if first else None


def found(runs: Sequence[FlipRun], finder: str) -> float:
    """Share of the flipped labels that are flagged at all."""
    return sum(sum(getattr(run, finder)) for run in runs) / sum(run.flipped for run in runs)


def page(runs: Sequence[FlipRun]) -> str:
    tables = {}
    for share in SHARES:
        rows, each = [], []
        for name in dict.fromkeys(run.graph for run in runs):
            some = [run for run in runs if run.graph == name and run.share == share]
            each.append([precision(some, finder) for finder in FINDERS])
            rows.append([name, *_cells(some)])
        part = [run for run in runs if run.share == share]
        rows.append(["all labels together", *_cells(part)])
        both = [(a, b) for a, b in each if a is not None and b is not None]
        better, worse = sum(a > b for a, b in both), sum(a < b for a, b in both)
        tables[share] = (
            f"{markdown_table(HEADER, rows)}\n\nOf the {len(both)} graphs on which both flag labels, dccgcn is more "
            f"precise on {better}, cleanlab on {worse}."
        )
    n_graphs = len({run.graph for run in runs})
    return _PAGE.format(
        graphs=f"all {n_graphs}" if n_graphs == len(GRAPHS) else f"{n_graphs} of the {len(GRAPHS)}",
        n_splits=N_SPLITS,
        per_class=LABELS_PER_CLASS,
        labels=sum(run.labels for run in runs),
        **{finder: sum(len(getattr(run, finder)) for run in runs) for finder in FINDERS},
        **{f"share{i}": f"{share:.0%}" for i, share in enumerate(SHARES)},
        **{f"table{i}": tables[share] for i, share in enumerate(SHARES)},
    )


def _cells(runs: Sequence[FlipRun]) -> list[str]:
    chance = sum(run.flipped for run in runs) / sum(run.labels for run in runs)
    cells = [str(sum(run.labels for run in runs)), f"{chance:.2f}"]
    for finder in FINDERS:
        right = precision(runs, finder)
        cells += [
            str(sum(len(getattr(run, finder)) for run in runs)),
            "–" if right is None else f"{right:.2f}",
            f"{found(runs, finder):.2f}",
        ]
    return cells


HEADER = ["graph", "labels", "chance", *(f"{f}: {what}" for f in FINDERS for what in ("flagged", "precision", "found"))]


_PAGE = """# Labels that look wrong

A share of the training labels is changed to another class at random, Concord is fitted to them, and the labels that its
held-out probabilities contradict are flagged: by `Result.suspect_labels`, and by cleanlab's `find_label_issues` on the
same probabilities. On {graphs} development graphs, {n_splits} development splits of {per_class} labels per class each.
*Precision*: the share of changed labels among the first flagged; of both equally many in each run, as many as were
changed or as the shorter list has. *Chance*: the share of changed labels; *found*: the share of changed labels that
are flagged at all. Of all {labels} labels dccgcn flags {dccgcn}, cleanlab {cleanlab}: dccgcn also asks that channels
with more than half of the weight contradict the label and that the other class leads clearly, since its list is shown
to a person.

## {share0} of the labels changed

{table0}

## {share1} of the labels changed

{table1}

Made by `python -m dccgcn.experiments.label_errors` from [label-errors-runs.jsonl](label-errors-runs.jsonl), which
`python -m dccgcn.experiments.label_errors collect` measures.
"""


if __name__ == "__main__":
    collect_or_write(__doc__, RUNS, PAGE, collect_all, lambda path: page(read_runs(path)))
