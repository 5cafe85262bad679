"""The readers of benchmark files, on small files of the same forms, and the pickle reader on a hostile one."""

import os
import pickle
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.datasets import readers
from dccgcn.errors import DataFileError

FEATURES = sp.csr_array(np.array([[1, 0, 0], [0, 2, 0], [0, 0, 0], [3, 0, 1]], dtype=np.float32))
EDGES = np.array([[1, 0], [0, 1], [2, 1], [2, 1], [3, 3], [2, 3]])
CSR = {"xd": FEATURES.data, "xi": FEATURES.indices, "xp": FEATURES.indptr, "xs": np.array(FEATURES.shape)}
WHOLE = {"edges": EDGES, "labels": np.array([2005, -1, 2004, 2005]), "featureless": np.array(False)}
ADJACENCY = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 2, 0], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=np.float32))


@pytest.fixture
def npz(tmp_path: Path) -> Any:
    def write(**arrays: Any) -> Path:
        np.savez(tmp_path / "small.npz", **arrays)
        return tmp_path / "small.npz"

    return write


def test_sparse_features_are_read_and_direction_is_dropped_with_a_finding(npz: Any) -> None:
    path = npz(**WHOLE, **CSR)
    graph = readers.read_graph(path, "mine")
    assert graph.name == "mine"
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert sp.issparse(graph.features)
    assert (graph.features != FEATURES).nnz == 0
    assert graph.classes == (2004, 2005)
    assert graph.labels.tolist() == [1, -1, 0, 1]
    codes = {finding.code for finding in graph.findings}
    assert codes == {"self-loops", "duplicate-edges", "directed-edges", "zero-features"}
    assert readers.read_directed_edges(path).tolist() == [[0, 1], [1, 0], [2, 1], [2, 3]]


def test_dense_features_and_class_names_are_read(npz: Any) -> None:
    graph = readers.read_graph(npz(**WHOLE | {"labels": np.array(["b", "a", "", "b"])}, x=FEATURES.toarray()), "mine")
    np.testing.assert_array_equal(graph.features, FEATURES.toarray())
    assert graph.classes == ("a", "b")
    assert graph.labels.tolist() == [1, 0, -1, 1]


def test_a_graph_without_features_says_so(npz: Any) -> None:
    constant = npz(**WHOLE | {"featureless": np.array(True)}, x=np.ones((4, 1), dtype=np.float32))
    assert not readers.read_graph(constant, "mine").has_features.any()


def test_citations_are_read_and_objects_left_alone(npz: Any) -> None:
    parts = {
        f"{prefix}_{part}": getattr(matrix, part)
        for prefix, matrix in (("adj", ADJACENCY), ("attr", FEATURES))
        for part in ("data", "indices", "indptr", "shape")
    }
    names = np.array({0: "zero"}, dtype=object)  # Python objects, which only pickle can hold
    graph = readers.read_citation_full(npz(labels=np.array([0, 2, 0, 2]), idx_to_node=names, **parts), "corafull")
    assert graph.name == "corafull"
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert graph.weights.tolist() == [1, 1, 1]  # the file counts citations; the graph does not
    assert (graph.features != FEATURES).nnz == 0
    assert graph.classes == (0, 1, 2)
    assert graph.labels.tolist() == [0, 2, 0, 2]


def test_the_partial_file_has_edges_labels_and_a_split_but_no_features(npz: Any) -> None:
    parts = {"train20": [0, 1], "val20": [2, 2], "test20": [3]}
    path = npz(edges=np.array([[0, 1], [1, 2]]), labels=np.array([0, 1, 0, 1]), **parts)
    graph, (split,) = readers.read_citation_partial(path, "partial")
    assert graph.features.tolist() == [[1], [1], [1], [1]]
    assert "no-features" in {finding.code for finding in graph.findings}
    assert (split.kind, split.train.tolist(), split.validation.tolist()) == ("am-gcn-20", [0, 1], [2])


@pytest.mark.parametrize("last_line", ["0 0 1\n", "0 0 1", "0 0 1 \r\n"])
def test_an_archive_of_am_gcn_has_three_tables_and_the_splits(tmp_path: Path, last_line: str) -> None:
    path = tmp_path / "toy.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("toy/toy.edge", "0 1\n1\t2\n2 3\n3 3\n")
        file.writestr("toy/toy.feature", f"1 0 1\n0\t1\t0\n0 0 0\n{last_line}")
        file.writestr("toy/toy.label", "0\n2\n0\n2\n")
        for k in (20, 40, 60):
            file.writestr(f"toy/train{k}.txt", "0\n3\n")
            file.writestr(f"toy/test{k}.txt", "2\n")
    graph, splits = readers.read_am_gcn(path, "toy")
    assert graph.features.toarray().tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert graph.classes == (0, 1, 2)
    assert graph.labels.tolist() == [0, 2, 0, 2]
    assert [split.kind for split in splits] == ["am-gcn-20", "am-gcn-40", "am-gcn-60"]
    assert (splits[0].train.tolist(), splits[0].test.tolist(), splits[0].seed) == ([0, 3], [2], None)


LABELS = [0, 1, 0, 1, 1]  # of the five nodes that allx describes
TEST = [8, 5, 6]  # node 7 lies in their range and is described nowhere


@pytest.fixture
def planetoid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of nine nodes: five in allx, three in tx, one nowhere."""
    monkeypatch.setattr(readers, "VALIDATION_NODES", 2)
    x = sp.csr_matrix(np.arange(15, dtype=np.float32).reshape(5, 3))
    tx = sp.csr_matrix(np.array([[80, 0, 0], [50, 0, 0], [60, 0, 0]], dtype=np.float32))
    y, ty = np.eye(2, dtype=np.int32)[LABELS], np.eye(2, dtype=np.int32)[[1, 0, 0]]
    links = defaultdict(list, {node: [(node + 1) % 9] for node in range(9)})
    parts = {"x": x[:2], "y": y[:2], "allx": x, "ally": y, "tx": tx, "ty": ty, "graph": links}
    for part, content in parts.items():
        (tmp_path / f"ind.toy.{part}").write_bytes(pickle.dumps(content, protocol=3))
    (tmp_path / "ind.toy.test.index").write_text("".join(f"{node}\n" for node in TEST))
    return tmp_path


def test_rows_of_tx_go_to_the_nodes_of_test_index(planetoid: Path) -> None:
    graph, split = readers.read_planetoid(planetoid, "toy", "toy")
    assert graph.features.toarray()[:, 0].tolist() == [0, 3, 6, 9, 12, 50, 60, 0, 80]
    assert graph.labels.tolist() == [*LABELS, 0, 0, -1, 1]
    assert graph.classes == (0, 1)
    assert len(graph.edges) == 9
    assert split.train.tolist() == [0, 1]
    assert split.validation.tolist() == [2, 3]
    assert split.test.tolist() == [5, 6, 8]


def test_old_module_names_are_known(planetoid: Path) -> None:
    for path in planetoid.glob("ind.toy.*"):
        content = path.read_bytes()
        content = content.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
        content = content.replace(b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n")
        path.write_bytes(content.replace(b"cbuiltins\nlist\n", b"c__builtin__\nlist\n"))
    assert b"numpy.core" in (planetoid / "ind.toy.ally").read_bytes()
    graph, _ = readers.read_planetoid(planetoid, "toy", "toy", classes=["no", "yes"])
    assert graph.classes == ("no", "yes")


class Hostile:
    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call = call, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


@pytest.mark.parametrize(
    ("call", "named"),
    [(os.system, f"{os.system.__module__}.system"), (eval, "builtins.eval"), (np.load, "numpy.load")],
)
def test_row_39_a_hostile_pickle_is_refused_by_name(planetoid: Path, tmp_path: Path, call: Any, named: str) -> None:
    proof = tmp_path / "proof"
    (planetoid / "ind.toy.graph").write_bytes(pickle.dumps(Hostile(call, f"touch {proof}"), protocol=3))
    with pytest.raises(DataFileError, match=named):
        readers.read_planetoid(planetoid, "toy", "toy")
    assert not proof.exists()
