"""Graphs in npz files without pickles, checked before use: CoraFull, the graphs converted for the package, and Cora."""

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DataFileError, GraphError, SplitError
from dccgcn.graph import NodeGraph, Split, pairs_of

_FAULTS = (OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile, zlib.error, GraphError, SplitError)


@contextmanager
def _opened(path: Path) -> Iterator["np.lib.npyio.NpzFile"]:
    """The arrays of a file; anything wrong with them becomes a DataFileError that names it."""
    try:
        with np.load(path, allow_pickle=False) as file:
            yield file
    except _FAULTS as error:
        remedy = "Download it again, or replace it by the right one."
        raise DataFileError(f"{path} is not of the expected form ({error}).", remedy) from error


def csr_matrix(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Iterable[int]) -> sp.csr_array:
    """The matrix of these parts."""
    matrix = sp.csr_array((data, indices, indptr), shape=tuple(shape))
    matrix.check_format(full_check=True)  # before any use: indices may point outside
    return matrix


def read_cora() -> tuple[NodeGraph, Split]:
    """Planetoid's Cora and its public split, with the ids of the papers; its origin is documented in ORIGIN.md."""
    with np.load(Path(__file__).with_name("cora.npz"), allow_pickle=False) as file:
        ids, classes = file["ids"], file["classes"].tolist()
        words = sp.csr_array(np.unpackbits(file["words"], axis=1, count=len(ids)).T, dtype=np.float32)
        graph = NodeGraph.from_codes(words, file["edges"], file["labels"], classes, ids=ids, name="cora")
    return graph, Split.from_parts(graph, "public", np.arange(140), np.arange(140, 640), np.arange(1708, 2708))


def read_graph(path: Path, title: str | None = None) -> NodeGraph:
    """A whole graph, undirected; classes are the sorted labels.

    Arrays: `edges` (m, 2), each from its source to its target where edges have a direction; `labels` (n,), numbers or
    names, -1 for unlabelled; features dense as `x` (n, d) or as the CSR parts `xd`, `xi`, `xp` and shape `xs`;
    `featureless` (), true if all nodes have the same features.
    """
    with _opened(path) as file:
        features = file["x"] if "x" in file else csr_matrix(*(file[part] for part in ("xd", "xi", "xp", "xs")))
        return NodeGraph(
            features, file["edges"], file["labels"], featureless=bool(file["featureless"]), name=title or path.stem
        )


def read_directed_edges(path: Path) -> np.ndarray:
    """Source and target of every edge of a whole graph, (m, 2) int64, sorted and unique, without self-loops."""
    with _opened(path) as file:
        pairs = pairs_of(file["edges"])
        return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def read_citation_full(path: Path, title: str | None = None) -> NodeGraph:
    """CoraFull from graph2gauss's `cora.npz`, with `adj_*`, `attr_*` and `labels`.

    The file's other arrays (node and word names) are Python objects, which would have to be unpickled; they are left
    alone, so classes are numbers.
    """
    with _opened(path) as file:
        attributes, adjacency = (
            csr_matrix(*(file[f"{prefix}_{part}"] for part in ("data", "indices", "indptr", "shape")))
            for prefix in ("attr", "adj")
        )
        return _numbered(attributes, np.column_stack(adjacency.nonzero()), file["labels"], title or path.stem)


def read_citation_partial(path: Path, title: str | None = None) -> tuple[NodeGraph, list[Split]]:
    """CoraFull's edges and labels, a constant in place of the missing features, and AM-GCN's split.

    Of AM-GCN's three splits only that with 20 labels per class is read: in the other two, 3 and 12 nodes are both
    trained on and tested.
    """
    with _opened(path) as file:
        labels = file["labels"]
        graph = _numbered(np.ones((len(labels), 1)), file["edges"].T, labels, title or path.stem, featureless=True)
        return graph, [Split.from_parts(graph, "am-gcn-20", file["train20"], np.unique(file["val20"]), file["test20"])]


def _numbered(
    features: "np.ndarray | sp.csr_array", edges: np.ndarray, labels: np.ndarray, name: str, featureless: bool = False
) -> NodeGraph:
    """The graph whose classes are the numbers from 0 to the largest label."""
    classes = range(int(labels.max()) + 1)
    return NodeGraph(features, edges, labels, classes=classes, featureless=featureless, name=name)
