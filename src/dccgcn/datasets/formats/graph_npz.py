"""A whole graph in one npz file without pickles, the form of the graphs in `other_kinds`.

Arrays: `edges` (m, 2), each from its source to its target where edges have a direction; `labels` (n,), numbers or
names, -1 for unlabelled; features dense as `x` (n, d) or as the CSR parts `xd`, `xi`, `xp` and shape `xs`;
`featureless` (), true if all nodes have the same features.
"""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DataFileError, GraphError
from dccgcn.graph import NodeGraph
from dccgcn.graph.validation import pairs_of

_FAULTS = (OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile, zlib.error, GraphError)


def read(path: Path, title: str | None = None) -> NodeGraph:
    """The graph of a file, undirected; classes are the sorted labels."""
    with _opened(path) as file:
        return NodeGraph(
            _features(file),
            file["edges"],
            file["labels"],
            featureless=bool(file["featureless"]),
            name=title or path.stem,
        )


def read_directed_edges(path: Path) -> np.ndarray:
    """Source and target of every edge, (m, 2) int64, sorted and unique, without self-loops."""
    with _opened(path) as file:
        pairs = pairs_of(file["edges"])
        return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def _features(file: "np.lib.npyio.NpzFile") -> Any:
    if "x" in file:
        return file["x"]
    matrix = sp.csr_array((file["xd"], file["xi"], file["xp"]), shape=tuple(file["xs"]))
    matrix.check_format(full_check=True)  # before any use: indices may point outside
    return matrix


@contextmanager
def _opened(path: Path) -> Iterator["np.lib.npyio.NpzFile"]:
    try:
        with np.load(path, allow_pickle=False) as file:
            yield file
    except _FAULTS as error:
        raise DataFileError(f"{path} is not of the expected form ({error}).", "Replace it by the right one.") from error
