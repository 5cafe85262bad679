"""Label propagation, Poisson learning and feature filters as they are printed: dense matrices and plain loops."""

import numpy as np

from helpers import literal


def components(a):
    """Sets of nodes that can reach each other."""
    found, left = [], set(range(len(a)))
    while left:
        u = min(left)
        one = literal.within_hops(a > 0, u, len(a)) | {u}
        found.append(sorted(one))
        left -= one
    return found


def clamped(a, train, y, steps=20_000):
    """F ← D^-1 A F, labelled rows reset after each step. Rows of nodes without an edge stay as they are."""
    degree = a.sum(axis=1, keepdims=True)
    walk = a / np.where(degree > 0, degree, 1)
    f = np.zeros((len(a), y.shape[1]))
    f[train] = y
    for _ in range(steps):
        f = walk @ f
        f[train] = y
    return f


def class_mass(f, train, share):
    """Each class scaled so that its mass on the unlabelled nodes is in proportion to its share."""
    unlabelled = [u for u in range(len(f)) if u not in train]
    scaled = f.copy()
    for c in range(f.shape[1]):
        mass = sum(f[u, c] for u in unlabelled)
        if mass > 0:
            scaled[:, c] = f[:, c] * share[c] / mass
    return scaled


def shares(f):
    return np.array([row / row.sum() if row.sum() > 0 else np.full(len(row), 1 / len(row)) for row in f])


def absorption(a, train, labels, c, alpha):
    """The class scores of each node: for each class the largest entry of P among its labelled nodes."""
    p = np.linalg.inv(np.diag(a.sum(axis=1)) - a + alpha * np.eye(len(a)))
    scores = np.full((len(a), c), -np.inf)
    for u in range(len(a)):
        for v, label in zip(train, labels, strict=True):
            scores[u, label] = max(scores[u, label], p[u, v])
    return p, scores


def series(s, y, a, terms):
    total = np.zeros_like(y)
    for k in range(terms):
        total += np.linalg.matrix_power(s / (1 + a), k) @ y
    return a / (a + 1) * total


def poisson(a, train, labels, c):
    """u of each component by itself, by the pseudo-inverse of its Laplacian."""
    u = np.zeros((len(a), c))
    for nodes in components(a):
        inside = [(nodes.index(v), label) for v, label in zip(train, labels, strict=True) if v in nodes]
        if not inside:
            continue
        mean = sum(np.eye(c)[label] for _, label in inside) / len(inside)
        sources = np.zeros((len(nodes), c))
        for v, label in inside:
            sources[v] += np.eye(c)[label] - mean
        own = a[np.ix_(nodes, nodes)]
        degree = own.sum(axis=1)
        potential = np.linalg.pinv(np.diag(degree) - own) @ sources
        if degree.sum() > 0:
            potential -= degree @ potential / degree.sum()
        u[nodes] = potential
    return u


def ranked(scores, a, train, labels):
    """Softmax of the scores over their spread in the component, among the classes with a label there."""
    n, c = scores.shape
    out = np.full((n, c), 1 / c)
    for nodes in components(a):
        classes = sorted({label for v, label in zip(train, labels, strict=True) if v in nodes})
        if not classes:
            continue
        part = scores[np.ix_(nodes, classes)]
        part = part - part.mean(axis=1, keepdims=True)
        spread = np.sqrt((part**2).mean())
        out[nodes] = 0
        for row, node in enumerate(nodes):
            out[node, classes] = literal.softmax(part[row] / spread if spread > 1e-12 else np.zeros(len(classes)))
    return out


def filtered_features(s, x, kind, k=0, alpha=0.0):
    """p(S) X for SGC ("power"), SSGC ("mean") and GLP's AR filter ("ar")."""
    powers = [np.linalg.matrix_power(s, i) @ x for i in range(k + 1)]
    if kind == "power":
        return powers[k]
    if kind == "mean":
        return alpha * x + (1 - alpha) / k * sum(powers[1:])
    return series(s, x, 1 / alpha, int(np.ceil(4 * alpha)))
