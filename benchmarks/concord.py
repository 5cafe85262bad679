"""A run of Concord against a run of DCC-GCN on the same kernels, both with cached operators."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dccgcn import datasets
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.views import channel_operators, scaled_graph
from dccgcn.graph import NodeGraph, splits
from dccgcn.methods.base import get_method
from dccgcn.networks.dcc.method import build_operators
from dccgcn.networks.dcc.settings import DccSettings
from dccgcn.quality.paired import summary
from dccgcn.workflow.fitting import run

# with the scaling of the features, which is an input of an operator
_OPERATORS = ("adjacency", "topology", "knn", "feature", "idf", "numeric columns", "standardised")


def bench_concord(
    name: str,
    labels_per_class: int | None,
    label_rate: float | None,
    rounds: int,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Alternate runs of both, each round on its own split, with their published settings.

    Seconds are medians, ratios are medians of the ratios of neighbouring rounds, accuracies are in per cent. ``first``
    is Concord's first run on a graph, which computes its embeddings; later runs find them cached.
    """
    graph = datasets.load(name).graph
    concord, dcc = get_method("concord"), get_method("dcc-gcn")
    ours, theirs = concord.published_settings(name), dcc.published_settings(name)
    assert isinstance(ours, ConcordSettings)
    assert isinstance(theirs, DccSettings)
    build_concord_operators(graph, ours)
    build_operators(graph, theirs)
    times, right = [], []
    for seed in range(-1, rounds):  # the first round compiles
        split = (
            splits.by_rate(graph, label_rate, max(seed, 0))
            if label_rate is not None
            else splits.per_class(graph, labels_per_class or 20, max(seed, 0), small_classes="half")
        )
        fresh = with_operators_only(graph)
        first = run(fresh, split, concord, ours, seed=0)
        one = run(fresh, split, concord, ours, seed=0)
        other = run(graph, split, dcc, theirs if seed >= 0 else theirs.model_copy(update={"epochs": 2}), seed=0)
        if seed >= 0:
            times.append((first.seconds, one.seconds, other.seconds))
            right.append((100 * (one.accuracy or 0), 100 * (other.accuracy or 0)))
        if progress:
            progress(seed + 2, rounds + 1)
    seconds, accuracy = np.array(times), np.array(right)
    return dict(
        dataset=name,
        labels=len(split.train),
        epochs=theirs.epochs,
        threads=threads,
        rounds=rounds,
        first_s=float(np.median(seconds[:, 0])),
        concord_s=float(np.median(seconds[:, 1])),
        dcc_gcn_s=float(np.median(seconds[:, 2])),
        first_ratio=float(np.median(seconds[:, 2] / seconds[:, 0])),
        ratio=float(np.median(seconds[:, 2] / seconds[:, 1])),
        concord_accuracy=summary(accuracy[:, 0].tolist()),
        dcc_gcn_accuracy=summary(accuracy[:, 1].tolist()),
    )


def build_concord_operators(graph: NodeGraph, settings: ConcordSettings) -> None:
    """Every graph that Concord propagates on."""
    scaled, by = scaled_graph(graph)
    channel_operators(scaled, settings, by.idf)


def with_operators_only(graph: NodeGraph) -> NodeGraph:
    """The same graph as a first run finds it: its operators are built, embeddings are not."""
    return graph.with_cache({key: value for key, value in graph.cache.items() if key[0] in _OPERATORS})
