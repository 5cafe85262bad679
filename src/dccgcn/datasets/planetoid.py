"""The eight files of a Planetoid dataset, unpickled with an allow-list of types."""

import pickle
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dccgcn.datasets.npz_files import csr_matrix
from dccgcn.errors import DataFileError, GraphError, SplitError
from dccgcn.graph import NodeGraph, Split

CORA_CLASSES = (  # in the order of Planetoid's label columns
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
VALIDATION_NODES = 500  # the public split validates on the 500 nodes after the training nodes


def read_planetoid(
    folder: Path, name: str, classes: Sequence[Any] | None = None, title: str | None = None
) -> tuple[NodeGraph, Split]:
    """The graph and the public split of the files `ind.NAME.*` in a folder.

    classes: names of the one-hot label columns; omitted: their numbers. Nodes in the range of the test
    nodes that no file describes (Citeseer has 15) have zero features and no label.
    """
    path = {part: folder / f"ind.{name}.{part}" for part in PARTS}
    loaded = {part: unpickle(path[part]) for part in PARTS if part != "test.index"}
    test = _test_positions(path["test.index"])
    try:
        positions = np.concatenate([np.arange(len(loaded["ally"])), test])  # node of each row of allx and tx
        stacked = sp.coo_array(sp.vstack([_features(loaded["allx"]), _features(loaded["tx"])]))
        n = len(loaded["graph"])
        rows = positions[stacked.row]
        features = sp.csr_array((stacked.data, (rows, stacked.col)), shape=(n, stacked.shape[1]))
        labels = np.full(n, -1)
        labels[positions] = np.concatenate([_classes(loaded["ally"]), _classes(loaded["ty"])])
        edges = [(u, v) for u, neighbours in loaded["graph"].items() for v in neighbours]
        names = classes if classes is not None else range(loaded["ally"].shape[1])
        graph = NodeGraph.from_codes(features, np.array(edges), labels, list(names), name=title or name)
        trained = len(loaded["y"])
        validated = np.arange(trained, trained + VALIDATION_NODES)
        return graph, Split.from_parts(graph, "public", np.arange(trained), validated, test)
    except (GraphError, SplitError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise DataFileError(f"The files {folder}/ind.{name}.* do not fit together ({error}).", _AGAIN) from error


def unpickle(path: Path) -> Any:
    """The content of a pickle that holds NumPy arrays, a SciPy matrix or lists; anything else is refused."""
    try:
        with open(path, "rb") as file:
            return _Unpickler(file, encoding="latin1").load()
    except DataFileError:
        raise
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise DataFileError(f"{path} cannot be read ({type(error).__name__}: {error}).", _AGAIN) from error


_AGAIN = "Delete it and download it again."


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


def _test_positions(path: Path) -> np.ndarray:
    try:
        lines = path.read_text(encoding="ascii").split()
        return np.array(lines, dtype=np.int64)
    except (OSError, ValueError) as error:
        raise DataFileError(f"{path} is not a list of node positions ({error}).", _AGAIN) from error


def _features(matrix: Any) -> sp.csr_array:
    # constructed again and checked: a pickle may hold indices that point outside the matrix
    return csr_matrix(matrix.data, matrix.indices, matrix.indptr, matrix.shape)


def _classes(one_hot: Any) -> np.ndarray:
    if one_hot.ndim != 2 or not ((one_hot == 0) | (one_hot == 1)).all() or not (one_hot.sum(axis=1) == 1).all():
        raise ValueError("labels are not one-hot rows")
    return np.asarray(one_hot.argmax(axis=1))
