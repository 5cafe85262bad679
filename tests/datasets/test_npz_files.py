"""The readers of npz files, on small files of the same form: whole graphs, CoraFull, and CoraFull without features."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.datasets.npz_files import read_citation_full, read_citation_partial, read_directed_edges, read_graph
from dccgcn.errors import DataFileError

FEATURES = sp.csr_array(np.array([[1, 0, 0], [0, 2, 0], [0, 0, 0], [3, 0, 1]], dtype=np.float32))
EDGES = np.array([[1, 0], [0, 1], [2, 1], [2, 1], [3, 3], [2, 3]])
CSR = {"xd": FEATURES.data, "xi": FEATURES.indices, "xp": FEATURES.indptr, "xs": np.array(FEATURES.shape)}
DENSE = {**dict.fromkeys(CSR), "x": FEATURES.toarray()}
WHOLE = {"edges": EDGES, "labels": np.array([2005, -1, 2004, 2005]), "featureless": np.array(False), **CSR}

ADJACENCY = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 2, 0], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=np.float32))
CITATION = {  # like graph2gauss's file, with the names as Python objects that only pickle can hold
    "labels": np.array([0, 2, 0, 2]),
    **dict.fromkeys(("idx_to_node", "idx_to_attr", "idx_to_class"), np.array({0: "zero"}, dtype=object)),
    **{
        f"{prefix}_{part}": getattr(matrix, part)
        for prefix, matrix in (("adj", ADJACENCY), ("attr", FEATURES))
        for part in ("data", "indices", "indptr", "shape")
    },
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes arrays with changes; arrays that are None are left out."""

    def write(arrays: dict[str, Any], **changes: Any) -> Path:
        path = tmp_path / "small.npz"
        np.savez(path, **{name: array for name, array in (arrays | changes).items() if array is not None})
        return path

    return write


def test_sparse_features_are_read_and_direction_is_dropped_with_a_finding(write: Callable[..., Path]) -> None:
    graph = read_graph(write(WHOLE), title="mine")
    assert graph.name == "mine"
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert sp.issparse(graph.features)
    assert (graph.features != FEATURES).nnz == 0
    assert graph.classes == (2004, 2005)
    assert graph.labels.tolist() == [1, -1, 0, 1]
    codes = {finding.code for finding in graph.findings}
    assert codes == {"self-loops", "duplicate-edges", "directed-edges", "zero-features"}


def test_directed_edges_are_unique_and_without_self_loops(write: Callable[..., Path]) -> None:
    assert read_directed_edges(write(WHOLE)).tolist() == [[0, 1], [1, 0], [2, 1], [2, 3]]


def test_dense_features_and_class_names_are_read(write: Callable[..., Path]) -> None:
    graph = read_graph(write(WHOLE, **DENSE, labels=np.array(["b", "a", "", "b"])))
    assert graph.name == "small"
    np.testing.assert_array_equal(graph.features, FEATURES.toarray())
    assert graph.classes == ("a", "b")
    assert graph.labels.tolist() == [1, 0, -1, 1]


def test_a_graph_without_features_says_so(write: Callable[..., Path]) -> None:
    constant = DENSE | {"x": np.ones((4, 1), dtype=np.float32)}
    graph = read_graph(write(WHOLE, **constant, featureless=np.array(True)))
    assert not graph.has_features.any()
    with pytest.raises(DataFileError, match="All nodes have the same features"):
        read_graph(write(WHOLE, **constant))


def test_citations_are_read_and_objects_left_alone(write: Callable[..., Path]) -> None:
    graph = read_citation_full(write(CITATION), title="corafull")
    assert graph.name == "corafull"
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert graph.weights.tolist() == [1, 1, 1]  # the file counts citations; the graph does not
    assert (graph.features != FEATURES).nnz == 0
    assert graph.classes == (0, 1, 2)
    assert graph.labels.tolist() == [0, 2, 0, 2]
    assert {finding.code for finding in graph.findings} == {"self-loops", "directed-edges", "zero-features"}


def test_the_partial_file_has_edges_labels_and_a_split_but_no_features(write: Callable[..., Path]) -> None:
    parts = {"train20": [0, 1], "val20": [2, 2], "test20": [3]}
    graph, (split,) = read_citation_partial(
        write({"edges": np.array([[0, 1], [1, 2]]), "labels": np.array([0, 1, 0, 1]), **parts})
    )
    assert graph.features.tolist() == [[1], [1], [1], [1]]
    assert "no-features" in {finding.code for finding in graph.findings}
    assert (split.kind, split.train.tolist(), split.validation.tolist()) == ("am-gcn-20", [0, 1], [2])


OBJECTS = np.array(["a", "b", "c", "d"], dtype=object)


@pytest.mark.parametrize(
    ("read", "arrays", "changes"),
    [
        (read_graph, WHOLE, {"edges": None}),
        (read_graph, WHOLE, {"edges": EDGES + 2}),
        (read_graph, WHOLE, {"edges": EDGES.astype(float)}),
        (read_graph, WHOLE, {"labels": np.array([0, 1, 0])}),
        (read_graph, WHOLE, {"labels": OBJECTS}),
        (read_graph, WHOLE, {"featureless": None}),
        (read_graph, WHOLE, {"xd": None}),
        (read_graph, WHOLE, {"xi": FEATURES.indices + 90}),
        (read_graph, WHOLE, {"xp": np.array([0, 2, 1, 2, 4])}),
        (read_graph, WHOLE, {"xs": np.array([2, 2])}),
        (read_citation_full, CITATION, {"attr_data": None}),
        (read_citation_full, CITATION, {"labels": OBJECTS}),
        (read_citation_full, CITATION, {"adj_indices": ADJACENCY.indices + 90}),
        (read_citation_full, CITATION, {"attr_indices": FEATURES.indices + 90}),
        (read_citation_full, CITATION, {"attr_indptr": np.array([0, 2, 1, 2, 4])}),
        (read_citation_full, CITATION, {"attr_shape": np.array([2, 2])}),
        (read_citation_full, CITATION, {"labels": OBJECTS.astype(str)}),
    ],
)
def test_files_of_another_form_are_refused(
    write: Callable[..., Path], read: Callable[[Path], Any], arrays: dict[str, Any], changes: dict[str, Any]
) -> None:
    with pytest.raises(DataFileError, match=r"small\.npz is not of the expected form"):
        read(write(arrays, **changes))


@pytest.mark.parametrize(("read", "arrays", "cut"), [(read_graph, WHOLE, 40), (read_citation_full, CITATION, 200)])
def test_row_38_a_truncated_file_is_refused(
    write: Callable[..., Path], read: Callable[[Path], Any], arrays: dict[str, Any], cut: int
) -> None:
    path = write(arrays)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(DataFileError, match="is not of the expected form"):
        read(path)
