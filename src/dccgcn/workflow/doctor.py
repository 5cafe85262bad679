"""What is wrong with a graph, what is odd, and what it will mean: told before anything is trained."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DccgcnError, some
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import check_training
from dccgcn.models.registry import get_method
from dccgcn.models.resources import check_memory, duration
from dccgcn.operators import neighbours, numeric_columns_of
from dccgcn.runtime.memory import size

Level = Literal["error", "warning", "note"]
_ORDER: tuple[Level, ...] = ("error", "warning", "note")
_Z = 1.96  # of a 95 % interval
FEATURE_NEIGHBOURS = 6  # of each node in the feature graph, unless a method has others


@dataclass(frozen=True)
class Complaint:
    """One thing that a graph suffers from, or that is worth knowing about it."""

    level: Level  # error: nothing can be trained; warning: answers will suffer; note: good to know
    code: str
    text: str  # what was seen
    meaning: str  # what it will mean for the answers, and what helps
    nodes: int  # how many nodes it touches; of one level, the most come first


def examine(graph: NodeGraph, k: int = FEATURE_NEIGHBOURS) -> list[Complaint]:
    """Everything that can be said of a graph before training, the most important first.

    k: neighbours in the feature graph, for the ties among them.
    """
    said = [*_labels(graph), *_reach(graph), *_homophily(graph), *_features(graph, k), *_edges(graph), *_cost(graph)]
    said += _others(graph, {complaint.code for complaint in said})
    return sorted(said, key=lambda complaint: (_ORDER.index(complaint.level), -complaint.nodes))


def facts(graph: NodeGraph) -> dict[str, Any]:
    """The graph in numbers."""
    return {
        "name": graph.name,
        "nodes": graph.n,
        "edges": len(graph.edges),
        "features": graph.d,
        "classes": [str(name) for name in graph.classes],
        "labelled": len(graph.labelled),
        "components": int(graph.component.max()) + 1,
    }


def _labels(graph: NodeGraph) -> Iterator[Complaint]:
    labelled = graph.labelled
    try:
        found = check_training(graph, labelled)
    except DccgcnError as error:
        yield Complaint("error", "labels", error.what, f"Nothing can be learnt. {error.remedy}", graph.n)
        return
    count = np.bincount(graph.labels[labelled], minlength=graph.c)
    meaning = {
        "single-label-classes": "A single label may be an odd one; a second of each would help most.",
        "unseen-classes": "No node will be put into them.",
        "all-labelled": "Hold some labels out to measure how well they are predicted.",
    }
    for finding in found:
        if finding.code in meaning:
            yield Complaint("warning", finding.code, finding.text, meaning[finding.code], len(labelled))
    if count.max() > 5 * max(count[count > 0].min(), 1):
        rare, common = (int(np.argmin(np.where(count > 0, count, count.max()))), int(count.argmax()))
        yield Complaint(
            "warning",
            "imbalance",
            f"Class {some([graph.classes[common]])} has {count[common]} labels, {some([graph.classes[rare]])} "
            f"only {count[rare]}.",
            "Rare classes will be predicted too seldom; label more of them.",
            graph.n,
        )
    each = f"{count.min()}" if count.min() == count.max() else f"{count.min()} to {count.max()}"
    yield Complaint(
        "note",
        "label-rate",
        f"{len(labelled)} of {graph.n} nodes are labelled ({len(labelled) / graph.n:.2%}), {each} of each of "
        f"{graph.c} classes.",
        "With fewer than five of a class the answers vary by several points with the choice of labels."
        if count.min() < 5
        else "That is enough to learn from.",
        graph.n,
    )


def _reach(graph: NodeGraph) -> Iterator[Complaint]:
    if len(graph.edges) == 0:
        yield Complaint(
            "warning", "no-edges", "There are no edges.", "Only the features can tell; the graph adds nothing.", graph.n
        )
        return
    isolated = np.flatnonzero(graph.degree == 0)
    if len(isolated):
        yield Complaint(
            "warning",
            "isolated-nodes",
            f"{len(isolated)} nodes have no edge: {some(graph.ids[isolated])}.",
            f"Their answers {'rest on their features alone' if graph.described.any() else 'will be guesses'}.",
            len(isolated),
        )
    reached = np.isin(graph.component, graph.component[graph.labelled])
    away = np.flatnonzero(~reached & (graph.degree > 0))
    if len(away) and len(graph.labelled):
        components = len(np.unique(graph.component[away]))
        largest = int(np.bincount(graph.component[away]).max())
        told = "features alone can tell" if graph.described.any() else "their answers will be guesses"
        yield Complaint(
            "warning",
            "unreached-components",
            f"{components} components without a label hold {len(away)} nodes, the largest {largest}: "
            f"{some(graph.ids[away])}.",
            f"No label reaches them along edges; {told}. One label in the largest would help.",
            len(away),
        )


def _homophily(graph: NodeGraph) -> Iterator[Complaint]:
    a, b = graph.labels[graph.edges].T if len(graph.edges) else np.empty((2, 0), dtype=np.int64)
    known = int(((a >= 0) & (b >= 0)).sum())
    if known == 0:
        if len(graph.edges):
            text = "No edge joins two labelled nodes, so whether neighbours share a class cannot be seen."
            meaning = "The edges are trusted unseen; a few labels on neighbours of labelled nodes would tell."
            yield Complaint("note", "homophily", text, meaning, graph.n)
        return
    low, high = _interval(graph.homophily, known)
    share = np.bincount(graph.labels[graph.labelled], minlength=graph.c) / len(graph.labelled)
    chance = float((share**2).sum())
    text = (
        f"{graph.homophily:.0%} of the edges between labelled nodes ({known} in all) join two of one class "
        f"(95 % interval {low:.0%} to {high:.0%}; by chance {chance:.0%})."
    )
    little = chance + (1 - chance) / 3
    if low > chance and high >= little:
        meaning = "Neighbours tend to share their class, as methods on graphs assume."
        yield Complaint("note", "homophily", text, meaning, graph.n)
    elif high < little:
        meaning = "Neighbours tell little of a node's class: the edges may mislead, and features weigh more."
        yield Complaint("warning", "homophily", text, meaning, graph.n)
    else:
        meaning = "These are too few edges to say whether neighbours share their class."
        yield Complaint("note", "homophily", text, meaning, graph.n)


def _interval(share: float, count: int) -> tuple[float, float]:
    """Wilson's interval of a share that was seen in so many cases."""
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = _Z * np.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2)) / (1 + _Z**2 / count)
    return float(max(middle - half, 0)), float(min(middle + half, 1))


def _features(graph: NodeGraph, k: int) -> Iterator[Complaint]:
    x = sp.csr_array(graph.features)
    zero = np.flatnonzero(np.diff(x.indptr) == 0)
    if not graph.described.any():
        text, meaning = (
            "All nodes have the same features.",
            "Only the edges can tell; methods that look at features alone, such as mlp, will guess.",
        )
        yield Complaint("warning", "no-features", text, meaning, graph.n)
        return
    if len(zero):
        yield Complaint(
            "warning",
            "zero-features",
            f"{len(zero)} nodes have no feature that is not zero: {some(graph.ids[zero])}.",
            "Their answers rest on their edges alone.",
            len(zero),
        )
    alike = _duplicates(x)
    if alike:
        yield Complaint(
            "note",
            "duplicate-features",
            f"{alike} nodes share all their features with another node.",
            "If they are copies of one thing, labels leak from one to the other and a test score is too good.",
            alike,
        )
    yield from _units(graph)
    if graph.n > k:
        ties = int(neighbours(graph.features, k).tied.sum())
        if ties:
            yield Complaint(
                "note",
                "knn-ties",
                f"{ties} nodes ({ties / graph.n:.1%}) tie at neighbour {k} of the feature graph.",
                "Of equals the node that stands first in the table is taken, so its order matters a little.",
                ties,
            )


def _units(graph: NodeGraph) -> Iterator[Complaint]:
    by = numeric_columns_of(graph)
    if by is not None and (found := int((by.deviation > 0).sum())):
        yield Complaint(
            "note",
            "units",
            f"{found} of {graph.d} features are measurements, of unlike units or not about zero.",
            "Concord brings them to mean 0 and variance 1. Do so yourself for other methods, or the largest decides.",
            0,
        )


def _duplicates(x: sp.csr_array) -> int:
    rows: dict[bytes, int] = {}
    for start, stop in zip(x.indptr[:-1], x.indptr[1:], strict=True):
        if stop > start:
            row = x.indices[start:stop].tobytes() + x.data[start:stop].tobytes()
            rows[row] = rows.get(row, 0) + 1
    return sum(count for count in rows.values() if count > 1)


def _edges(graph: NodeGraph) -> Iterator[Complaint]:
    if len(graph.edges) == 0:
        return
    hub = int(graph.degree.argmax())
    if graph.degree[hub] > max(0.1 * graph.n, 100):
        yield Complaint(
            "warning",
            "hubs",
            f"Node {some([graph.ids[hub]])} is joined to {graph.degree[hub]} of {graph.n} nodes.",
            "A node that is joined to everything makes everything alike; leave it out unless it means something.",
            int(graph.degree[hub]),
        )


def _cost(graph: NodeGraph) -> Iterator[Complaint]:
    method = get_method("concord")
    cost = method.cost(graph, method.settings())
    text = f"A run takes {duration(cost.seconds)} on one core and {size(cost.bytes)} of memory, roughly."
    try:
        short = check_memory(cost)
    except DccgcnError as error:
        yield Complaint("error", "memory", error.what, error.remedy, graph.n)
        return
    if short:
        yield Complaint("warning", "memory", short[0].text, "The machine may grind to a halt.", graph.n)
    yield Complaint(
        "note",
        "cost",
        text,
        "Estimated for concord, the default; networks such as dcc-gcn take longer.",
        0,
    )


def _others(graph: NodeGraph, said: set[str]) -> list[Complaint]:
    """What the checks found when the graph was built, and is not said yet."""
    rest = [finding for finding in graph.findings if finding.code not in said]
    return [Complaint(finding.level, finding.code, finding.text, "", 0) for finding in rest]
