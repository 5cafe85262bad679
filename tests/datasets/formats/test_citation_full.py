"""The CoraFull reader on small files of the same form."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.datasets.formats import citation_full
from dccgcn.errors import DataFileError

ADJACENCY = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 2, 0], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=np.float32))
ATTRIBUTES = sp.csr_array(np.array([[1, 0], [0, 2], [0, 0], [3, 0]], dtype=np.float32))


def written(folder: Path, **changes: Any) -> Path:
    """A file like graph2gauss's, with the names as Python objects that only pickle can hold."""
    arrays: dict[str, Any] = {"labels": np.array([0, 2, 0, 2])}
    for prefix, matrix in (("adj", ADJACENCY), ("attr", ATTRIBUTES)):
        arrays |= {f"{prefix}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    for names in ("idx_to_node", "idx_to_attr", "idx_to_class"):
        arrays[names] = np.array({0: "zero"}, dtype=object)
    arrays |= changes
    path = folder / "cora.npz"
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_reads_the_graph_and_leaves_the_objects_alone(tmp_path: Path) -> None:
    graph = citation_full.read(written(tmp_path), title="corafull")
    assert graph.name == "corafull"
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert graph.weights.tolist() == [1, 1, 1]  # the file counts citations; the graph does not
    assert (graph.features != ATTRIBUTES).nnz == 0
    assert graph.classes == (0, 1, 2)
    assert graph.labels.tolist() == [0, 2, 0, 2]
    assert {finding.code for finding in graph.findings} == {"self-loops", "directed-edges", "zero-features"}


@pytest.mark.parametrize(
    "changes",
    [
        {"attr_data": None},
        {"labels": np.array(["a", "b", "c", "d"], dtype=object)},
        {"adj_indices": ADJACENCY.indices + 90},
        {"attr_indices": ATTRIBUTES.indices + 90},
        {"attr_indptr": np.array([0, 2, 1, 2, 3])},
        {"attr_shape": np.array([2, 2])},
        {"labels": np.array(["a", "b", "c", "d"])},
    ],
)
def test_files_of_another_form_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(DataFileError, match=r"cora\.npz is not of the expected form"):
        citation_full.read(written(tmp_path, **changes))


def test_row_38_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataFileError, match="not of the expected form"):
        citation_full.read(path)


def test_the_partial_file_has_edges_labels_and_a_split_but_no_features(tmp_path: Path) -> None:
    path = tmp_path / "partial.npz"
    parts = {"train20": [0, 1], "val20": [2, 2], "test20": [3]}
    np.savez(path, edges=np.array([[0, 1], [1, 2]]), labels=np.array([0, 1, 0, 1]), **parts)
    graph, (split,) = citation_full.read_partial(path)
    assert graph.features.tolist() == [[1], [1], [1], [1]]
    assert "no-features" in {finding.code for finding in graph.findings}
    assert (split.kind, split.train.tolist(), split.validation.tolist()) == ("am-gcn-20", [0, 1], [2])
