"""Concord on subproblems of the six graphs: some of their classes, and the nodes of these classes.

    python scripts/smaller_problems.py [--problems 120]

Six graphs are six cases; subsets of their classes are hundreds, with two to eight classes, balanced or not, with
informative edges or not. For each kind of problem: the accuracy of Concord, of Concord without the part that balances
classes (neighbour MI), of Concord with the true class prior, of two other methods, and Concord's mean
trust minus its accuracy. Only the use of the class prior (C10) was chosen on these problems.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dccgcn import NodeGraph, load_dataset
from dccgcn.methods.base import Task, get_method

GRAPHS = ("cora", "citeseer", "pubmed", "acm", "flickr", "uai2010")
PER_CLASS = (1, 2, 3, 5, 10, 20)
MAX_CLASSES = 8
RARE = 0.1  # share of the nodes below which a class is rare
FIRST_SEED = 50_000
UNBALANCED = {"mi_weight": 0}


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


def subproblem(name: str, seed: int) -> Problem:
    """Some classes of a graph, and equally many labels of each."""
    rng, whole = np.random.default_rng(seed), load_dataset(name).graph
    classes = np.sort(rng.choice(whole.c, rng.integers(2, min(whole.c, MAX_CLASSES) + 1), replace=False))
    nodes = np.flatnonzero(np.isin(whole.labels, classes))
    place = np.full(whole.n, -1)
    place[nodes] = np.arange(len(nodes))
    edges = place[whole.edges]
    labels = np.searchsorted(classes, whole.labels[nodes])
    graph = NodeGraph(whole.features[nodes], edges[(edges >= 0).all(axis=1)], labels)
    per_class = int(rng.choice(PER_CLASS))
    train = np.concatenate([rng.permutation(np.flatnonzero(labels == j))[:per_class] for j in range(graph.c)])
    return Problem(name, graph, train, per_class)


def evaluate(problem: Problem) -> dict[str, float]:
    """Accuracy of each method in per cent, and Concord's mean trust minus its accuracy."""
    graph, test = problem.graph, np.setdiff1d(np.arange(problem.graph.n), problem.train)
    shares = np.bincount(graph.labels) / graph.n
    known = {"class_prior": dict(zip(graph.classes, shares.tolist(), strict=True))}
    results: dict[str, float] = {}
    for column, name, options in (
        ("concord", "concord", {}),
        ("unbalanced", "concord", UNBALANCED),
        ("prior", "concord", known),
        ("ssgc", "ssgc", {}),
        ("knn-gcn", "knn-gcn", {}),
    ):
        method = get_method(name)
        prediction = method.fit(Task(graph, problem.train), method.settings.of(options))
        results[column] = 100 * float((prediction.y_pred == graph.labels)[test].mean())
        if column == "concord" and prediction.trust is not None:
            over = 100 * float(prediction.trust[test].mean()) - results["concord"]
    return results | {"over": over}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=120)
    arguments = parser.parse_args()
    results = []
    for nth in range(arguments.problems):
        problem = subproblem(GRAPHS[nth % len(GRAPHS)], FIRST_SEED + nth)
        results.append((problem, evaluate(problem)))
        print(f"\r{nth + 1} of {arguments.problems}", end="", flush=True)
    print(
        "\n\n| problems | number | concord | no self-training, no MI | class prior | ssgc | knn-gcn | over-confidence |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    kinds: dict[str, Callable[[Problem], bool]] = {"all": lambda _: True}
    kinds |= {f"of {name}": lambda p, name=name: p.name == name for name in GRAPHS}
    kinds |= {f"{k} per class": lambda p, k=k: p.per_class == k for k in PER_CLASS}
    kinds |= {"2 per class, 3 classes": lambda p: p.per_class == 2 and p.graph.c == 3}
    kinds |= {f"smallest class below {RARE:.0%}": lambda p: p.rarest < RARE, "others": lambda p: p.rarest >= RARE}
    for kind, belongs in kinds.items():
        chosen = [values for problem, values in results if belongs(problem)]
        if chosen:
            means = [np.mean([values[column] for values in chosen]) for column in chosen[0] if column != "over"]
            over = np.mean([values["over"] for values in chosen])
            print(f"| {kind} | {len(chosen)} | " + " | ".join(f"{mean:.1f}" for mean in means) + f" | {over:+.1f} |")


if __name__ == "__main__":
    main()
