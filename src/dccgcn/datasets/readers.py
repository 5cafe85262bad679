"""The files of the benchmark graphs, in the formats of those who published them.

``catalogue.fetch`` has checked the SHA-256 of every file before it is read, so that what is in it is known.
"""

import pickle
import zipfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DataFileError
from dccgcn.graph import NodeGraph, Split, pairs_of

CORA_CLASSES = (  # in the order of Planetoid's label columns
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")  # of a Planetoid dataset
VALIDATION_NODES = 500  # Planetoid's public split validates on the 500 nodes after the training nodes
LABELS_PER_CLASS = (20, 40, 60)  # AM-GCN's three published splits


def read_cora() -> tuple[NodeGraph, Split]:
    """Planetoid's Cora and its public split, with the ids of the papers; its origin is documented in ORIGIN.md."""
    with np.load(Path(__file__).with_name("cora.npz"), allow_pickle=False) as file:
        ids, classes = file["ids"], file["classes"].tolist()
        words = sp.csr_array(np.unpackbits(file["words"], axis=1, count=len(ids)).T, dtype=np.float32)
        graph = NodeGraph.from_codes(words, file["edges"], file["labels"], classes, ids=ids, name="cora")
    return graph, Split.from_parts(graph, "public", np.arange(140), np.arange(140, 640), np.arange(1708, 2708))


def read_graph(path: Path, title: str) -> NodeGraph:
    """A whole graph, undirected; classes are the sorted labels.

    Arrays: `edges` (m, 2), each from its source to its target where edges have a direction; `labels` (n,), numbers or
    names, -1 for unlabelled; features dense as `x` (n, d) or as the CSR parts `xd`, `xi`, `xp` and shape `xs`;
    `featureless` (), true if all nodes have the same features.
    """
    with np.load(path, allow_pickle=False) as file:
        features = file["x"] if "x" in file else _csr(*(file[part] for part in ("xd", "xi", "xp", "xs")))
        return NodeGraph(features, file["edges"], file["labels"], featureless=bool(file["featureless"]), name=title)


def read_directed_edges(path: Path) -> np.ndarray:
    """Source and target of every edge of a whole graph, (m, 2) int64, sorted and unique, without self-loops."""
    with np.load(path, allow_pickle=False) as file:
        pairs = pairs_of(file["edges"])
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def read_citation_full(path: Path, title: str) -> NodeGraph:
    """CoraFull from graph2gauss's `cora.npz`, with `adj_*`, `attr_*` and `labels`.

    The file's other arrays (node and word names) are Python objects, which would have to be unpickled; they are left
    alone, so classes are numbers.
    """
    with np.load(path, allow_pickle=False) as file:
        attributes, adjacency = (
            _csr(*(file[f"{prefix}_{part}"] for part in ("data", "indices", "indptr", "shape")))
            for prefix in ("attr", "adj")
        )
        return _numbered(attributes, np.column_stack(adjacency.nonzero()), file["labels"], title)


def read_citation_partial(path: Path, title: str) -> tuple[NodeGraph, list[Split]]:
    """CoraFull's edges and labels, a constant in place of the missing features, and AM-GCN's split.

    Of AM-GCN's three splits only that with 20 labels per class is read: in the other two, 3 and 12 nodes are both
    trained on and tested.
    """
    with np.load(path, allow_pickle=False) as file:
        labels = file["labels"]
        graph = _numbered(np.ones((len(labels), 1)), file["edges"].T, labels, title, featureless=True)
        return graph, [Split.from_parts(graph, "am-gcn-20", file["train20"], np.unique(file["val20"]), file["test20"])]


def read_am_gcn(path: Path, title: str) -> tuple[NodeGraph, list[Split]]:
    """The graph of AM-GCN's zip archive of text files, and its splits "am-gcn-20", -40 and -60."""
    with zipfile.ZipFile(path) as archive:
        # ACM's edges are in acm_PAP.edge (papers that share an author), the others' in NAME.edge
        member = {ending: name for name in archive.namelist() if (ending := name.rpartition("/")[2].rpartition(".")[2])}

        def integers(name: str, columns: int = 1) -> np.ndarray:
            return np.array(archive.read(name).split()).astype(np.int64).reshape(-1, columns)

        with archive.open(member["feature"]) as lines:  # digits 0 and 1, a blank or tab between two
            rows = [sp.csr_array(np.frombuffer(line.rstrip(), np.uint8)[None, ::2] == ord("1")) for line in lines]
        labels = integers(member["label"])[:, 0]
        graph = _numbered(sp.vstack(rows), integers(member["edge"], columns=2), labels, title)
        folder = member["label"].rpartition("/")[0]
        splits = []
        for k in LABELS_PER_CLASS:
            train, test = (integers(f"{folder}/{part}{k}.txt") for part in ("train", "test"))
            splits.append(Split.from_parts(graph, f"am-gcn-{k}", train, [], test))
    return graph, splits


def read_planetoid(
    folder: Path, name: str, title: str, classes: Sequence[Any] | None = None
) -> tuple[NodeGraph, Split]:
    """The graph and the public split of the eight files `ind.NAME.*` in a folder.

    classes: names of the one-hot label columns; omitted: their numbers. Nodes in the range of the test
    nodes that no file describes (Citeseer has 15) have zero features and no label.
    """
    loaded = {part: unpickle(folder / f"ind.{name}.{part}") for part in PARTS if part != "test.index"}
    test = np.loadtxt(folder / f"ind.{name}.test.index", dtype=np.int64)
    positions = np.concatenate([np.arange(len(loaded["ally"])), test])  # node of each row of allx and tx
    stacked = sp.coo_array(sp.vstack([loaded["allx"], loaded["tx"]]))
    shape = len(loaded["graph"]), stacked.shape[1]
    features = sp.csr_array((stacked.data, (positions[stacked.row], stacked.col)), shape=shape)
    labels = np.full(shape[0], -1)
    labels[positions] = np.concatenate([loaded["ally"], loaded["ty"]]).argmax(axis=1)
    edges = [(u, v) for u, neighbours in loaded["graph"].items() for v in neighbours]
    names = list(classes or range(loaded["ally"].shape[1]))
    graph = NodeGraph.from_codes(features, np.array(edges), labels, names, name=title)
    trained = len(loaded["y"])
    validated = np.arange(trained, trained + VALIDATION_NODES)
    return graph, Split.from_parts(graph, "public", np.arange(trained), validated, test)


def unpickle(path: Path) -> Any:
    """The content of a pickle that holds NumPy arrays, a SciPy matrix or lists; any other name is refused."""
    with open(path, "rb") as file:
        return _Unpickler(file, encoding="latin1").load()


def _dtype(name: str, align: int = 0, copy: int = 0) -> np.dtype:
    return np.dtype(name, align=bool(align), copy=bool(copy))  # old pickles give 0 and 1, which NumPy deprecates


# Each of the six globals under the module names that old and new versions of NumPy and SciPy gave it.
_reconstruct = np.empty(0).__reduce__()[0]
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): _dtype,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
    ("scipy.sparse._csr", "csr_matrix"): sp.csr_matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise DataFileError(
                f"A data file asks for {module}.{name}, which no Planetoid file needs; it was not executed.",
                "Do not trust this file: delete it and download it from its public address.",
            ) from None


def _csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: np.ndarray) -> sp.csr_array:
    return sp.csr_array((data, indices, indptr), shape=tuple(shape))


def _numbered(features: Any, edges: np.ndarray, labels: np.ndarray, name: str, featureless: bool = False) -> NodeGraph:
    """The graph whose classes are the numbers from 0 to the largest label."""
    classes = range(int(labels.max()) + 1)
    return NodeGraph(features, edges, labels, classes=classes, featureless=featureless, name=name)
