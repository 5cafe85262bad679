"""Cora as it ships with the package; its origin is documented in `ORIGIN.md`."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from dccgcn.graph import NodeGraph
from dccgcn.graph.splits import Split


def read_cora() -> tuple[NodeGraph, Split]:
    """Planetoid's Cora and its public split, with the ids of the papers."""
    with np.load(Path(__file__).with_name("cora.npz"), allow_pickle=False) as file:
        ids, classes = file["ids"], file["classes"].tolist()
        graph = NodeGraph.from_codes(
            sp.csr_array(np.unpackbits(file["words"], axis=1, count=len(ids)).T, dtype=np.float32),
            file["edges"],
            file["labels"],
            classes,
            ids=ids,
            name="cora",
        )
    return graph, Split.from_parts(graph, "public", np.arange(140), np.arange(140, 640), np.arange(1708, 2708))
