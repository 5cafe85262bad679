"""Are labels of chosen nodes worth more than as many of random nodes, or of the most uncertain ones?"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dccgcn import datasets
from dccgcn.api import run
from dccgcn.benchmarks.seeds import for_each_seed
from dccgcn.evaluation.metrics import accuracy
from dccgcn.evaluation.paired import PairedDifference, Summary, paired_difference, summary
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import per_class, published
from dccgcn.models.prediction import Prediction
from dccgcn.models.registry import Method
from dccgcn.workflow.active_learning import suggest_labels


@dataclass(frozen=True)
class LabelNextBenchmark:
    """Accuracies in per cent after training again, on the nodes that nobody asked for."""

    dataset: str
    method: str
    labels_per_class: int  # at the start
    count: int  # labels asked for
    start: Summary  # without any of them
    chosen: Summary
    random: Summary
    uncertain: Summary
    over_random: PairedDifference
    over_uncertain: PairedDifference

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def bench_label_next(
    name: str,
    method: Method,
    labels_per_class: int,
    count: int,
    seeds: range,
    store: Path | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> LabelNextBenchmark:
    """From each start, ask for labels in three ways, train again with each, and compare on the same nodes."""
    graph = datasets.load(name).graph
    settings = method.published_settings(name)

    def measure(seed: int) -> dict[str, float]:
        split = per_class(graph, labels_per_class, seed)
        start = run(graph, split, method, settings, seed).prediction
        ways = three_ways(graph, start, split.train, split.test, count, seed)
        test = np.setdiff1d(split.test, np.concatenate(list(ways.values())))
        predictions = {"start": start}
        for way, more in ways.items():
            longer = published(graph, way, np.concatenate([split.train, more]), [], test)
            predictions[way] = run(graph, longer, method, settings, seed).prediction
        return {way: 100 * accuracy(graph.labels[test], got.y_pred[test]) for way, got in predictions.items()}

    about = {
        "benchmark": "label-next",
        "dataset": name,
        "method": method.name,
        "settings": settings.model_dump(mode="json"),
        "labels_per_class": labels_per_class,
        "count": count,
    }
    reached = for_each_seed(measure, seeds, about, store, tell)
    return LabelNextBenchmark(
        dataset=name,
        method=method.name,
        labels_per_class=labels_per_class,
        count=count,
        **{way: summary(values) for way, values in reached.items()},
        over_random=paired_difference(reached["chosen"], reached["random"]),
        over_uncertain=paired_difference(reached["chosen"], reached["uncertain"]),
    )


def three_ways(
    graph: NodeGraph, prediction: Prediction, labelled: np.ndarray, pool: np.ndarray, count: int, seed: int
) -> dict[str, np.ndarray]:
    """Nodes of the pool to be labelled: chosen by ``suggest_labels``, at random, or by uncertainty alone."""
    return {
        "chosen": np.array([s.position for s in suggest_labels(graph, prediction, labelled, count, pool)]),
        "random": np.random.default_rng(seed).choice(pool, count, replace=False),
        "uncertain": pool[np.argsort(prediction.confidence[pool], kind="stable")[:count]],
    }
