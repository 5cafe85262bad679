"""Wrong labels among the given ones: how many of the first suspects are wrong, against chance and against cleanlab.

    python -m paper label-errors             flips labels, fits Concord and writes docs/results/label-errors.md
    python -m paper label-errors --stored    writes the page from the runs in docs/results/runs.parquet

All runs are on development splits. Both see the same held-out probabilities of the same labels: ``suspect_labels``, and
cleanlab's ``find_label_issues`` with its defaults, ranked by self-confidence (Northcutt, Jiang & Chuang 2021).
"""

from pathlib import Path

import numpy as np
import pandas as pd

from dccgcn.concord import method
from dccgcn.concord.settings import ConcordSettings
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import per_class
from dccgcn.methods.base import Task
from dccgcn.quality.label_errors import POOL, suspect_labels
from dccgcn.text import markdown_table
from dccgcn.workflow.jobs import load_cached
from dccgcn.workflow.runner import Row
from paper.pages import rendered
from paper.runs import stored_runs, write_study
from paper.trust import GRAPHS, in_order

STUDY = "label-errors"
SHARES = (0.05, 0.1)  # of the labels that are flipped
LABELS_PER_CLASS, FIRST_SEED, N_SPLITS = 20, 1000, 3
FINDERS = ("dccgcn", "cleanlab")


def flip(labels: np.ndarray, share: float, c: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The labels with a share of them, at least one, changed to another class at random; and which ones, (m,) bool."""
    rng = np.random.default_rng(seed)
    is_flipped = np.zeros(len(labels), dtype=bool)
    is_flipped[rng.choice(len(labels), max(1, round(share * len(labels))), replace=False)] = True
    other = (labels + rng.integers(1, c, len(labels))) % c
    return np.where(is_flipped, other, labels), is_flipped


def measure(name: str, share: float, seed: int) -> Row:
    """Flip labels of one split, fit Concord to them, and let both look at its held-out probabilities."""
    return {
        "study": STUDY,
        "dataset": name,
        "amount": share,
        "seed": seed,
        **flagged(load_cached(name).graph, share, seed),
    }


def flagged(graph: NodeGraph, share: float, seed: int) -> Row:
    """The labels that both flag when some are flipped.

    Of both, the labels that are flagged, most suspect first, each with whether it was flipped.
    """
    train = per_class(graph, LABELS_PER_CLASS, seed, "half").train
    flipped, is_flipped = flip(graph.labels[train], share, graph.c, seed)
    labels = np.full(graph.n, -1)
    labels[train] = flipped
    changed = graph.with_codes(labels)
    prediction = method.fit(Task(changed, train, seed), ConcordSettings())
    ours = suspect_labels(prediction.held_out, prediction.channel_weights, flipped).positions
    theirs = cleanlab_issues(flipped, prediction.held_out[POOL])
    return {
        "labels": len(train),
        "flipped": int(is_flipped.sum()),
        "dccgcn": is_flipped[ours].tolist(),
        "cleanlab": is_flipped[theirs].tolist(),
    }


def cleanlab_issues(labels: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Positions of the labels that cleanlab flags, most suspect first."""
    from cleanlab.filter import find_label_issues  # slow to import

    p = np.asarray(p, dtype=np.float64)
    p /= p.sum(axis=1, keepdims=True)
    issues = find_label_issues(labels, p, return_indices_ranked_by="self_confidence", n_jobs=1)
    return np.asarray(issues, dtype=np.int64)


def first_flagged(run: pd.Series, finder: str) -> list[bool]:
    """As many of the first flagged as labels were flipped, or fewer: as many as both flag.

    The first of a list are the best of it, so lists of different lengths could not be compared.
    """
    return list(run[finder][: min(int(run.flipped), len(run.dccgcn), len(run.cleanlab))])


def precision(runs: pd.DataFrame, finder: str) -> float | None:
    """Share of flipped labels among the first flagged, of all runs together; None if nothing is flagged."""
    first = [hit for _, run in runs.iterrows() for hit in first_flagged(run, finder)]
    return sum(first) / len(first) if first else None


def found(runs: pd.DataFrame, finder: str) -> float:
    """Share of the flipped labels that are flagged at all."""
    return float(runs[finder].map(sum).sum() / runs.flipped.sum())


def page(runs: pd.DataFrame) -> str:
    """How precise both are, by share of flipped labels and by graph."""
    tables = {}
    for share in SHARES:
        part = in_order(runs[runs.amount == share])
        rows, each = [], []
        for name, own in part.groupby("dataset", sort=False):
            each.append([precision(own, finder) for finder in FINDERS])
            rows.append([str(name), *_cells(own)])
        rows.append(["all labels together", *_cells(part)])
        both = [(a, b) for a, b in each if a is not None and b is not None]
        better, worse = sum(a > b for a, b in both), sum(a < b for a, b in both)
        tables[share] = (
            f"{markdown_table(HEADER, rows)}\n\nOf the {len(both)} graphs on which both flag labels, dccgcn is more "
            f"precise on {better}, cleanlab on {worse}."
        )
    n_graphs = runs.dataset.nunique()
    return rendered(
        STUDY,
        graphs=f"all {n_graphs}" if n_graphs == len(GRAPHS) else f"{n_graphs} of the {len(GRAPHS)}",
        n_splits=N_SPLITS,
        per_class=LABELS_PER_CLASS,
        labels=int(runs["labels"].sum()),
        **{finder: int(runs[finder].map(len).sum()) for finder in FINDERS},
        **{f"share{i}": f"{share:.0%}" for i, share in enumerate(SHARES)},
        **{f"table{i}": tables[share] for i, share in enumerate(SHARES)},
    )


def _cells(runs: pd.DataFrame) -> list[str]:
    cells = [str(int(runs["labels"].sum())), f"{runs.flipped.sum() / runs['labels'].sum():.2f}"]
    for finder in FINDERS:
        right = precision(runs, finder)
        flagged = int(runs[finder].map(len).sum())
        cells += [str(flagged), "–" if right is None else f"{right:.2f}", f"{found(runs, finder):.2f}"]
    return cells


HEADER = ["graph", "labels", "chance", *(f"{f}: {what}" for f in FINDERS for what in ("flagged", "precision", "found"))]


def main(out: Path, store: Path, stored: bool) -> None:
    """Measure, unless the stored runs are wanted, and write the page."""
    jobs = [(name, share, FIRST_SEED + i) for name in GRAPHS for share in SHARES for i in range(N_SPLITS)]
    write_study(out, STUDY, None if stored else lambda: pd.DataFrame(stored_runs(store, STUDY, measure, jobs)), page)
