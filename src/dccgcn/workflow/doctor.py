"""Checks of a graph before training: problems, unusual properties, and what each means for the predictions."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DccgcnError, Finding
from dccgcn.features import is_searched_exactly, neighbours, numeric_columns_of
from dccgcn.graph import NodeGraph, check_training
from dccgcn.methods import Task, check_memory, duration, get_method
from dccgcn.progress import Progress
from dccgcn.runtime import format_bytes
from dccgcn.text import first_few
from dccgcn.workflow.suspect_labels import suspect_findings

Level = Literal["error", "warning", "note"]
_ORDER: tuple[Level, ...] = ("error", "warning", "note")
_CHECKABLE = 3  # labels of a class from which one can be checked by the others
FEATURE_NEIGHBOURS = 6  # of each node in the feature graph, unless the method sets another number


_MEANING = {
    "no-edges": "Only the features can be used; the graph adds nothing.",
    "isolated-nodes": "Their predictions use their features alone.",
    "unreached-components": "Only features are used there. One label in the largest would help.",
    "unknown-nodes": "A label in their component would help.",
    "no-features": "Only the edges can be used; methods that use features alone, such as mlp, will guess.",
    "zero-features": "Their predictions use their edges alone.",
    "single-label-classes": "A single label may be atypical; a second one of each would help most.",
    "unseen-classes": "They will never be predicted.",
    "all-labelled": "Hold some labels out to measure how well they are predicted.",
}


@dataclass(frozen=True)
class Diagnosis:
    """One problem or property of a graph."""

    level: Level  # error: nothing can be trained; warning: predictions will suffer; note: for information
    code: str  # short and stable, such as "isolated-nodes"
    text: str  # the observation
    meaning: str  # its effect on the predictions, and what helps
    nodes: int  # number of nodes concerned


def examine(graph: NodeGraph, k: int = FEATURE_NEIGHBOURS) -> list[Diagnosis]:
    """Everything that is known about a graph before training: errors first, then by the number of nodes concerned.

    k: neighbours in the feature graph, whose ties are counted.
    """
    found = [
        *_check_labels(graph),
        *_check_homophily(graph),
        *_check_features(graph, k),
        *_check_hubs(graph),
        *_check_cost(graph),
    ]
    codes = {diagnosis.code for diagnosis in found}
    found += [_with_meaning(graph, finding) for finding in graph.findings if finding.code not in codes]
    return sorted(found, key=lambda diagnosis: (_ORDER.index(diagnosis.level), -diagnosis.nodes))


def _with_meaning(graph: NodeGraph, finding: Finding) -> Diagnosis:
    """A finding of the graph or its labels, with what it means and the nodes that it concerns."""
    match finding.code:
        case "isolated-nodes":
            nodes = int((graph.degree == 0).sum())
        case "zero-features" | "unknown-nodes":
            nodes = int((~graph.has_features).sum())
        case "unreached-components":
            nodes = int((~np.isin(graph.component, graph.component[graph.labelled])).sum())
        case code:
            nodes = graph.n if code in _MEANING else 0
    is_guess = finding.code in ("isolated-nodes", "unreached-components") and not graph.has_features.any()
    meaning = "Their predictions will be guesses." if is_guess else _MEANING.get(finding.code, "")
    return Diagnosis(finding.level, finding.code, finding.text, meaning, nodes)


def check_given_labels(graph: NodeGraph, progress: Progress | None = None) -> list[Diagnosis]:
    """Labels that Concord, trained on the others, clearly contradicts."""
    labelled = graph.labelled
    counts = np.bincount(graph.labels[labelled], minlength=graph.c)
    if (counts >= _CHECKABLE).sum() < 2:
        return []
    method = get_method("concord")
    seen = graph.with_classes(np.flatnonzero(counts))
    prediction = method.fit(Task(seen, labelled, progress=progress), method.settings())
    meaning = "A wrong label also misleads predictions around it."
    found = suspect_findings(seen, labelled, prediction)
    return [Diagnosis(f.level, f.code, f.text, meaning, len(labelled)) for f in found]


def facts(graph: NodeGraph) -> dict[str, Any]:
    """The sizes of the graph."""
    return {
        "name": graph.name,
        "nodes": graph.n,
        "edges": len(graph.edges),
        "relations": graph.relation_sizes,
        "directed": graph.directed,
        "features": graph.d if graph.has_features.any() else 0,
        "classes": [str(name) for name in graph.classes],
        "labelled": len(graph.labelled),
        "components": int(graph.component.max()) + 1,
    }


def _check_labels(graph: NodeGraph) -> Iterator[Diagnosis]:
    labelled = graph.labelled
    try:
        yield from map(partial(_with_meaning, graph), check_training(graph, labelled))
    except DccgcnError as error:
        yield Diagnosis("error", "labels", error.what, f"No method can be trained. {error.remedy}", graph.n)
        return
    count = np.bincount(graph.labels[labelled], minlength=graph.c)
    if count.max() > 5 * max(count[count > 0].min(), 1):
        rare, common = (int(np.argmin(np.where(count > 0, count, count.max()))), int(count.argmax()))
        text = f"Class {first_few([graph.classes[common]])} has {count[common]} labels, "
        text += f"{first_few([graph.classes[rare]])} only {count[rare]}."
        meaning = "Rare classes will be predicted too seldom; label more of them."
        yield Diagnosis("warning", "imbalance", text, meaning, graph.n)
    each = f"{count.min()}" if count.min() == count.max() else f"{count.min()} to {count.max()}"
    yield Diagnosis(
        "note",
        "label-rate",
        f"{len(labelled)} of {graph.n} nodes are labelled ({len(labelled) / graph.n:.2%}), {each} of each of "
        f"{graph.c} classes.",
        "With fewer than five of a class the accuracy varies by several points with the choice of labels."
        if count.min() < 5
        else "That is enough to learn from.",
        graph.n,
    )


def _check_homophily(graph: NodeGraph) -> Iterator[Diagnosis]:
    """Whether neighbours share a class, in each relation if there are several."""
    if len(graph.relations) < 2:
        yield from _check_homophily_of(graph)
        return
    for name, matrix in graph.relations.items():
        for diagnosis in _check_homophily_of(graph.with_relations({name: matrix}, graph.directed)):
            yield replace(diagnosis, text=f"Relation {name}: {diagnosis.text}")


def _check_homophily_of(graph: NodeGraph) -> Iterator[Diagnosis]:
    a, b = graph.labels[graph.edges].T if len(graph.edges) else np.empty((2, 0), dtype=np.int64)
    known = int(((a >= 0) & (b >= 0)).sum())
    if known == 0:
        if len(graph.edges):
            text = "No edge connects two labelled nodes, so the homophily is unknown."
            meaning = "A few labels on neighbours of labelled nodes would show whether neighbours share a class."
            yield Diagnosis("note", "homophily", text, meaning, graph.n)
        return
    p, z2 = graph.homophily, 1.96**2 / known  # Wilson's interval
    middle, half = (p + z2 / 2) / (1 + z2), np.sqrt(z2 * p * (1 - p) + z2**2 / 4) / (1 + z2)
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    share = np.bincount(graph.labels[graph.labelled], minlength=graph.c) / len(graph.labelled)
    chance = float((share**2).sum())
    text = (
        f"{graph.homophily:.0%} of the edges between labelled nodes ({known} in all) connect nodes of one class "
        f"(95 % interval {low:.0%} to {high:.0%}; by chance {chance:.0%})."
    )
    little = chance + (1 - chance) / 3
    if low > chance and high >= little:
        meaning = "Neighbours tend to share their class, as graph methods assume."
        yield Diagnosis("note", "homophily", text, meaning, graph.n)
    elif high < little:
        meaning = "Neighbours say little about a node's class: the edges may mislead, and the features matter more."
        yield Diagnosis("warning", "homophily", text, meaning, graph.n)
    else:
        meaning = "There are too few such edges to say whether neighbours share their class."
        yield Diagnosis("note", "homophily", text, meaning, graph.n)


def _check_features(graph: NodeGraph, k: int) -> Iterator[Diagnosis]:
    if not graph.has_features.any():
        return
    x = sp.csr_array(graph.features)
    duplicates = _duplicates(x)
    if duplicates:
        text = f"{duplicates} nodes have the same features as another node."
        meaning = "If they are copies of one another, labels leak between them and test scores are too high."
        yield Diagnosis("note", "duplicate-features", text, meaning, duplicates)
    yield from _check_units(graph)
    if graph.n > k and is_searched_exactly(graph.features):  # else a search takes minutes, and ties are its least error
        ties = int(neighbours(graph.features, k).tied.sum())
        if ties:
            text = f"Of {ties} nodes ({ties / graph.n:.1%}) the {k} most similar ones are not clear: "
            text += "others are equally similar."
            meaning = "Those that come first in the table count as similar, so the order of the rows matters a little."
            yield Diagnosis("note", "knn-ties", text, meaning, ties)


def _check_units(graph: NodeGraph) -> Iterator[Diagnosis]:
    by = numeric_columns_of(graph)
    if by is not None and (found := int((by.deviation > 0).sum())):
        text = f"{found} of {graph.d} features are measurements in different units or not centred at zero."
        meaning = "Concord standardises them. Standardise them yourself for other methods, or the largest dominates."
        yield Diagnosis("note", "units", text, meaning, 0)


def _duplicates(x: sp.csr_array) -> int:
    """Rows that equal another one; rows of zeros do not count."""
    ends = ((a, b) for a, b in pairwise(x.indptr) if b > a)
    rows = Counter(x.indices[a:b].tobytes() + x.data[a:b].tobytes() for a, b in ends)
    return sum(count for count in rows.values() if count > 1)


def _check_hubs(graph: NodeGraph) -> Iterator[Diagnosis]:
    if len(graph.edges) == 0:
        return
    hub = int(graph.degree.argmax())
    if graph.degree[hub] > max(0.1 * graph.n, 100):
        text = f"Node {first_few([graph.ids[hub]])} is connected to {graph.degree[hub]} of {graph.n} nodes."
        meaning = "A hub makes all its neighbours similar; leave it out unless its edges are informative."
        yield Diagnosis("warning", "hubs", text, meaning, int(graph.degree[hub]))


def _check_cost(graph: NodeGraph) -> Iterator[Diagnosis]:
    method = get_method("concord")
    cost = method.cost(graph, method.settings())
    text = f"A run takes {duration(cost.seconds)} on one core and {format_bytes(cost.bytes)} of memory, roughly."
    try:
        short = check_memory(cost)
    except DccgcnError as error:
        yield Diagnosis("error", "memory", error.what, error.remedy, graph.n)
        return
    if short:
        yield Diagnosis("warning", "memory", short[0].text, "The machine may become very slow.", graph.n)
    meaning = "Estimated for concord, the default; networks such as dcc-gcn take longer."
    yield Diagnosis("note", "cost", text, meaning, 0)
