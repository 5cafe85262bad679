"""Made-up graphs of any size: classes whose nodes prefer one another, a few hubs, and words that tell the class.

A degree-corrected block model (Karrer & Newman 2011) with bags of words. Time and memory grow with the edges and
words, so that a million nodes take seconds.
"""

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import GraphError
from dccgcn.graph import NodeGraph

_TAIL = 2.5  # exponent of the degrees: shares beyond a degree fall as degree^-1.5, as in citation graphs
_LARGEST = 0.001  # share of all edge ends that one node may have, so that no node is joined to everything
_COMMONEST = 10  # rank at which the words begin: the very commonest are left out, as they are of most vocabularies
_SUBJECT = 100  # nodes that write about one subject
_SHARED = 0.7  # chance that a node has a word of its subject
_DRAWS = 20  # rounds of drawing edges before a graph is said to be too dense


def synthetic_graph(
    n: int,
    edges: int | None = None,
    features: int = 500,
    classes: int = 10,
    seed: int = 0,
    *,
    homophily: float = 0.5,
    words: float = 15.0,
    telling: float = 0.5,
) -> NodeGraph:
    """A graph with exactly that many nodes, undirected edges (omitted: ten for each node), features and classes.

    homophily : share of the edges that join two nodes of one class.
    words : words drawn for each node, on average; one drawn twice counts once.
    telling : share of the words that come from the node's subject, and so from its class.
    """
    edges = 10 * n if edges is None else edges
    _check(n, edges, features, classes, homophily, words, telling)
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % classes)
    return NodeGraph(
        _bags(labels, features, classes, words, telling, rng),
        _pairs(labels, edges, classes, homophily, rng),
        labels,
        name=f"synthetic-{n}",
    )


def _pairs(labels: np.ndarray, edges: int, classes: int, homophily: float, rng: np.random.Generator) -> np.ndarray:
    """Unique pairs u < v: u by its degree, v by its own within the class that homophily draws, (edges, 2)."""
    n = len(labels)
    by_class = np.argsort(labels, kind="stable")  # the nodes of a class stand together
    starts = np.searchsorted(labels[by_class], np.arange(classes + 1))
    wanted = rng.pareto(_TAIL - 1, n) + 1
    wanted = np.minimum(wanted, max(_LARGEST * wanted.sum(), 2 * wanted.mean()))
    reach = np.concatenate([[0.0], np.cumsum(wanted[by_class])])  # where the ends of each node end

    def ends(of_class: np.ndarray) -> np.ndarray:
        low, high = reach[starts[of_class]], reach[starts[of_class + 1]]
        drawn = low + rng.random(len(of_class)) * (high - low)
        order = np.argsort(drawn)  # a search in order finds what it needs in the cache
        at = np.empty(len(drawn), np.int64)
        at[order] = np.searchsorted(reach, drawn[order], side="right") - 1
        return by_class[np.clip(at, starts[of_class], starts[of_class + 1] - 1)]

    size = np.diff(reach[starts]) / reach[-1]
    found = np.empty(0, np.int64)  # u n + v
    for _ in range(_DRAWS):
        if (missing := edges - len(found)) <= 0:
            break
        first = rng.choice(classes, missing + missing // 8 + 16, p=size)
        second = np.where(rng.random(len(first)) < homophily, first, _another(first, classes, rng))
        u, v = ends(first), ends(second)
        keys = (np.minimum(u, v) * n + np.maximum(u, v))[u != v]
        found = np.sort(np.concatenate([found, keys]))
        found = found[np.diff(found, prepend=-1) > 0]
    if len(found) < edges:
        raise GraphError(
            f"{edges} edges do not fit among {n} nodes at a homophily of {homophily:g}.",
            "Ask for fewer edges, or for more nodes.",
        )
    found = np.delete(found, rng.choice(len(found), len(found) - edges, replace=False))
    return np.stack([found // n, found % n], axis=1)


def _another(of: np.ndarray, classes: int, rng: np.random.Generator) -> np.ndarray:
    """Any class but this one; this one where there is no other."""
    return (of + rng.integers(1, classes, len(of))) % classes if classes > 1 else of


def _bags(
    labels: np.ndarray, features: int, classes: int, words: float, telling: float, rng: np.random.Generator
) -> sp.csr_array:
    """Which words each node has, (n, features) of zeros and ones.

    Frequencies follow Zipf's law, with ranks of their own in each class. A node writes about a subject of its class: a
    few of its words are those of the subject, the others anybody's.
    """
    n = len(labels)
    law = np.cumsum(1 / (np.arange(features) + _COMMONEST))
    law /= law[-1]
    ranked = np.stack([rng.permutation(features) for _ in range(classes + 1)])  # the last: of all classes together

    def draw(of_class: np.ndarray) -> np.ndarray:
        return ranked[of_class, np.searchsorted(law, rng.random(len(of_class)))].astype(np.int32)

    subjects = -(-n // (_SUBJECT * classes))  # of each class
    width = round(words * telling / _SHARED)
    core = draw(np.repeat(np.arange(classes), subjects * width)).reshape(classes, subjects, width)
    own = core[labels, rng.integers(0, subjects, n)]  # (n, width)
    has = rng.random(own.shape) < _SHARED
    lengths = rng.poisson(words * (1 - telling), n)
    lengths[(lengths == 0) & ~has.any(axis=1)] = 1  # nobody without a word
    rows = np.concatenate([np.nonzero(has)[0], np.repeat(np.arange(n), lengths)])
    word = np.concatenate([own[has], draw(np.full(lengths.sum(), classes))])
    bags = sp.csr_array((np.ones(len(rows), np.float32), (rows, word)), shape=(n, features))
    bags.sum_duplicates()
    bags.data[:] = 1
    return bags


def _check(n: int, edges: int, features: int, classes: int, homophily: float, words: float, telling: float) -> None:
    for what, value, least in (
        ("nodes", n, 2),
        ("edges", edges, 0),
        ("features", features, 1),
        ("classes", classes, 1),
    ):
        if value < least:
            raise GraphError(f"A graph with {value} {what} cannot be made.", f"Ask for at least {least}.")
    if classes > n:
        raise GraphError(f"{n} nodes cannot be of {classes} classes.", "Ask for fewer classes, or for more nodes.")
    for what, share in (("homophily", homophily), ("telling", telling)):
        if not 0 <= share <= 1:
            raise GraphError(f"{what} is {share:g}.", "It is a share: from 0 to 1.")
    if words < 1:
        raise GraphError(f"words is {words:g}.", "Every node has at least one.")
