"""How far the classes of a graph can be told without labels, and how well a few labels can name what is found.

    python scripts/limits.py [--graph pubmed] [--splits 200]

For each representation of the topology: clusters by k-means, clusters of greatest accord (C5) sought from the best head
that all labels give, and that head itself. Each is named twice: as well as can be, and by the labels of development
splits, taking the names under which most of them are right. What is found without labels bounds what rounds, accord or
any other learning from the unlabelled nodes can add to a handful of labels.

    python scripts/limits.py --graph uai2010 --many

Instead: Concord with a quarter, half and four fifths of all labels, which shows how much is left for fewer to tell.
"""

import argparse
from functools import partial
from itertools import permutations

import numpy as np
from sklearn.cluster import KMeans

from dccgcn import NodeGraph, by_rate, load
from dccgcn.models.concord import groundwork, method
from dccgcn.models.concord.members import Labels
from dccgcn.models.concord.neighbour_mi import attuned, loss
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.softmax_regression import answer, fit_head
from dccgcn.models.concord.spectral_features import scarcity

FIRST_SEED = 1000
RATES = {"cora": (0.005, 0.01, 0.02), "citeseer": (0.005, 0.01, 0.02), "pubmed": (0.0003, 0.0005, 0.001)}
MANY = (0.25, 0.5, 0.8)
PULL = 200.0  # the weight of accord where there is nothing else to heed


def named(graph: NodeGraph, found: np.ndarray, train: np.ndarray) -> float:
    """Accuracy on the other nodes under the names that most labels of train bear out; of equals, in the mean."""
    names = np.array(list(permutations(range(graph.c))))
    hits = (names[:, found[train]] == graph.labels[train]).sum(axis=1)
    rest = np.setdiff1d(np.flatnonzero(graph.labels >= 0), train)
    return float(np.mean([(name[found[rest]] == graph.labels[rest]).mean() for name in names[hits == hits.max()]]))


def at_best(graph: NodeGraph, found: np.ndarray) -> float:
    known = np.flatnonzero(graph.labels >= 0)
    return max(float((np.array(p)[found[known]] == graph.labels[known]).mean()) for p in permutations(range(graph.c)))


def findings(graph: NodeGraph, z: np.ndarray) -> dict[str, np.ndarray]:
    """Classes of the nodes, without names, by what they were found."""
    known = np.flatnonzero(graph.labels >= 0)
    every = Labels(known, np.eye(graph.c, dtype=np.float32)[graph.labels[known]], np.ones(len(known)))
    best = fit_head(z[known], every.targets, every.weights, 0.1)
    nobody = Labels(known[:1], every.targets[:1], np.zeros(1))
    accord = attuned(best, partial(loss, z, a=graph.adjacency, weight=PULL, labels=nobody, ridge=0.1), 100)
    return {
        "k-means": KMeans(graph.c, n_init=10, random_state=0).fit_predict(z),
        "accord, from the best head": answer(z, accord).argmax(axis=1),
        "best head, of all labels": answer(z, best).argmax(axis=1),
    }


def with_many(graph: NodeGraph, share: float, seed: int) -> float:
    """Concord's accuracy on the other labelled nodes if so many of them train."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(graph.labels >= 0))
    train, test = np.split(order, [round(share * len(order))])
    prediction = method.fit(graph, train, ConcordSettings(), seed).y_pred
    return float((prediction == graph.labels)[test].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="pubmed")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--many", action="store_true")
    arguments = parser.parse_args()
    graph, settings = load(arguments.graph).graph, ConcordSettings()
    if arguments.many:
        for share in MANY:
            right = [with_many(graph, share, FIRST_SEED + s) for s in range(5)]
            print(f"{share:.0%} of the labels: {np.mean(right):.1%} right", flush=True)
        return
    if arguments.graph not in RATES:
        parser.error(f"clusters are named in all ways, too many for {arguments.graph}: one of {', '.join(RATES)}")
    rates = RATES[arguments.graph]
    q = scarcity(rates[0] * graph.n / graph.c, settings.enough)
    parts = groundwork.representations(graph, settings, q)
    print("accuracy in %, named as well as can be, and by the labels of", ", ".join(f"{rate:.2%}" for rate in rates))
    for name in ("topology.far", "topology.near", groundwork.TIES):
        for how, found in findings(graph, parts[name].favouring(q)).items():
            told = [
                np.mean(
                    [named(graph, found, by_rate(graph, rate, FIRST_SEED + s).train) for s in range(arguments.splits)]
                )
                for rate in rates
            ]
            print(
                f"{name}, {how}: {at_best(graph, found):.1%};", ", ".join(f"{value:.1%}" for value in told), flush=True
            )


if __name__ == "__main__":
    main()
