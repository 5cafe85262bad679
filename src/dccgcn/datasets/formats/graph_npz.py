"""A whole graph in one npz file without pickles, the form of the graphs in `other_kinds`.

Arrays: `edges` (m, 2), each from its source to its target where edges have a direction; `labels` (n,), numbers or
names, -1 for unlabelled; features dense as `x` (n, d) or as the CSR parts `xd`, `xi`, `xp` and shape `xs`;
`featureless` (), true if all nodes have the same features.
"""

from pathlib import Path
from typing import Any

import numpy as np

from dccgcn.datasets.formats.npz import csr_matrix, opened
from dccgcn.graph import NodeGraph
from dccgcn.graph.validation import pairs_of


def read(path: Path, title: str | None = None) -> NodeGraph:
    """The graph of a file, undirected; classes are the sorted labels."""
    with opened(path) as file:
        return NodeGraph(
            _features(file),
            file["edges"],
            file["labels"],
            featureless=bool(file["featureless"]),
            name=title or path.stem,
        )


def read_directed_edges(path: Path) -> np.ndarray:
    """Source and target of every edge, (m, 2) int64, sorted and unique, without self-loops."""
    with opened(path) as file:
        pairs = pairs_of(file["edges"])
        return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def _features(file: "np.lib.npyio.NpzFile") -> Any:
    return file["x"] if "x" in file else csr_matrix(file["xd"], file["xi"], file["xp"], file["xs"])
