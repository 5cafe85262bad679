"""Concord: two channels, several voices, one answer for each node and how far to trust it. See docs/concord.md."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import unknown
from dccgcn.models.base import Method
from dccgcn.models.concord.class_prior import as_frequent, half_way, relative_frequencies
from dccgcn.models.concord.confidence import by_luck, doubts, evidence, trust, with_confidence
from dccgcn.models.concord.ensemble import Concord, held_out_hits, inferred, pooled, weighed
from dccgcn.models.concord.loo_ridge import Room, explained, resounded
from dccgcn.models.concord.members import Heads, Labels, Voice, learn, speak, standing
from dccgcn.models.concord.neighbour_correction import agreeing_neighbours, repaired, without_rows
from dccgcn.models.concord.precompute import (
    AROUND,
    OWN,
    TIES,
    TRAVELLED,
    channel_views,
    comparable,
    entries_of,
    rarity_of,
    representations,
    rooms_of,
)
from dccgcn.models.concord.settings import ConcordSettings
from dccgcn.models.concord.spectral_features import Representation, scarcity
from dccgcn.models.concord.state import Bases, Learned, from_arrays, to_arrays
from dccgcn.models.prediction import Prediction
from dccgcn.operators import Operator, numeric_columns_of
from dccgcn.progress import Progress
from dccgcn.runtime.threads import threads_for

# towards accord, in the last round but one and the last: sooner, what a head is made of a few labels may be taken to
# classes that are none of theirs, and no later round brings it back
_STEPS = (4, 10)


def fit(
    graph: NodeGraph,
    train: np.ndarray,
    settings: ConcordSettings,
    seed: int,
    progress: Progress | None = None,
    validation: np.ndarray | None = None,
) -> Prediction:
    """Train on the labels of the nodes in ``train`` and classify all nodes. Validation nodes are not used."""
    given = Labels(train, np.eye(graph.c, dtype=np.float32)[graph.labels[train]], np.ones(len(train)))
    q = scarcity(len(train) / graph.c, settings.enough)
    frequent = relative_frequencies(graph.classes, settings.frequencies)
    by = numeric_columns_of(graph)
    seen = comparable(graph, by)
    views = channel_views(seen, settings)
    with threads_for(entries_of(views)):
        parts = representations(seen, settings, q)
        voices = voices_of(parts, views, q, settings)
        learned, said = in_rounds(voices, given, half_way(frequent), settings, seed, progress)
        rooms = rooms_of(parts, seen)
        concord = deliberate(voices, said, views, rooms, learned, frequent, settings)
        prediction = conclude(concord, voices, rooms, learned, unknown(graph, train))
        rare = rarity_of(seen, settings)
        heard = [*channel_views(seen, settings, rare).values(), *views.values()]
        findings = {finding.code: finding for view in heard for finding in view.findings}  # each kind once
        told = (*findings.values(), *doubts(learned))
        return replace(prediction, model=to_arrays(Bases(parts, rare, by), learned), findings=told)


def extend(model: Mapping[str, np.ndarray], graph: NodeGraph, settings: ConcordSettings) -> Prediction:
    """Answer for a graph that has grown since training: the heads and directions stay, the graphs are the new ones."""
    bases, learned = from_arrays(model)
    q = scarcity(learned.n_given / graph.c, settings.enough)
    seen = comparable(graph, bases.measured)
    views = channel_views(seen, settings)
    with threads_for(entries_of(views)):
        parts = representations(seen, settings, q, bases)
        voices = voices_of(parts, views, q, settings)
        said = speak(voices, learned.heads, learned.labels, settings)
        rooms = rooms_of(parts)
        frequent = relative_frequencies(graph.classes, settings.frequencies)
        concord = deliberate(voices, said, views, rooms, learned, frequent, settings)
        return conclude(concord, voices, rooms, learned, unknown(graph, learned.given.nodes))


def voices_of(
    parts: dict[str, Representation], views: dict[str, Operator], q: float, settings: ConcordSettings
) -> list[Voice]:
    """Each channel's own, all of them joined and smoothed on either graph, and the labels along the given edges.

    The scarcer the given labels, the more the leading directions are relied on, and who is joined to whom.
    """
    z = {name: part.favouring(q * settings.favour) for name, part in parts.items() if name not in (OWN, AROUND)}
    own = [Voice(name.split(".")[0], rows, views[name.split(".")[0]]) for name, rows in z.items()]
    parts_of_joined = [rows * np.float32(q) if name == TIES else rows for name, rows in z.items()]
    joined = np.hstack(parts_of_joined) / np.float32(np.sqrt(len(z)))
    return [
        *own,
        *(Voice("joined", joined, view) for view in views.values()),
        Voice("labels", None, views["topology"]),
    ]


def in_rounds(
    voices: list[Voice],
    given: Labels,
    frequent: np.ndarray,
    settings: ConcordSettings,
    seed: int,
    progress: Progress | None = None,
) -> tuple[Learned, list[np.ndarray]]:
    """Learn from the given labels, let the best answers be labels too, and learn again; and what is said in the end."""
    hits, together = held_out_hits(voices, given, settings, seed)
    labels, unjudged = given, standing(voices)
    heads: Heads = [None] * len(voices)
    for turn in range(settings.rounds + 1):
        late = turn - settings.rounds + len(_STEPS) - 1
        heads = learn(voices, labels, settings, heads, _STEPS[late] if late >= 0 else 0, frequent)
        said = speak(voices, heads, labels, settings)
        f, weights = weighed(said, hits, len(given.nodes), unjudged, settings)
        if progress:
            progress("rounds", turn + 1, settings.rounds + 1)
        if turn < settings.rounds:
            share = settings.last_share / 2 ** (settings.rounds - 1 - turn)
            labels = inferred(f, given, share, settings, frequent)
    return Learned(heads, labels, len(given.nodes), weights, together), said


def deliberate(
    voices: list[Voice],
    said: list[np.ndarray],
    views: dict[str, Operator],
    rooms: Mapping[str, Room],
    learned: Learned,
    frequent: np.ndarray,
    settings: ConcordSettings,
) -> Concord:
    """What the voices say together, repaired where the channels disagree, and with what is heard of it again."""
    weights = learned.weights
    before = pooled(said, weights)
    pools, believed = {}, {}
    for name in (*views, "joined"):
        own = [v for v, voice in enumerate(voices) if voice.channel == name]
        pools[name] = pooled([said[v] for v in own], weights[own])
        believed[name] = float(weights[own].mean())
    joined, _ = pools.pop("joined"), believed.pop("joined")
    believed = {name: weight / sum(believed.values()) for name, weight in believed.items()}
    agree = pools["topology"].argmax(axis=1) == pools["features"].argmax(axis=1)
    support = agreeing_neighbours(views, believed, agree)

    def expected(f: np.ndarray) -> np.ndarray:
        return as_frequent(f, frequent) if settings.frequencies else f

    f = expected(repaired(before, support, settings.repair))  # or the echo would make what is rare still rarer
    if settings.echo:
        taught = learned.clamped(f)
        heard = rooms[AROUND].echo(taught)
        f = expected(resounded(f, heard, taught.mean(axis=0), settings.echo * explained(heard, taught)))
    return Concord(f, before, said, joined, pools, believed, agree, support)


def conclude(
    concord: Concord, voices: list[Voice], rooms: Mapping[str, Room], learned: Learned, guessed: np.ndarray
) -> Prediction:
    """The answers, each with the probability of being right; some are ``guessed``."""
    known = {name: _joined(voices, name) for name in [*concord.channels, "joined"]}
    luck = by_luck(learned.found, learned.sought, learned.chance)
    sure = trust(evidence(concord, [rooms[OWN], rooms[TRAVELLED]], learned), luck, learned.chance)
    sure[guessed] = 1 / concord.f.shape[1]
    probabilities, given = with_confidence(concord.f, sure), learned.given
    probabilities[given.nodes], sure[given.nodes] = given.targets, 1  # a given label is not ours to change
    support = without_rows(concord.support, given.nodes)  # nor to repair
    return Prediction(
        probabilities=probabilities,
        channels=concord.channels,
        channels_agree=concord.agree,
        uncorrected=concord.before,
        joint=concord.joined,
        corrected=np.diff(support.indptr) > 0,
        embeddings=known,
        trust=sure,
        channel_weights=concord.believed,
        support=support,
    )


def _joined(voices: list[Voice], channel: str) -> np.ndarray:
    """What a channel knows of each node, side by side, (n, width)."""
    own = {id(voice.z): voice.z for voice in voices if voice.channel == channel and voice.z is not None}
    return np.hstack(list(own.values()))


METHOD = Method(
    name="concord",
    summary="Voices of both channels, believed as far as they prove reliable, teach one another.",
    reference="this project; docs/concord.md",
    settings=ConcordSettings,
    fit=fit,
    extend=extend,
)
