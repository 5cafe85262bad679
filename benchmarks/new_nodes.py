"""Accuracy on nodes added after training, and on the same nodes if they are in the graph at training."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import for_each_seed
from dccgcn import datasets
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split, fingerprint, per_class
from dccgcn.methods.base import Method
from dccgcn.quality.metrics import accuracy
from dccgcn.quality.paired import paired_difference, summary
from dccgcn.workflow.fitting import run
from dccgcn.workflow.inductive import append_nodes, predict_new


def bench_new_nodes(
    name: str,
    method: Method,
    labels_per_class: int,
    share: float,
    seeds: range,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Remove a share of the nodes, train on the rest, add the nodes again, and compare.

    Accuracies are in per cent, on the removed nodes: trained on the whole graph (transductive), and without the nodes,
    which are added afterwards (inductive); the difference is the second less the first.
    """
    graph = datasets.load(name).graph
    settings = method.published_settings(name)
    n_held_out = round(share * graph.n)

    def measure(seed: int) -> dict[str, float]:
        split = per_class(graph, labels_per_class, seed, small_classes="half")
        held_out = np.sort(
            np.random.default_rng(seed).choice(split.test, min(n_held_out, len(split.test)), replace=False)
        )
        whole = run(graph, split, method, settings, seed)
        smaller, small_split, order = remove_nodes(graph, split, held_out)
        part = run(smaller, small_split, method, settings, seed)
        predictions = {
            "transductive": whole.prediction.y_pred[held_out],
            "inductive": predict_new(part, restore_nodes(graph, smaller, order)).y_pred[smaller.n :],
        }
        return {way: 100 * accuracy(graph.labels[held_out], y_pred) for way, y_pred in predictions.items()}

    found = for_each_seed(measure, seeds, progress)
    return dict(
        dataset=name,
        method=method.name,
        labels_per_class=labels_per_class,
        held_out=n_held_out,
        **{way: summary(values) for way, values in found.items()},
        difference=paired_difference(found["inductive"], found["transductive"]),
    )


def remove_nodes(graph: NodeGraph, split: Split, held_out: np.ndarray) -> tuple[NodeGraph, Split, np.ndarray]:
    """The graph and split without some nodes, and the old positions: kept nodes, then those held out."""
    order = np.concatenate([np.setdiff1d(np.arange(graph.n), held_out), held_out])
    position = np.argsort(order)
    n_kept = graph.n - len(held_out)
    inside = (position[graph.edges] < n_kept).all(axis=1)
    smaller = NodeGraph.from_codes(
        graph.features[order[:n_kept]],
        position[graph.edges[inside]],
        graph.labels[order[:n_kept]],
        graph.classes,
        ids=graph.ids[order[:n_kept]],
        edge_weights=graph.weights[inside],
        name=graph.name,
    )
    validation, test = np.empty(0, np.int64), position[np.setdiff1d(split.test, held_out)]
    part = Split(graph.name, split.kind, split.seed, position[split.train], validation, test, fingerprint(smaller))
    return smaller, part, order


def restore_nodes(graph: NodeGraph, smaller: NodeGraph, order: np.ndarray) -> NodeGraph:
    """The smaller graph with the removed nodes appended as new nodes."""
    position = np.argsort(order)
    is_new = (position[graph.edges] >= smaller.n).any(axis=1)
    held_out = order[smaller.n :]
    return append_nodes(
        smaller,
        graph.features[held_out],
        position[graph.edges[is_new]],
        ids=graph.ids[held_out],
        edge_weights=graph.weights[is_new],
    )
