"""Several kinds of edges between the same nodes, each with or without direction."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import Finding, GraphError
from dccgcn.graph import validation
from dccgcn.text import first_few

EDGE_FINDINGS = ("self-loops", "duplicate-edges", "directed-edges", "no-edges", "isolated-nodes")  # of a graph's edges
_NAME = re.compile(r"[\w -]{1,60}")


def check_relation_names(names: Iterable[Any]) -> None:
    """Raise a GraphError for names that could not be part of a channel's name."""
    if wrong := [name for name in names if not (isinstance(name, str) and _NAME.fullmatch(name))]:
        raise GraphError(
            f"Relations cannot be called {first_few(wrong)}.",
            "Use letters, digits, spaces, - and _ in names, at most 60.",
        )


def relation_matrices(
    relations: Mapping[str, Any], node_ids: np.ndarray, directed: bool, findings: list[Finding]
) -> dict[str, sp.csr_array]:
    """A weighted adjacency matrix of each relation without self-loops, (n, n) float32; symmetric unless directed."""
    if not relations:
        raise GraphError("There is no relation.", "Give at least one, as a name and its edges.")
    check_relation_names(relations)
    return {name: _matrix(name, edges, node_ids, directed, findings) for name, edges in relations.items()}


def _matrix(name: str, edges: Any, node_ids: np.ndarray, directed: bool, findings: list[Finding]) -> sp.csr_array:
    n, found = len(node_ids), list[Finding]()
    try:
        pairs, weights = validation.edges(edges, None, node_ids, found)  # checked, in one direction each
    except GraphError as error:
        raise GraphError(f"Relation {name}: {error.what}", error.remedy) from None
    told = ("self-loops", "duplicate-edges") if directed else ("self-loops", "duplicate-edges", "directed-edges")
    findings += [replace(f, text=f"{name}: {f.text}") for f in found if f.code in told]
    if directed:
        if sp.issparse(edges):
            coo = sp.coo_array(edges)
            pairs, weights = np.stack([coo.row, coo.col], axis=1), np.asarray(coo.data, dtype=np.float32)
        else:
            pairs = validation.pairs_of(edges)
            weights = np.ones(len(pairs), np.float32)
        kept = (pairs[:, 0] != pairs[:, 1]) & (weights != 0)
        pairs, weights = pairs[kept], weights[kept]
    else:
        pairs, weights = np.concatenate([pairs, pairs[:, ::-1]]), np.concatenate([weights, weights])
    key, inverse = np.unique(pairs[:, 0] * np.int64(n) + pairs[:, 1], return_inverse=True)
    largest = np.zeros(len(key), np.float32)
    np.maximum.at(largest, inverse, weights)  # of duplicates
    return sp.csr_array((largest, (key // n, key % n)), shape=(n, n))


def union(matrices: Iterable[sp.csr_array], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges of all relations without direction: (E, 2) with u < v, and the largest weight of each, (E,)."""
    total = sp.csr_array((n, n), dtype=np.float32)
    for matrix in matrices:
        total = sp.csr_array(total.maximum(matrix).maximum(matrix.T))
    upper = sp.coo_array(sp.triu(total, 1))
    order = np.lexsort((upper.col, upper.row))
    edges = np.stack([upper.row, upper.col], axis=1).astype(np.int64)[order]
    return edges, upper.data.astype(np.float32)[order]
