"""How well clusters of the unlabelled nodes match the classes, and how well a few labels name the clusters.

    python scripts/limits.py [--graph pubmed] [--splits 200]

For each embedding of the topology: k-means clusters, clusters that maximise the mutual information of neighbours (C4)
from the supervised head on, and the supervised head itself. Clusters are named in the best possible way, and by the
labels of development splits. This bounds what learning from unlabelled nodes can add to a few labels.

    python scripts/limits.py --graph uai2010 --many

Instead: Concord with a quarter, half and four fifths of all labels, which bounds what more labels can add.
"""

import argparse
from functools import partial
from itertools import permutations

import numpy as np
from sklearn.cluster import KMeans

from dccgcn import NodeGraph, by_rate, load_dataset
from dccgcn.concord import method
from dccgcn.concord.labels import Labels
from dccgcn.concord.neighbour_mi import mi_loss, refine_head
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.softmax_regression import fit_head, predict_proba
from dccgcn.concord.views import precompute
from dccgcn.features.embedding import scarcity, spectral_reweight
from dccgcn.methods.base import Task

FIRST_SEED = 1000
RATES = {"cora": (0.005, 0.01, 0.02), "citeseer": (0.005, 0.01, 0.02), "pubmed": (0.0003, 0.0005, 0.001)}
MANY = (0.25, 0.5, 0.8)
MI_WEIGHT = 200.0  # where no label counts


def accuracy_named_by(graph: NodeGraph, cluster: np.ndarray, train: np.ndarray) -> float:
    """Accuracy on the other nodes under the names that fit most labels of train; the mean over ties."""
    names = np.array(list(permutations(range(graph.c))))
    hits = (names[:, cluster[train]] == graph.labels[train]).sum(axis=1)
    rest = np.setdiff1d(np.flatnonzero(graph.labels >= 0), train)
    return float(np.mean([(name[cluster[rest]] == graph.labels[rest]).mean() for name in names[hits == hits.max()]]))


def best_accuracy(graph: NodeGraph, cluster: np.ndarray) -> float:
    known = np.flatnonzero(graph.labels >= 0)
    return max(float((np.array(p)[cluster[known]] == graph.labels[known]).mean()) for p in permutations(range(graph.c)))


def clusterings(graph: NodeGraph, z: np.ndarray) -> dict[str, np.ndarray]:
    """(n,) cluster of each node, by method."""
    known = np.flatnonzero(graph.labels >= 0)
    all_labels = Labels.of(known, graph.labels[known], graph.c)
    supervised = fit_head(z[known], all_labels.targets, 0.1)
    no_labels = all_labels.subset(np.arange(0))
    loss = partial(mi_loss, z, adjacency=graph.adjacency, weight=MI_WEIGHT, labels=no_labels, l2=0.1)
    return {
        "k-means": KMeans(graph.c, n_init=10, random_state=0).fit_predict(z),
        "neighbour MI, from the supervised head": predict_proba([z], refine_head(supervised, loss, 100)).argmax(axis=1),
        "supervised head, all labels": predict_proba([z], supervised).argmax(axis=1),
    }


def accuracy_with_many(graph: NodeGraph, share: float, seed: int) -> float:
    """Concord's accuracy on the other labelled nodes if this share of them is for training."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(graph.labels >= 0))
    train, test = np.split(order, [round(share * len(order))])
    y_pred = method.fit(Task(graph, train, seed), ConcordSettings()).y_pred
    return float((y_pred == graph.labels)[test].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="pubmed")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--many", action="store_true")
    arguments = parser.parse_args()
    graph, settings = load_dataset(arguments.graph).graph, ConcordSettings()
    if arguments.many:
        for share in MANY:
            right = [accuracy_with_many(graph, share, FIRST_SEED + s) for s in range(5)]
            print(f"{share:.0%} of the labels: {np.mean(right):.1%} right", flush=True)
        return
    if arguments.graph not in RATES:
        parser.error(f"{arguments.graph} has too many permutations of class names: one of {', '.join(RATES)}")
    rates = RATES[arguments.graph]
    q = scarcity(rates[0] * graph.n / graph.c, settings.scarcity_scale)
    embeddings = precompute(graph, settings).projections.embeddings
    print("accuracy in %, under the best names, and named by the labels of", ", ".join(f"{rate:.2%}" for rate in rates))
    for name in ("propagated", "structure"):
        for how, cluster in clusterings(graph, spectral_reweight(embeddings[name], q)).items():
            named = []
            for rate in rates:
                trains = [by_rate(graph, rate, FIRST_SEED + s).train for s in range(arguments.splits)]
                named.append(np.mean([accuracy_named_by(graph, cluster, train) for train in trains]))
            values = ", ".join(f"{value:.1%}" for value in named)
            print(f"{name}, {how}: {best_accuracy(graph, cluster):.1%}; {values}", flush=True)


if __name__ == "__main__":
    main()
