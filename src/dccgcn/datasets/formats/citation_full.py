"""CoraFull: graph2gauss's `cora.npz`, and its edges and labels alone."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from dccgcn.datasets.formats.npz import csr_matrix, opened
from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split


def read(path: Path, title: str | None = None) -> NodeGraph:
    """The graph of a file with `adj_*`, `attr_*` and `labels`.

    The file's other arrays (node and word names) are Python objects, which would have to be
    unpickled; they are left alone, so classes are numbers.
    """
    with opened(path) as file:
        labels = file["labels"]
        return NodeGraph(
            _matrix(file, "attr"),
            np.column_stack(_matrix(file, "adj").nonzero()),
            labels,
            classes=range(int(labels.max()) + 1),
            name=title or path.stem,
        )


def read_partial(path: Path, title: str | None = None) -> tuple[NodeGraph, list[Split]]:
    """CoraFull's edges and labels, a constant in place of the missing features, and AM-GCN's split.

    Of AM-GCN's three splits only that with 20 labels per class is given: in the other two, 3 and 12
    nodes are both trained on and tested.
    """
    with opened(path) as file:
        labels = file["labels"]
        graph = NodeGraph(
            np.ones((len(labels), 1)),
            file["edges"].T,
            labels,
            classes=range(int(labels.max()) + 1),
            featureless=True,
            name=title or path.stem,
        )
        return graph, [Split.from_parts(graph, "am-gcn-20", file["train20"], np.unique(file["val20"]), file["test20"])]


def _matrix(file: "np.lib.npyio.NpzFile", prefix: str) -> sp.csr_array:
    return csr_matrix(*(file[f"{prefix}_{part}"] for part in ("data", "indices", "indptr", "shape")))
