"""Fit the coefficients of Concord's trust on development splits, and show how they do on graphs they have not seen.

    python scripts/fit_trust.py [--splits 8]

Prints the coefficients for src/dccgcn/concord/trust.py, and for each graph the error of calibration and the AUROC with
coefficients fitted on the other graphs alone; then how far answers are trusted, by the coefficients of the package,
where features and edges belong to other nodes and tell nothing.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from dccgcn import NodeGraph, by_rate, load, per_class
from dccgcn.evaluation.trust import auroc
from dccgcn.models.concord import groundwork, method
from dccgcn.models.concord.confidence import COEFFICIENTS, by_luck, evidence, trust
from dccgcn.models.concord.ensemble import margin
from dccgcn.models.concord.members import Labels
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import scarcity

CELLS = [
    *(("cora", size) for size in (0.005, 0.01, 0.02, 20)),
    *(("citeseer", size) for size in (0.005, 0.01, 0.02, 20)),
    *(("pubmed", size) for size in (0.0003, 0.0005, 0.001, 20)),
    *((name, size) for name in ("acm", "flickr", "uai2010") for size in (5, 20)),
]
USELESS = [(name, size) for name in ("cora", "citeseer", "acm") for size in (2, 5, 20)]
SAMPLE = 2000  # test nodes of each run, so that a large graph does not count for more
FIRST_SEED = 1000


@dataclass(frozen=True)
class Run:
    """Of some test nodes: evidence, margin, whether the answer was right; of the run: what luck may have done."""

    columns: np.ndarray
    gap: np.ndarray
    right: np.ndarray
    luck: float
    chance: float

    def trust(self, beta: np.ndarray) -> np.ndarray:
        return trust(self.columns, self.luck, self.chance, beta.tolist())


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
        luck = by_luck(learned.found, learned.sought, learned.chance)
        runs.append(Run(columns[some], margin(concord.f)[some], right[some], luck, learned.chance))
    return runs


def fitted(runs: list[Run]) -> np.ndarray:
    """The coefficients that make what was right most likely."""

    def loss(beta: np.ndarray) -> float:
        likely = [np.where(run.right, sure := run.trust(beta).astype(float), 1 - sure) for run in runs]
        return -float(np.mean([np.log(np.maximum(p, 1e-6)).mean() for p in likely]))

    return np.asarray(minimize(loss, list(COEFFICIENTS.values()), method="Nelder-Mead").x)


def gap_of(sure: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error in 15 bins of equal mass."""
    bins = np.array_split(np.argsort(sure), 15)
    return float(sum(abs(sure[b].mean() - right[b].mean()) * len(b) for b in bins) / len(sure))


def judged(run: Run, beta: np.ndarray) -> tuple[float, float, float]:
    """ECE and AUROC of the trust, and AUROC of the margin."""
    sure = run.trust(beta)
    return gap_of(sure, run.right), auroc(sure, run.right), auroc(run.gap, run.right)


def shuffled(graph: NodeGraph, seed: int) -> NodeGraph:
    """The same labels on nodes with the features and edges of others."""
    rng = np.random.default_rng(seed)
    return NodeGraph(graph.features[rng.permutation(graph.n)], rng.permutation(graph.n)[graph.edges], graph.labels)


def on_useless(name: str, size: int, splits: int) -> tuple[float, float]:
    """Mean trust in the answers for a graph that tells nothing, and how many are right."""
    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + splits):
        graph = shuffled(load(name).graph, seed)
        split = per_class(graph, size, seed)
        prediction = method.fit(graph, split.train, ConcordSettings(), seed)
        right = prediction.y_pred == graph.labels
        found.append((prediction.trust[split.test].mean(), right[split.test].mean()))
    sure, right_share = np.mean(found, axis=0)
    return float(sure), float(right_share)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=8)
    arguments = parser.parse_args()
    data = {}
    for name, size in CELLS:
        data[name, size] = collect(name, size, arguments.splits)
        print(name, size, f"accuracy {np.mean([run.right.mean() for run in data[name, size]]):.3f}", flush=True)
    unseen = []
    for name in dict(CELLS):
        others = [run for cell, runs in data.items() if cell[0] != name for run in runs]
        beta = fitted(others)
        for cell in CELLS:
            if cell[0] == name:
                unseen.append(np.mean([judged(run, beta) for run in data[cell]], axis=0))
                print(*cell, "ECE {:.3f}, AUROC {:.3f}, of the margin {:.3f}".format(*unseen[-1]))
    print("mean of graphs unseen: ECE {:.3f}, AUROC {:.3f}, of the margin {:.3f}".format(*np.mean(unseen, axis=0)))
    beta = fitted([run for runs in data.values() for run in runs])
    for name, value in zip(COEFFICIENTS, beta, strict=True):
        print(f'    "{name}": {value:.3f},')
    for name, size in USELESS:
        print("{}, shuffled, {} per class: trust {:.3f}, right {:.3f}".format(name, size, *on_useless(name, size, 4)))


if __name__ == "__main__":
    main()
