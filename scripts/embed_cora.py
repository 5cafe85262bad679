"""Turn the Cora files inside the wheel `graphdatascience` 2.2 into the package's own `cora.npz`.

    python scripts/embed_cora.py graphdatascience-2.2-py3-none-any.whl DATA_FOLDER/planetoid

Nodes have the order and class codes of Planetoid's files, so that the public split applies, and keep their own ids.
Nothing of Planetoid's files is copied; they only determine the order.
"""

import hashlib
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from dccgcn.datasets.readers import CORA_CLASSES, read_planetoid
from dccgcn.graph import NodeGraph
from dccgcn.runtime.files import write_atomically

OUTPUT = Path(__file__).parents[1] / "src" / "dccgcn" / "datasets" / "cora.npz"
# the class names behind the numbers in the wheel's `subject` column
SUBJECTS = (
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)


def main(wheel: Path, planetoid_folder: Path) -> None:
    source = read_wheel(wheel)
    target, split = read_planetoid(planetoid_folder, "cora", "cora", CORA_CLASSES)
    order = match(source, target)
    place = np.argsort(order)
    edges = np.sort(place[source.edges], axis=1)
    edges = edges[np.lexsort(edges.T[::-1])]
    features = sp.csr_array(source.features[order])

    # nothing is written unless both graphs are equal
    assert np.array_equal(edges, target.edges)
    assert np.array_equal(source.labels[order], target.labels)
    assert (features != target.features).nnz == 0
    assert np.array_equal(split.train, np.arange(140))
    assert np.array_equal(split.validation, np.arange(140, 640))
    assert np.array_equal(split.test, np.arange(1708, 2708))

    content = io.BytesIO()
    np.savez_compressed(
        content,
        ids=source.ids[order].astype(np.int32),
        labels=target.labels.astype(np.uint8),
        classes=np.array(CORA_CLASSES),
        edges=edges.astype(np.uint16),
        words=np.packbits(features.toarray().T.astype(bool), axis=1),  # a row per word compresses best
    )
    write_atomically(OUTPUT, content.getvalue())
    print(f"{OUTPUT}: {len(content.getvalue())} bytes")


def read_wheel(wheel: Path) -> NodeGraph:
    """The graph in the wheel's own order."""
    with zipfile.ZipFile(wheel) as archive:
        nodes, citations = (
            pd.read_parquet(io.BytesIO(archive.read(f"graphdatascience/resources/cora/cora_{part}.parquet.gzip")))
            for part in ("nodes", "rels")
        )
    position = pd.Series(np.arange(len(nodes)), index=nodes["nodeId"])
    edges = citations[["sourceNodeId", "targetNodeId"]].apply(lambda column: column.map(position)).to_numpy()
    return NodeGraph(
        sp.csr_array(np.stack(nodes["features"].to_list())),
        edges,
        [SUBJECTS[subject] for subject in nodes["subject"]],
        ids=nodes["nodeId"].to_numpy(),
        classes=CORA_CLASSES,
    )


def match(source: NodeGraph, target: NodeGraph) -> np.ndarray:
    """For each node of the target, the position of the same node in the source.

    Nodes are matched by their words and class, and by those of their neighbours in several rounds, as in the
    Weisfeiler-Leman test. Nodes that remain indistinguishable are interchangeable.
    """
    found, wanted = (np.array(signatures(graph, rounds=4)) for graph in (source, target))
    by_source, by_target = np.argsort(found, kind="stable"), np.argsort(wanted, kind="stable")
    if not np.array_equal(found[by_source], wanted[by_target]):
        raise SystemExit("The two graphs do not hold the same nodes.")
    order = np.empty(target.n, dtype=np.int64)
    order[by_target] = by_source
    return order


def signatures(graph: NodeGraph, rounds: int) -> list[str]:
    rows = np.split(graph.features.indices, graph.features.indptr[1:-1])
    neighbours = np.split(graph.adjacency.indices, graph.adjacency.indptr[1:-1])
    signed = [_hash(f"{row.tolist()} {label}") for row, label in zip(rows, graph.labels, strict=True)]
    for _ in range(rounds):
        around = ["".join(sorted(signed[v] for v in near)) for near in neighbours]
        signed = [_hash(own + near) for own, near in zip(signed, around, strict=True)]
    return signed


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
