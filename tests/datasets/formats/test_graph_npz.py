"""The reader of whole graphs in one npz file, on small files of that form."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.datasets.formats import graph_npz
from dccgcn.errors import DataFileError

FEATURES = sp.csr_array(np.array([[1, 0, 0], [0, 2, 0], [0, 0, 0], [3, 0, 1]], dtype=np.float32))
EDGES = np.array([[1, 0], [0, 1], [2, 1], [2, 1], [3, 3], [2, 3]])
CSR = {"xd": FEATURES.data, "xi": FEATURES.indices, "xp": FEATURES.indptr, "xs": np.array(FEATURES.shape)}
DENSE = {**dict.fromkeys(CSR), "x": FEATURES.toarray()}


def written(folder: Path, **changes: Any) -> Path:
    """Four nodes with sparse features; arrays that are None are left out."""
    arrays = {"edges": EDGES, "labels": np.array([2005, -1, 2004, 2005]), "featureless": np.array(False), **CSR}
    path = folder / "small.npz"
    np.savez(path, **{name: array for name, array in (arrays | changes).items() if array is not None})
    return path


def test_reads_sparse_features_and_drops_direction_with_a_finding(tmp_path: Path) -> None:
    graph = graph_npz.read(written(tmp_path), title="mine")
    assert graph.name == "mine"
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert sp.issparse(graph.features)
    assert (graph.features != FEATURES).nnz == 0
    assert graph.classes == (2004, 2005)
    assert graph.labels.tolist() == [1, -1, 0, 1]
    codes = {finding.code for finding in graph.findings}
    assert codes == {"self-loops", "duplicate-edges", "directed-edges", "zero-features"}


def test_directed_edges_are_unique_and_without_self_loops(tmp_path: Path) -> None:
    assert graph_npz.read_directed_edges(written(tmp_path)).tolist() == [[0, 1], [1, 0], [2, 1], [2, 3]]


def test_reads_dense_features_and_class_names(tmp_path: Path) -> None:
    graph = graph_npz.read(written(tmp_path, **DENSE, labels=np.array(["b", "a", "", "b"])))
    assert graph.name == "small"
    np.testing.assert_array_equal(graph.features, FEATURES.toarray())
    assert graph.classes == ("a", "b")
    assert graph.labels.tolist() == [1, 0, -1, 1]


def test_a_graph_without_features(tmp_path: Path) -> None:
    constant = DENSE | {"x": np.ones((4, 1), dtype=np.float32)}
    graph = graph_npz.read(written(tmp_path, **constant, featureless=np.array(True)))
    assert not graph.has_features.any()
    with pytest.raises(DataFileError, match="All nodes have the same features"):
        graph_npz.read(written(tmp_path, **constant))


@pytest.mark.parametrize(
    "changes",
    [
        {"edges": None},
        {"edges": EDGES + 2},
        {"edges": EDGES.astype(float)},
        {"labels": np.array([0, 1, 0])},
        {"labels": np.array([0, 1, 0, "x"], dtype=object)},
        {"featureless": None},
        {"xd": None},
        {"xi": FEATURES.indices + 90},
        {"xp": np.array([0, 2, 1, 2, 4])},
        {"xs": np.array([2, 2])},
    ],
)
def test_files_of_another_form_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(DataFileError, match=r"small\.npz is not of the expected form"):
        graph_npz.read(written(tmp_path, **changes))


def test_row_38_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataFileError, match="is not of the expected form"):
        graph_npz.read(path)
