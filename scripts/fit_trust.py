"""Fit the coefficients of Concord's trust on development splits, and show how they do on graphs they have not seen.

    python scripts/fit_trust.py [--splits 8]

Prints the coefficients for src/dccgcn/concord/trust.py, and for each graph the error of calibration and the AUROC with
coefficients fitted on the other graphs alone.
"""

import argparse

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from dccgcn import by_rate, load, per_class
from dccgcn.concord import groundwork, method
from dccgcn.concord.consensus import margin
from dccgcn.concord.representation import scarcity
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.trust import COEFFICIENTS, evidence
from dccgcn.concord.voices import Labels
from dccgcn.evaluation.trust import auroc

CELLS = [
    *(("cora", size) for size in (0.005, 0.01, 0.02, 20)),
    *(("citeseer", size) for size in (0.005, 0.01, 0.02, 20)),
    *(("pubmed", size) for size in (0.0003, 0.0005, 0.001, 20)),
    *((name, size) for name in ("acm", "flickr", "uai2010") for size in (5, 20)),
]
SAMPLE = 2000  # test nodes of each run, so that a large graph does not count for more
FIRST_SEED = 1000


Run = tuple[np.ndarray, np.ndarray, np.ndarray]  # of some nodes: evidence, margin, whether the answer was right


def collect(name: str, size: float, splits: int) -> list[Run]:
    """What is known of test nodes, and of their answers, on a few development splits."""
    graph, settings, runs = load(name).graph, ConcordSettings(), []
    for seed in range(FIRST_SEED, FIRST_SEED + splits):
        split = by_rate(graph, size, seed) if size < 1 else per_class(graph, int(size), seed, "half")
        views = groundwork.channel_views(graph, settings)
        targets = np.eye(graph.c, dtype=np.float32)[graph.labels[split.train]]
        given = Labels(split.train, targets, np.ones(len(split.train)))
        q = scarcity(len(split.train) / graph.c, settings.enough)
        parts = groundwork.representations(graph, settings, q)
        voices, rooms = method.voices_of(parts, views, q, settings), groundwork.rooms_of(parts, graph)
        alike = np.ones(graph.c)
        learned, said = method.in_rounds(voices, given, alike, settings, seed)
        concord = method.deliberate(voices, said, views, rooms, learned, alike, settings)
        some = np.random.default_rng(seed).permutation(split.test)[:SAMPLE]
        right = concord.f.argmax(axis=1) == graph.labels
        columns = evidence(concord, [rooms[groundwork.OWN], rooms[groundwork.TRAVELLED]], learned)
        runs.append((columns[some], margin(concord.f)[some], right[some]))
    return runs


def fitted(runs: list[Run], penalty: float) -> np.ndarray:
    """Coefficients of a logistic regression on standardised evidence, in units of the evidence itself."""
    columns, right = np.concatenate([run[0] for run in runs]), np.concatenate([run[2] for run in runs])
    mean, scale = columns[:, 1:].mean(axis=0), columns[:, 1:].std(axis=0)
    model = LogisticRegression(C=1 / penalty, max_iter=1000).fit((columns[:, 1:] - mean) / scale, right)
    slope = model.coef_[0] / scale
    return np.concatenate([[model.intercept_[0] - slope @ mean], slope])


def gap_of(sure: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error in 15 bins of equal mass."""
    bins = np.array_split(np.argsort(sure), 15)
    return float(sum(abs(sure[b].mean() - right[b].mean()) * len(b) for b in bins) / len(sure))


def judged(run: Run, beta: np.ndarray) -> tuple[float, float, float]:
    """ECE and AUROC of the trust, and AUROC of the margin."""
    columns, gap, right = run
    sure = expit(columns @ beta)
    return gap_of(sure, right), auroc(sure, right), auroc(gap, right)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--penalty", type=float, default=100.0)
    arguments = parser.parse_args()
    data = {}
    for name, size in CELLS:
        data[name, size] = collect(name, size, arguments.splits)
        print(name, size, f"accuracy {np.mean([run[2].mean() for run in data[name, size]]):.3f}", flush=True)
    unseen = []
    for name in dict(CELLS):
        others = [run for cell, runs in data.items() if cell[0] != name for run in runs]
        beta = fitted(others, arguments.penalty)
        for cell in CELLS:
            if cell[0] == name:
                unseen.append(np.mean([judged(run, beta) for run in data[cell]], axis=0))
                print(*cell, "ECE {:.3f}, AUROC {:.3f}, of the margin {:.3f}".format(*unseen[-1]))
    print("mean of graphs unseen: ECE {:.3f}, AUROC {:.3f}, of the margin {:.3f}".format(*np.mean(unseen, axis=0)))
    beta = fitted([run for runs in data.values() for run in runs], arguments.penalty)
    for name, value in zip(COEFFICIENTS, beta, strict=True):
        print(f'    "{name}": {value:.3f},')


if __name__ == "__main__":
    main()
