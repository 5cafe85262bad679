"""Synthetic graphs of any size: assortative classes, skewed degrees, and words that depend on the class.

A degree-corrected block model (Karrer & Newman 2011) with bags of words. Time and memory are linear in the number of
edges and words; a million nodes take seconds.
"""

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import GraphError
from dccgcn.graph import NodeGraph

_DEGREE_EXPONENT = 2.5  # the share of nodes above a degree falls as degree^-1.5, as in citation graphs
_MAX_DEGREE_SHARE = 0.001  # share of all edge ends that one node may have, which bounds the hubs
_FIRST_RANK = 10  # rank of the first word: the most frequent words are left out, like stop words
_NODES_PER_SUBJECT = 100  # nodes that share one subject
_SUBJECT_WORD_PROBABILITY = 0.7  # that a node has a given word of its subject
_MOST_DRAWN = 1 << 24  # edges at a time
_MAX_ROUNDS = 20  # rounds of drawing edges before the graph counts as too dense


def synthetic_graph(
    n: int,
    edges: int | None = None,
    features: int = 500,
    classes: int = 10,
    seed: int = 0,
    *,
    homophily: float = 0.5,
    words: float = 15.0,
    class_words: float = 0.5,
) -> NodeGraph:
    """A graph with exactly that many nodes, undirected edges (omitted: ten for each node), features and classes.

    homophily : share of the edges that connect two nodes of the same class.
    words : words drawn for each node, on average; one drawn twice counts once.
    class_words : share of the words that come from the node's subject, and so depend on its class.
    """
    edges = 10 * n if edges is None else edges
    _check_counts(n, edges, features, classes)
    _check_shares(homophily=homophily, class_words=class_words)
    if words < 1:
        raise GraphError(f"words is {words:g}.", "Every node has at least one.")
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % classes)
    return NodeGraph(
        _bags(labels, features, classes, words, class_words, rng),
        _pairs(labels, edges, classes, homophily, rng),
        labels,
        name=f"synthetic-{n}",
    )


def _pairs(labels: np.ndarray, edges: int, classes: int, homophily: float, rng: np.random.Generator) -> np.ndarray:
    """Unique pairs u < v: u drawn by degree, v by degree within the class that homophily selects, (edges, 2)."""
    n = len(labels)
    by_class = np.argsort(labels, kind="stable")  # nodes grouped by class
    starts = np.searchsorted(labels[by_class], np.arange(classes + 1))
    expected = rng.pareto(_DEGREE_EXPONENT - 1, n) + 1
    expected = np.minimum(expected, max(_MAX_DEGREE_SHARE * expected.sum(), 2 * expected.mean()))
    reach = np.concatenate([[0.0], np.cumsum(expected[by_class])])  # cumulative expected degree

    def ends(of_class: np.ndarray) -> np.ndarray:
        low, high = reach[starts[of_class]], reach[starts[of_class + 1]]
        drawn = low + rng.random(len(of_class)) * (high - low)
        order = np.argsort(drawn)  # a sorted search is cache-friendly
        at = np.empty(len(drawn), np.int64)
        at[order] = np.searchsorted(reach, drawn[order], side="right") - 1
        return by_class[np.clip(at, starts[of_class], starts[of_class + 1] - 1)]

    size = np.diff(reach[starts]) / reach[-1]
    codes = np.empty(0, np.int64)  # u n + v of each edge
    for _ in range(_MAX_ROUNDS + edges // _MOST_DRAWN):
        if (missing := edges - len(codes)) <= 0:
            break
        first = rng.choice(classes, min(missing + missing // 8, _MOST_DRAWN) + 16, p=size)
        second = np.where(rng.random(len(first)) < homophily, first, _another(first, classes, rng))
        u, v = ends(first), ends(second)
        keys = np.sort((np.minimum(u, v) * n + np.maximum(u, v))[u != v])
        codes = np.sort(np.concatenate([codes, keys]), kind="stable")  # merges both
        codes = codes[np.diff(codes, prepend=-1) > 0]
    if len(codes) < edges:
        raise GraphError(
            f"{edges} edges do not fit among {n} nodes at a homophily of {homophily:g}.",
            "Ask for fewer edges, or for more nodes.",
        )
    codes = np.delete(codes, rng.choice(len(codes), len(codes) - edges, replace=False))
    return np.stack([codes // n, codes % n], axis=1)


def _another(of: np.ndarray, classes: int, rng: np.random.Generator) -> np.ndarray:
    """Another class, drawn at random; the same one if there is only one."""
    return (of + rng.integers(1, classes, len(of))) % classes if classes > 1 else of


def _bags(
    labels: np.ndarray, features: int, classes: int, words: float, class_words: float, rng: np.random.Generator
) -> sp.csr_array:
    """Which words each node has, (n, features) of zeros and ones.

    Word frequencies follow Zipf's law, with separate ranks for each class. A node has a subject of its class: some of
    its words come from the subject, the others from all classes together.
    """
    n = len(labels)
    law = np.cumsum(1 / (np.arange(features) + _FIRST_RANK))
    law /= law[-1]
    ranked = np.stack([rng.permutation(features) for _ in range(classes + 1)])  # the last: of all classes together

    def draw(of_class: np.ndarray) -> np.ndarray:
        return ranked[of_class, np.searchsorted(law, rng.random(len(of_class)))].astype(np.int32)

    subjects = -(-n // (_NODES_PER_SUBJECT * classes))  # of each class
    width = round(words * class_words / _SUBJECT_WORD_PROBABILITY)
    core = draw(np.repeat(np.arange(classes), subjects * width)).reshape(classes, subjects, width)
    subject_words = core[labels, rng.integers(0, subjects, n)]  # (n, width)
    has = rng.random(subject_words.shape) < _SUBJECT_WORD_PROBABILITY
    lengths = rng.poisson(words * (1 - class_words), n)
    lengths[(lengths == 0) & ~has.any(axis=1)] = 1  # every node has a word
    rows = np.concatenate([np.nonzero(has)[0], np.repeat(np.arange(n), lengths)])
    word = np.concatenate([subject_words[has], draw(np.full(lengths.sum(), classes))])
    bags = sp.csr_array((np.ones(len(rows), np.float32), (rows.astype(np.int32), word)), shape=(n, features))
    bags.sum_duplicates()
    bags.data[:] = 1
    return bags


def _check_counts(n: int, edges: int, features: int, classes: int) -> None:
    counts = {"nodes": (n, 2), "edges": (edges, 0), "features": (features, 1), "classes": (classes, 1)}
    for name, (count, least) in counts.items():
        if count < least:
            raise GraphError(f"A graph with {count} {name} cannot be made.", f"Ask for at least {least}.")
    if classes > n:
        raise GraphError(f"{n} nodes cannot be of {classes} classes.", "Ask for fewer classes, or for more nodes.")


def _check_shares(**shares: float) -> None:
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise GraphError(f"{name} is {share:g}.", "It is a share: from 0 to 1.")
