"""The gain of known class frequencies (C10), and the loss where they are wrong.

    python scripts/known_class_prior.py [--splits 10]

Accuracy on evaluation splits in per cent: without a class prior, with the true one, and with one whose frequencies are
multiplied or divided by 1.5 at random. Differences are paired, with a 95 % interval of the mean.
"""

import argparse

import numpy as np
from scipy.stats import t

from dccgcn import NodeGraph, by_rate, load_dataset, per_class
from dccgcn.concord import method
from dccgcn.concord.settings import ConcordSettings
from dccgcn.methods.base import Task

CELLS = [
    *((name, size) for name in ("cora", "citeseer") for size in (0.005, 0.02, 20)),
    *(("pubmed", size) for size in (0.0003, 0.001, 20)),
    *((name, 20) for name in ("acm", "flickr", "uai2010")),
]
ERROR = 1.5


def settings_with(graph: NodeGraph, frequencies: np.ndarray) -> ConcordSettings:
    shares = frequencies / frequencies.sum()
    return ConcordSettings(
        class_prior={str(name): float(share) for name, share in zip(graph.classes, shares, strict=True)}
    )


def accuracies(graph: NodeGraph, size: float, seed: int) -> list[float]:
    """Without a prior, with the true one, and with a wrong one."""
    split = by_rate(graph, size, seed) if size < 1 else per_class(graph, int(size), seed, "half")
    true = np.bincount(graph.labels[graph.labels >= 0]).astype(float)
    wrong = true * ERROR ** np.random.default_rng(seed).choice([-1, 1], graph.c)
    results = []
    for settings in (ConcordSettings(), settings_with(graph, true), settings_with(graph, wrong)):
        prediction = method.fit(Task(graph, split.train, seed), settings)
        results.append(100 * float((prediction.y_pred == graph.labels)[split.test].mean()))
    return results


def gain(one: np.ndarray, other: np.ndarray) -> str:
    difference = other - one
    half = t.ppf(0.975, len(difference) - 1) * difference.std(ddof=1) / np.sqrt(len(difference))
    return f"{difference.mean():+.1f} ({difference.mean() - half:+.1f} to {difference.mean() + half:+.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    arguments = parser.parse_args()
    print("| graph | no prior | true prior | gain | wrong prior | gain |\n|---|---:|---:|---:|---:|---:|")
    for name, size in CELLS:
        graph = load_dataset(name).graph
        none, true, wrong = np.array([accuracies(graph, size, seed) for seed in range(arguments.splits)]).T
        amount = f"{100 * size:g} %" if size < 1 else f"{size} per class"
        columns = (
            f"{none.mean():.1f} | {true.mean():.1f} | {gain(none, true)} | {wrong.mean():.1f} | {gain(none, wrong)}"
        )
        print(f"| {name}, {amount} | {columns} |", flush=True)


if __name__ == "__main__":
    main()
