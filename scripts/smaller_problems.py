"""How Concord does on problems that are cut out of the six graphs: a few of their classes, the nodes that have them.

    python scripts/smaller_problems.py [--problems 120]

A handful of graphs is a handful of cases; some of their classes are hundreds, with two classes or eight, of like size
or not, where edges tell and where they do not. For each kind of problem: the accuracy of Concord, of Concord without
what makes its classes even (rounds and accord), of Concord that is told how frequent the classes are, of two other
systems, and how far Concord's confidence is above its accuracy. Nothing was chosen on these problems but how agreement
is counted (C8) and what is made of known frequencies (C12).
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dccgcn import NodeGraph, load
from dccgcn.models.registry import METHODS

GRAPHS = ("cora", "citeseer", "pubmed", "acm", "flickr", "uai2010")
PER_CLASS = (1, 2, 3, 5, 10, 20)
MOST = 8  # classes
RARE = 0.1  # of the nodes: whether a problem has such a class
FIRST_SEED = 50_000
UNEVEN = {"rounds": 0, "accord": 0}


@dataclass(frozen=True)
class Problem:
    name: str
    graph: NodeGraph
    train: np.ndarray
    per_class: int

    @property
    def rarest(self) -> float:
        """The share of the smallest class."""
        return float(np.bincount(self.graph.labels).min() / self.graph.n)


def cut(name: str, seed: int) -> Problem:
    """Some classes of a graph, and as many labels of each."""
    rng, whole = np.random.default_rng(seed), load(name).graph
    classes = np.sort(rng.choice(whole.c, rng.integers(2, min(whole.c, MOST) + 1), replace=False))
    nodes = np.flatnonzero(np.isin(whole.labels, classes))
    place = np.full(whole.n, -1)
    place[nodes] = np.arange(len(nodes))
    edges = place[whole.edges]
    labels = np.searchsorted(classes, whole.labels[nodes])
    graph = NodeGraph(whole.features[nodes], edges[(edges >= 0).all(axis=1)], labels)
    per_class = int(rng.choice(PER_CLASS))
    train = np.concatenate([rng.permutation(np.flatnonzero(labels == j))[:per_class] for j in range(graph.c)])
    return Problem(name, graph, train, per_class)


def answered(problem: Problem) -> dict[str, float]:
    """Accuracy of each system in per cent, and Concord's confidence less its accuracy."""
    graph, test = problem.graph, np.setdiff1d(np.arange(problem.graph.n), problem.train)
    shares = np.bincount(graph.labels) / graph.n
    known = {"frequencies": dict(zip(graph.classes, shares.tolist(), strict=True))}
    found: dict[str, float] = {}
    for column, name, options in (
        ("concord", "concord", {}),
        ("uneven", "concord", UNEVEN),
        ("told", "concord", known),
        ("ssgc", "ssgc", {}),
        ("knn-gcn", "knn-gcn", {}),
    ):
        method = METHODS[name]
        prediction = method.fit(graph, problem.train, method.settings.of(options), 0)
        found[column] = 100 * float((prediction.y_pred == graph.labels)[test].mean())
        if column == "concord" and prediction.trust is not None:
            over = 100 * float(prediction.trust[test].mean()) - found["concord"]
    return found | {"over": over}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=120)
    arguments = parser.parse_args()
    results = []
    for nth in range(arguments.problems):
        problem = cut(GRAPHS[nth % len(GRAPHS)], FIRST_SEED + nth)
        results.append((problem, answered(problem)))
        print(f"\r{nth + 1} of {arguments.problems}", end="", flush=True)
    print("\n\n| problems | number | concord | no rounds, no accord | told frequencies | ssgc | knn-gcn | over-sure |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    kinds: dict[str, Callable[[Problem], bool]] = {"all": lambda _: True}
    kinds |= {f"of {name}": lambda p, name=name: p.name == name for name in GRAPHS}
    kinds |= {f"{k} per class": lambda p, k=k: p.per_class == k for k in PER_CLASS}
    kinds |= {"2 per class, 3 classes": lambda p: p.per_class == 2 and p.graph.c == 3}
    kinds |= {f"smallest class below {RARE:.0%}": lambda p: p.rarest < RARE, "others": lambda p: p.rarest >= RARE}
    for kind, belongs in kinds.items():
        some = [found for problem, found in results if belongs(problem)]
        if some:
            means = [np.mean([found[column] for found in some]) for column in some[0] if column != "over"]
            over = np.mean([found["over"] for found in some])
            print(f"| {kind} | {len(some)} | " + " | ".join(f"{mean:.1f}" for mean in means) + f" | {over:+.1f} |")


if __name__ == "__main__":
    main()
