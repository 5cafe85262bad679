"""Active learning: which nodes to label next.

A label helps the nodes that are similar to its own. Every node v has an uncertainty w_v, larger where its prediction is
uncertain or its channels disagree, and a coverage: its similarity s(u, v) to the most similar labelled node u. Nodes
are chosen greedily, each time the one that adds the most coverage, weighted by uncertainty,

    Σ_v w_v · max(0, s(u, v) - coverage_v) / √(1 + labels of u's predicted class),

so that the choices differ from one another, outliers are not chosen, and classes with few labels come first. The sum is
over all nodes, or over a sample of a large graph, and so are the nodes to choose from. Without the class term the
objective is submodular, so the greedy choice is within 1 - 1/e of the optimum (Nemhauser, Wolsey & Fisher 1978).
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.concord import channel_title
from dccgcn.errors import DccgcnError
from dccgcn.features import block_krylov_svd, columns_to_standardise, normalise_rows, standardised, topology_operator
from dccgcn.graph import NodeGraph
from dccgcn.kernels import ppr_smooth
from dccgcn.methods import Prediction

# chosen on development splits of Cora, Citeseer and Pubmed
N_COMPONENTS = 128  # of the features, before smoothing
N_STEPS, ALPHA = 20, 0.1  # smoothing steps, and the weight of a node's own features in each
POWER = 4  # of the cosine: larger values restrict a label's effect to more similar nodes
UNCERTAIN = 0.5  # confidence below which a prediction is more likely wrong than right
SAMPLE_SIZE = 5000  # nodes in the sum, at most
MOST_CANDIDATES = 20_000  # nodes to choose from, unless they are given
_MIN_SIMILARITY = 0.01  # nodes less similar than this to every label are represented by none
_FEW_FEATURES = 16  # columns up to which unit rows lose what tells nodes apart
BLOCK_SIZE = 1024
_GAINS_AT_ONCE = 64  # computed again in one step of the search for the largest


@dataclass(frozen=True)
class Suggestion:
    """A node to label.

    Parameters
    ----------
    position : int
        Of the node in the graph.
    node_id : Any
        Its id.
    prediction : Any
        The class predicted now; None without a prediction.
    confidence : float
        Trust in that class, or its probability where the method does not estimate trust.
    n_represented : int
        Nodes to which this one would be the most similar labelled node, itself included, once it and those suggested
        before it are labelled. It does not depend on how many more are suggested.
    reason : str
        Why its label would help.
    name : str or None
        Its name, if the nodes have names.
    """

    position: int
    node_id: Any
    prediction: Any
    confidence: float
    n_represented: int
    reason: str
    name: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields as a mapping; without a name if the nodes have none."""
        fields = asdict(self)
        name = fields.pop("name")
        node_id = fields.pop("node_id")
        return {"node_id": node_id, **({} if name is None else {"name": name}), **fields}


def suggest_labels(
    graph: NodeGraph,
    prediction: Prediction | None,
    labelled: np.ndarray,
    count: int = 10,
    candidates: np.ndarray | None = None,
) -> list[Suggestion]:
    """Suggest the nodes whose labels would help most.

    Parameters
    ----------
    graph : NodeGraph
        The graph that was classified.
    prediction : Prediction
        Of all its nodes, such as ``run(graph).prediction``. None: nothing can be predicted yet, so the nodes that
        represent most of the graph are chosen.
    labelled : array of int
        Positions of the training nodes; may be empty if there is no prediction.
    count : int
        How many nodes to suggest.
    candidates : array of int, optional
        Positions to choose from. Omitted: all nodes that are not in ``labelled``, or a sample of 20,000 of them.

    Returns
    -------
    list of Suggestion
        The most helpful node first.

    Examples
    --------
    >>> from dccgcn import load_dataset, per_class, run, suggest_labels
    >>> cora = load_dataset("cora").graph
    >>> result = run(cora, per_class(cora, 2, seed=0), "ssgc")
    >>> suggestions = suggest_labels(cora, result.prediction, result.split.train, count=3)
    >>> [suggestion.node_id in cora.ids for suggestion in suggestions]
    [True, True, True]
    """
    labelled = np.asarray(labelled, dtype=np.int64)
    targets = np.arange(graph.n) if graph.targets is None else np.flatnonzero(graph.targets)
    pool = np.setdiff1d(targets if candidates is None else candidates, labelled)
    if candidates is None:
        pool = _some(pool, max(MOST_CANDIDATES, count))
    if len(pool) == 0:
        raise DccgcnError("There is no node without a label to choose.", "Give nodes without labels as well.")
    if not 1 <= count <= len(pool):
        raise DccgcnError(f"{count} nodes cannot be chosen among {len(pool)}.", f"Ask for 1 to {len(pool)}.")
    embedding = graph.cached("node-embedding", lambda: node_embedding(graph))
    sample = _some(np.arange(graph.n), SAMPLE_SIZE)
    target = embedding[sample]
    coverage = largest_similarity(target, embedding[labelled])
    if prediction is None:  # all nodes are as uncertain as one another, and there are no classes to balance
        weight, y_pred, n_labels = np.ones(len(sample)), np.zeros(graph.n, dtype=np.int64), np.zeros(1)
    else:
        weight, y_pred = uncertainty(prediction)[sample], prediction.y_pred
        n_labels = np.bincount(graph.labels[labelled], minlength=graph.c).astype(np.float64)

    def gain(nodes: np.ndarray) -> np.ndarray:
        added = np.maximum(similarity(target, embedding[nodes]) - coverage[:, None], 0)
        return np.asarray((weight @ added) / np.sqrt(1 + n_labels[y_pred[nodes]]))

    chosen: list[int] = []
    bound = np.concatenate([gain(pool[rows]) for rows in _blocks(len(pool))])
    for _ in range(count):
        best = _lazy_argmax(bound, lambda rows: gain(pool[rows]))
        node = pool[best]
        chosen.append(node)
        bound[best] = -np.inf
        np.maximum(coverage, similarity(target, embedding[[node]])[:, 0], out=coverage)
        n_labels[y_pred[node]] += prediction is not None
    represented = represented_nodes(embedding, labelled, np.array(chosen))
    return [_suggestion(graph, prediction, labelled, u, nodes) for u, nodes in zip(chosen, represented, strict=True)]


def uncertainty(prediction: Prediction) -> np.ndarray:
    """(n,) w = 1 - confidence, or (1 + w) / 2 where the channels disagree."""
    w = 1 - prediction.confidence
    return w if prediction.channels_agree is None else np.where(prediction.channels_agree, w, (1 + w) / 2)


def node_embedding(graph: NodeGraph) -> np.ndarray:
    """(n, N_COMPONENTS) unit rows: truncated SVD of the features, smoothed along the edges (APPNP's iteration)."""
    x = _unit_rows(graph)
    if min(x.shape) > N_COMPONENTS:
        x = x @ block_krylov_svd(lambda m: x @ m, lambda m: np.asarray(x.T @ m), x.shape, N_COMPONENTS)
    x = np.asarray(x.toarray() if sp.issparse(x) else x, dtype=np.float32)
    h = ppr_smooth(topology_operator(graph, "symmetric").matrix, x, ALPHA, N_STEPS)
    return np.asarray(normalise_rows(h, "unit"))


def _unit_rows(graph: NodeGraph) -> Any:
    """Features as unit rows. Few columns have few directions, so random ones join them, and the edges count too."""
    random = _random_features(graph.n)
    if not graph.has_features.any():
        return normalise_rows(random, "unit")
    if graph.d > _FEW_FEATURES:
        return normalise_rows(graph.features, "unit")
    few = standardised(graph.features, columns_to_standardise(graph, _FEW_FEATURES))
    few = few.toarray() if sp.issparse(few) else few
    return np.hstack([normalise_rows(part, "unit") for part in (np.asarray(few, dtype=np.float32), random)])


def similarity(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(rows of one, rows of other): the cosine to the power POWER, 0 where it is negative."""
    squared = np.square(np.maximum(one @ other.T, 0))
    return np.square(squared, out=squared)  # POWER = 4; np.power takes three times as long


def largest_similarity(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(rows of one,): the similarity to the most similar row of the other, 0 if that has none. Works in blocks."""
    return np.concatenate([similarity(one[rows], other).max(axis=1, initial=0) for rows in _blocks(len(one))])


def _lazy_argmax(bound: np.ndarray, gain: Callable[[np.ndarray], np.ndarray]) -> int:
    """Position of the largest gain. Gains only shrink, so old ones are upper bounds and few are computed again.

    Writes the gains that were computed into ``bound``.
    """
    fresh = np.zeros(len(bound), dtype=bool)
    while not fresh[best := int(bound.argmax())]:
        stale = np.flatnonzero(~fresh & (bound > -np.inf))
        top = stale[np.argsort(-bound[stale], kind="stable")[:_GAINS_AT_ONCE]]
        bound[top], fresh[top] = gain(top), True
    return best


def represented_nodes(embedding: np.ndarray, labelled: np.ndarray, chosen: np.ndarray) -> list[np.ndarray]:
    """For each chosen node: positions of the nodes more similar to it than to any labelled or earlier chosen one."""
    coverage, represented = np.maximum(largest_similarity(embedding, embedding[labelled]), _MIN_SIMILARITY), []
    for u in chosen:
        value = similarity(embedding, embedding[[u]])[:, 0]
        nearest = value > coverage
        nearest[u] = True  # every node represents itself
        represented.append(np.flatnonzero(nearest))
        np.maximum(coverage, value, out=coverage)
    return represented


def _suggestion(
    graph: NodeGraph, prediction: Prediction | None, labelled: np.ndarray, u: int, represented: np.ndarray
) -> Suggestion:
    reasons = [f"represents {len(represented):,} nodes" if len(represented) > 1 else "represents itself only"]
    node_id = graph.ids[u : u + 1].tolist()[0]
    if prediction is None:
        return Suggestion(int(u), node_id, None, 0.0, len(represented), reasons[0])
    confidence, label = prediction.confidence, int(prediction.y_pred[u])
    if n_uncertain := int((confidence[represented] < UNCERTAIN).sum()):
        reasons[0] += f", {n_uncertain:,} of them uncertain" if len(represented) > 1 else ", uncertain"
    if prediction.channels_agree is not None and not prediction.channels_agree[u] and prediction.channels:
        reasons.append(f"the evidence disagrees: {_two_sides(graph, prediction, u)}")
    elif len(represented) > 1 and confidence[u] < UNCERTAIN:
        reasons.append("uncertain itself")
    n_labels = np.bincount(graph.labels[labelled], minlength=graph.c)
    if n_labels[label] == n_labels.min() < n_labels.max():
        reasons.append(f"few labels of {graph.classes[label]} so far")
    return Suggestion(
        position=int(u),
        node_id=node_id,
        prediction=graph.classes[label],
        confidence=float(confidence[u]),
        n_represented=len(represented),
        reason="; ".join(reasons),
        name=None if graph.names is None else str(graph.names[u]),
    )


def _two_sides(graph: NodeGraph, prediction: Prediction, u: int) -> str:
    """What the channel of largest weight looks at and predicts, and the next one that predicts another class."""
    weights = prediction.channel_weights
    names = sorted(prediction.channels, key=lambda name: -weights.get(name, 0))
    classes = {name: int(prediction.channels[name][u].argmax()) for name in names}
    other = next((name for name in names if classes[name] != classes[names[0]]), None)
    sides = [(channel_title(name), graph.classes[classes[name]]) for name in (names[0], other) if name]
    return ", ".join(f"{predicted} by {title}" for title, predicted in sides)


def _random_features(n: int) -> np.ndarray:
    """(n, N_COMPONENTS) stand-ins where there are no features: random rows, nearly orthogonal to one another."""
    return np.random.default_rng(0).standard_normal((n, N_COMPONENTS), dtype=np.float32)


def _some(nodes: np.ndarray, count: int) -> np.ndarray:
    """The nodes, or a random sample of so many of them in their order."""
    if len(nodes) <= count:
        return nodes
    return nodes[np.sort(np.random.default_rng(0).choice(len(nodes), count, replace=False))]


def _blocks(n: int) -> list[slice]:
    return [slice(start, start + BLOCK_SIZE) for start in range(0, n, BLOCK_SIZE)]
