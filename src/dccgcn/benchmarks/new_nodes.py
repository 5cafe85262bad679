"""What is lost when nodes come after training: their accuracy then, against a training that had them."""

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
from dccgcn.graph.splits import Split, fingerprint, per_class
from dccgcn.models.registry import Method
from dccgcn.workflow.inductive import append_nodes, predict_new


@dataclass(frozen=True)
class NewNodesBenchmark:
    """Accuracies in per cent, on the same nodes of each split."""

    dataset: str
    method: str
    labels_per_class: int
    held_out: int  # nodes that were not there at training
    there: Summary  # trained on the whole graph
    new: Summary  # trained without them, answered without training again
    difference: PairedDifference  # new - there

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def bench_new_nodes(
    name: str,
    method: Method,
    labels_per_class: int,
    share: float,
    seeds: range,
    store: Path | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> NewNodesBenchmark:
    """Take a share of the nodes out of a graph, train on the rest, put them back, and compare."""
    graph = datasets.load(name).graph
    settings = method.published_settings(name)
    held_out = round(share * graph.n)

    def measure(seed: int) -> dict[str, float]:
        split = per_class(graph, labels_per_class, seed, small_classes="half")
        held = np.sort(np.random.default_rng(seed).choice(split.test, min(held_out, len(split.test)), replace=False))
        whole = run(graph, split, method, settings, seed)
        smaller, small_split, order = without(graph, split, held)
        part = run(smaller, small_split, method, settings, seed)
        answers = {
            "there": whole.prediction.y_pred[held],
            "new": predict_new(part, put_back(graph, smaller, order)).y_pred[smaller.n :],
        }
        return {when: 100 * accuracy(graph.labels[held], answer) for when, answer in answers.items()}

    about = {
        "benchmark": "new-nodes",
        "dataset": name,
        "method": method.name,
        "settings": settings.model_dump(mode="json"),
        "labels_per_class": labels_per_class,
        "share": share,
    }
    found = for_each_seed(measure, seeds, about, store, tell)
    return NewNodesBenchmark(
        dataset=name,
        method=method.name,
        labels_per_class=labels_per_class,
        held_out=held_out,
        **{when: summary(values) for when, values in found.items()},
        difference=paired_difference(found["new"], found["there"]),
    )


def without(graph: NodeGraph, split: Split, held: np.ndarray) -> tuple[NodeGraph, Split, np.ndarray]:
    """The graph without some nodes, the split of what is left, and the old positions: those that stay, then held."""
    order = np.concatenate([np.setdiff1d(np.arange(graph.n), held), held])
    place = np.argsort(order)
    stays = graph.n - len(held)
    inside = (place[graph.edges] < stays).all(axis=1)
    smaller = NodeGraph(
        graph.features[order[:stays]],
        place[graph.edges[inside]],
        [None if code < 0 else graph.classes[code] for code in graph.labels[order[:stays]]],
        ids=graph.ids[order[:stays]],
        classes=graph.classes,
        edge_weights=graph.weights[inside],
        name=graph.name,
    )
    none, rest = np.empty(0, np.int64), place[np.setdiff1d(split.test, held)]
    part = Split(graph.name, split.kind, split.seed, place[split.train], none, rest, fingerprint(smaller))
    return smaller, part, order


def put_back(graph: NodeGraph, smaller: NodeGraph, order: np.ndarray) -> NodeGraph:
    """The smaller graph with the nodes that were taken out of it, as nodes that come later."""
    place = np.argsort(order)
    late = (place[graph.edges] >= smaller.n).any(axis=1)
    held = order[smaller.n :]
    return append_nodes(
        smaller,
        graph.features[held],
        place[graph.edges[late]],
        ids=graph.ids[held],
        edge_weights=graph.weights[late],
    )
