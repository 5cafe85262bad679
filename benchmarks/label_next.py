"""Active learning: accuracy with the nodes of label-next, with random and with the most uncertain nodes labelled."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import for_each_seed
from dccgcn import datasets
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split, per_class
from dccgcn.methods.base import Method
from dccgcn.methods.prediction import Prediction
from dccgcn.quality.metrics import accuracy
from dccgcn.quality.paired import paired_difference, summary
from dccgcn.workflow.active_learning import suggest_labels
from dccgcn.workflow.fitting import run


def bench_label_next(
    name: str,
    method: Method,
    labels_per_class: int,
    count: int,
    seeds: range,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Add labels by three strategies to the same starts, train again, and compare on the same test nodes.

    Accuracies are in per cent, on the nodes that no strategy chose; ``start`` is without the added labels.
    """
    graph = datasets.load(name).graph
    settings = method.published_settings(name)

    def measure(seed: int) -> dict[str, float]:
        split = per_class(graph, labels_per_class, seed)
        start = run(graph, split, method, settings, seed).prediction
        chosen = query_strategies(graph, start, split.train, split.test, count, seed)
        test = np.setdiff1d(split.test, np.concatenate(list(chosen.values())))
        predictions = {"start": start}
        for strategy, added in chosen.items():
            extended = Split.from_parts(graph, strategy, np.concatenate([split.train, added]), [], test)
            predictions[strategy] = run(graph, extended, method, settings, seed).prediction
        return {name: 100 * accuracy(graph.labels[test], p.y_pred[test]) for name, p in predictions.items()}

    accuracies = for_each_seed(measure, seeds, progress)
    return dict(
        dataset=name,
        method=method.name,
        labels_per_class=labels_per_class,
        count=count,
        **{name: summary(values) for name, values in accuracies.items()},
        over_random=paired_difference(accuracies["chosen"], accuracies["random"]),
        over_uncertain=paired_difference(accuracies["chosen"], accuracies["uncertain"]),
    )


def query_strategies(
    graph: NodeGraph, prediction: Prediction, labelled: np.ndarray, pool: np.ndarray, count: int, seed: int
) -> dict[str, np.ndarray]:
    """Nodes of the pool to label: chosen by ``suggest_labels``, at random, or by uncertainty alone."""
    return {
        "chosen": np.array([s.position for s in suggest_labels(graph, prediction, labelled, count, pool)]),
        "random": np.random.default_rng(seed).choice(pool, count, replace=False),
        "uncertain": pool[np.argsort(prediction.confidence[pool], kind="stable")[:count]],
    }
