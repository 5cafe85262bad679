"""Which nodes to label next: those that stand for the most nodes whose answers cannot be trusted yet.

A label helps the nodes that are like its own. Every node v has a doubt w_v, larger where its answer is uncertain or its
channels disagree, and is covered as far as it resembles a labelled node, s(u, v) for u among them. Nodes are chosen
one after the other, each time the one that covers the most uncovered doubt,

    Σ_v w_v · max(0, s(u, v) - covered_v) / √(1 + labels of u's class),

so that no two come from one clump, outliers stand for nobody, and classes with few labels come first. The sum is over
all nodes, or over a sample of a large graph. Choosing is greedy: coverage has diminishing returns, and for such a sum
alone, without the classes, that gets within 1 - 1/e of the best choice (Nemhauser, Wolsey & Fisher 1978).
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from dccgcn.errors import DccgcnError
from dccgcn.graph import NodeGraph
from dccgcn.models.prediction import Prediction
from dccgcn.operators import topology_operator

# settled on development splits of Cora, Citeseer and Pubmed
WIDTH = 128  # of the features when nodes are compared
STEPS, OWN = 20, 0.1  # of smoothing along the edges, and a node's own share in each
SHARPNESS = 4  # exponent of the cosine: how near a label must be to speak for a node
UNSURE = 0.5  # certainty below which an answer is more likely wrong than right
SAMPLE = 5000  # nodes that the doubt is summed over at most
_STRANGERS = 0.01  # nodes less similar than that are not spoken for, even by the nearest label
_BLOCK = 1024


@dataclass(frozen=True)
class Suggestion:
    """A node to label, and why."""

    position: int
    node_id: Any
    prediction: Any  # what it is taken for now
    confidence: float  # trust in that, or its probability where the method knows no trust
    stands_for: int  # nodes whose nearest label it would be, itself included
    reason: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def label_next(
    graph: NodeGraph,
    prediction: Prediction,
    labelled: np.ndarray,
    count: int = 10,
    candidates: np.ndarray | None = None,
) -> list[Suggestion]:
    """The nodes whose labels would help most, the most helpful first.

    labelled : positions of the nodes whose labels trained the prediction.
    candidates : positions to choose from; omitted: all others.
    """
    pool = np.setdiff1d(np.arange(graph.n) if candidates is None else candidates, labelled)
    if len(pool) == 0:
        raise DccgcnError("There is no node without a label to choose.", "Give nodes without labels as well.")
    if not 1 <= count <= len(pool):
        raise DccgcnError(f"{count} nodes cannot be chosen among {len(pool)}.", f"Ask for 1 to {len(pool)}.")
    place = graph.cached("label-next", lambda: places(graph))
    asked = _sample(graph.n)
    covered = nearest(place[asked], place[labelled])[1]
    labels = np.bincount(graph.labels[labelled], minlength=graph.c).astype(np.float64)
    chosen = _choose(place[asked], doubt(prediction)[asked], covered, place, pool, prediction.y_pred, labels, count)
    whose, alike = nearest(place, place[np.concatenate([labelled, chosen])])
    whose[alike < _STRANGERS] = -1
    whose[chosen] = len(labelled) + np.arange(count)  # even a node that is like nobody stands for itself
    near = [np.flatnonzero(whose == len(labelled) + i) for i in range(count)]
    return [_suggestion(graph, prediction, labelled, u, nodes) for u, nodes in zip(chosen, near, strict=True)]


def doubt(prediction: Prediction) -> np.ndarray:
    """(n,) 1 - certainty, halfway to one where the channels disagree."""
    w = 1 - prediction.confidence
    return w if prediction.channels_agree is None else np.where(prediction.channels_agree, w, (1 + w) / 2)


def places(graph: NodeGraph) -> np.ndarray:
    """(n, WIDTH) unit rows: the features' main directions, smoothed along the edges."""
    x = normalize(graph.features if graph.described.any() else _unlike(graph.n))
    if min(x.shape) > WIDTH:
        x = TruncatedSVD(WIDTH, random_state=0).fit_transform(x)
    x = np.asarray(x.toarray() if sp.issparse(x) else x, dtype=np.float32)
    step, h = topology_operator(graph, "symmetric").matrix, x
    for _ in range(STEPS):
        h = (1 - OWN) * (step @ h) + OWN * x
    return np.asarray(normalize(h))


def _unlike(n: int) -> np.ndarray:
    """Features where there are none: which node it is, in random directions, of which any two are nearly orthogonal."""
    return np.random.default_rng(0).standard_normal((n, WIDTH), dtype=np.float32)


def similarity(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(rows of one, rows of other): the cosine to the power of SHARPNESS, 0 where it is negative."""
    return np.maximum(one @ other.T, 0) ** SHARPNESS


def nearest(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each row of one, the most similar row of the other and how similar it is; a block of rows at a time."""
    which, how = np.empty(len(one), dtype=np.int64), np.empty(len(one), dtype=one.dtype)
    for start in range(0, len(one), _BLOCK):
        rows = slice(start, start + _BLOCK)
        found = similarity(one[rows], other)
        which[rows] = found.argmax(axis=1)
        how[rows] = found.max(axis=1)
    return which, how


def _choose(
    asked: np.ndarray,
    w: np.ndarray,
    covered: np.ndarray,
    place: np.ndarray,
    pool: np.ndarray,
    answer: np.ndarray,
    labels: np.ndarray,
    count: int,
) -> np.ndarray:
    """Greedy. Gains only shrink, so old ones are bounds, and few have to be computed again for each choice."""

    def gains(nodes: np.ndarray) -> np.ndarray:
        more = np.maximum(similarity(asked, place[nodes]) - covered[:, None], 0)
        return (w @ more) / np.sqrt(1 + labels[answer[nodes]])

    bound = np.concatenate([gains(pool[i : i + _BLOCK]) for i in range(0, len(pool), _BLOCK)])
    chosen = []
    for _ in range(count):
        fresh = np.zeros(len(pool), dtype=bool)
        while not fresh[best := int(bound.argmax())]:
            stale = np.flatnonzero(~fresh & (bound > -np.inf))
            top = stale[np.argsort(-bound[stale], kind="stable")[:_BLOCK]]
            bound[top], fresh[top] = gains(pool[top]), True
        chosen.append(pool[best])
        bound[best] = -np.inf
        covered = np.maximum(covered, similarity(asked, place[[pool[best]]])[:, 0])
        labels[answer[pool[best]]] += 1
    return np.array(chosen)


def _sample(n: int) -> np.ndarray:
    return np.arange(n) if n <= SAMPLE else np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))


def _suggestion(graph: NodeGraph, prediction: Prediction, labelled: np.ndarray, u: int, near: np.ndarray) -> Suggestion:
    sure, taken_for = prediction.confidence, int(prediction.y_pred[u])
    reasons = [f"stands for {len(near):,} nodes" if len(near) > 1 else "stands for itself"]
    if doubtful := int((sure[near] < UNSURE).sum()):
        reasons[0] += f", {doubtful:,} of them uncertain"
    if prediction.channels_agree is not None and not prediction.channels_agree[u]:
        said = (f"{name} says {graph.classes[p[u].argmax()]}" for name, p in prediction.channels.items())
        reasons.append(f"channels disagree: {', '.join(said)}")
    elif sure[u] < UNSURE:
        reasons.append("uncertain itself")
    known = np.bincount(graph.labels[labelled], minlength=graph.c)
    if known[taken_for] == known.min() < known.max():
        reasons.append(f"few labels of {graph.classes[taken_for]} so far")
    return Suggestion(
        int(u),
        graph.ids[u : u + 1].tolist()[0],
        graph.classes[taken_for],
        float(sure[u]),
        len(near),
        "; ".join(reasons),
    )
