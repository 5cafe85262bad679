"""A small graph in which words and edges are both informative."""

import numpy as np
import scipy.sparse as sp

from dccgcn import NodeGraph


def blocks(n: int = 120, c: int = 3, noise: float = 0.1, seed: int = 0) -> NodeGraph:
    """c groups with words and edges of their own, and some at random."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % c
    words = rng.random((n, 10 * c)) < np.where(np.arange(10 * c) % c == labels[:, None], 0.4, noise)
    words[:, 0] = True  # no row without a word
    u, v = rng.integers(0, n, (2, 6 * n))
    kept = (labels[u] == labels[v]) | (rng.random(6 * n) < noise)
    return NodeGraph(sp.csr_array(words.astype(np.float32)), np.column_stack([u, v])[kept & (u != v)], labels)


def many_words(n: int = 90) -> NodeGraph:
    """With more columns than are used as they are; node 5 is isolated."""
    graph = blocks(n)
    words = sp.csr_array((np.random.default_rng(3).random((n, 256)) < 0.05).astype(np.float32))
    edges = graph.edges[(graph.edges != 5).all(axis=1)]
    return NodeGraph(sp.hstack([graph.features, words], format="csr"), edges, graph.labels)
