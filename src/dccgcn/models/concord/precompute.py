"""What is known of a graph before any label is: its channels, their representations, and where answers resound.

Each is made once for a graph. ``known`` are the directions of an earlier training, for a graph that has grown since.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from dccgcn.graph import NodeGraph
from dccgcn.models.concord.loo_ridge import Room
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import (
    Filter,
    Representation,
    in_pairs,
    itself,
    of_neighbours,
    project,
    project_ties,
    rarity,
    represent,
    represent_ties,
    shortened,
    travelled,
)
from dccgcn.models.concord.state import Bases
from dccgcn.operators import (
    NumericColumns,
    Operator,
    knn_operator,
    normalise_rows,
    standardised,
    topology_operator,
    weight_columns,
)

TIES = "topology.ties"
OWN, AROUND = "own", "around"  # not what a voice learns from, but where answers are heard again
TRAVELLED = "travelled"


def comparable(graph: NodeGraph, by: NumericColumns | None) -> NodeGraph:
    """Nodes and edges as the channels see them: with measurements of one zero and one unit, so none drowns the rest.

    Its labels may be those of an earlier run.
    """
    if by is None:
        return graph
    return graph.cached(
        ("comparable", by.mean.tobytes()), lambda: graph.with_features(standardised(graph.features, by))
    )


def channel_views(
    graph: NodeGraph, settings: ConcordSettings, weights: np.ndarray | None = None
) -> dict[str, Operator]:
    """The graph of each channel: the one given, and the k nearest neighbours by features."""
    # a tiny graph has fewer neighbours than the default; a k that somebody chose is taken at its word
    k = settings.k if "k" in settings.model_fields_set else min(settings.k, graph.n - 1)
    return {
        "topology": topology_operator(graph, "symmetric"),
        "features": knn_operator(graph, k, "symmetric", weights=weights),
    }


def entries_of(views: Mapping[str, Operator]) -> int:
    """Of all graphs together: what a product with each of them takes."""
    return sum(view.matrix.nnz for view in views.values())


def representations(
    graph: NodeGraph, s: ConcordSettings, q: float, known: Bases | None = None
) -> dict[str, Representation]:
    """Each channel's Z, from afar and from near, the topology's of who is joined to whom, and those of the echo.

    From afar are the plain features. From near they are weighted by their rarity, where they are counts, and travel
    less far along the given edges the less scarce labels are: with many, what a node has of its own tells it apart.
    """
    rare = known.rarity if known else rarity_of(graph, s)
    plain, by_rarity = channel_views(graph, s), channel_views(graph, s, rare)
    topology = plain["topology"]
    far, near = (s.topology_steps, s.own), shortened(s.topology_steps, s.own, q, s.shorten)
    similar = (s.feature_steps, s.own)
    sources: list[tuple[str, np.ndarray | None, Filter, tuple[float, ...]]] = [
        ("topology.far", None, _travel(topology, *far), far),
        ("features.far", None, _travel(plain["features"], *similar), (s.k, *similar)),
        ("topology.near", rare, _travel(topology, *near), near),
        (OWN, rare, itself, ()),
        (AROUND, rare, partial(of_neighbours, view=topology), ()),
    ]
    if rare is not None:
        sources.append(("features.near", rare, _travel(by_rarity["features"], *similar), (s.k, *similar)))
    made = {}
    plain_x, rare_x = (cache(partial(_unit_features, graph, w)) for w in (None, rare))  # read once, and only if need be
    for name, weights, along, key in sources:
        x = plain_x if weights is None else rare_x
        if known:
            made[name] = project(along, x(), known.parts[name])
        else:
            whole = ("concord", name, s.rank, weights is not None, *key)
            made[name] = graph.cached(whole, partial(_represent, along, x, s.rank))
    if s.ties:
        walked = partial(in_pairs, view=topology, steps=far[0], own=far[1])
        if known:
            made[TIES] = project_ties(walked, graph.n, known.parts[TIES])
        else:
            tied = partial(represent_ties, walked, graph.component, s.ties)
            made[TIES] = graph.cached(("concord", TIES, *far, s.ties), tied)
    return made


def _travel(view: Operator, steps: int, own: float) -> Filter:
    return partial(travelled, view=view, steps=steps, own=own)


def _unit_features(graph: NodeGraph, weights: np.ndarray | None) -> Any:
    return normalise_rows(weight_columns(graph.features, weights), "unit")


def _represent(along: Filter, x: Callable[[], Any], rank: int) -> Representation:
    return represent(along, x(), rank)


def rarity_of(graph: NodeGraph, settings: ConcordSettings) -> np.ndarray | None:
    """Weights of the features by rarity, where they are wanted and mean something."""
    return graph.cached(("rarity",), partial(rarity, graph.features)) if settings.rarity else None


def rooms_of(parts: dict[str, Representation], graph: NodeGraph | None = None) -> dict[str, Room]:
    """Where answers resound: what a node has of its own, that and what its neighbours have, and all that travelled.

    A room that belongs to a graph is built once.
    """
    travelled_parts = [part for name, part in parts.items() if name not in (OWN, AROUND)]
    heard_in = {OWN: [parts[OWN]], AROUND: [parts[OWN], parts[AROUND]], TRAVELLED: travelled_parts}

    def room(kept: Sequence[Representation]) -> Room:
        build = partial(Room.of, *(part.z for part in kept))
        return build() if graph is None else graph.cached(("concord", "room", *kept), build)

    return {name: room(kept) for name, kept in heard_in.items()}
