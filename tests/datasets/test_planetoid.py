"""The Planetoid reader on a small dataset of the same form, on damaged files and on hostile ones."""

import os
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from dccgcn.datasets import planetoid
from dccgcn.errors import DataFileError

LABELS = [0, 1, 0, 1, 1]  # of the five nodes that allx describes
TEST = [8, 5, 6]  # node 7 lies in their range and is described nowhere


def pickled(content: Any) -> bytes:
    return pickle.dumps(content, protocol=3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nine nodes: five in allx, three in tx, one nowhere."""
    monkeypatch.setattr(planetoid, "VALIDATION_NODES", 2)
    x = sp.csr_matrix(np.arange(15, dtype=np.float32).reshape(5, 3))
    tx = sp.csr_matrix(np.array([[80, 0, 0], [50, 0, 0], [60, 0, 0]], dtype=np.float32))
    y, ty = np.eye(2, dtype=np.int32)[LABELS], np.eye(2, dtype=np.int32)[[1, 0, 0]]
    links = defaultdict(list, {node: [(node + 1) % 9] for node in range(9)})
    parts = {"x": x[:2], "y": y[:2], "allx": x, "ally": y, "tx": tx, "ty": ty, "graph": links}
    for part, content in parts.items():
        (tmp_path / f"ind.toy.{part}").write_bytes(pickled(content))
    (tmp_path / "ind.toy.test.index").write_text("".join(f"{node}\n" for node in TEST))
    return tmp_path


def test_rows_of_tx_go_to_the_nodes_of_test_index(folder: Path) -> None:
    graph, split = planetoid.read_planetoid(folder, "toy")
    assert graph.features.toarray()[:, 0].tolist() == [0, 3, 6, 9, 12, 50, 60, 0, 80]
    assert graph.labels.tolist() == [*LABELS, 0, 0, -1, 1]
    assert graph.classes == (0, 1)
    assert len(graph.edges) == 9
    assert split.train.tolist() == [0, 1]
    assert split.validation.tolist() == [2, 3]
    assert split.test.tolist() == [5, 6, 8]


def test_old_module_names_are_known(folder: Path) -> None:
    for path in folder.glob("ind.toy.*"):
        content = path.read_bytes()
        content = content.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
        content = content.replace(b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n")
        path.write_bytes(content.replace(b"cbuiltins\nlist\n", b"c__builtin__\nlist\n"))
    assert b"numpy.core" in (folder / "ind.toy.ally").read_bytes()
    graph, _ = planetoid.read_planetoid(folder, "toy", classes=["no", "yes"])
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
def test_row_39_a_hostile_pickle_is_refused_by_name(folder: Path, tmp_path: Path, call: Any, named: str) -> None:
    proof = tmp_path / "proof"
    (folder / "ind.toy.graph").write_bytes(pickled(Hostile(call, f"touch {proof}")))
    with pytest.raises(DataFileError, match=named):
        planetoid.read_planetoid(folder, "toy")
    assert not proof.exists()


@pytest.mark.parametrize("part", planetoid.PARTS)
def test_row_38_a_truncated_file_is_refused(folder: Path, part: str) -> None:
    path = folder / f"ind.toy.{part}"
    path.write_bytes(path.read_bytes()[: -len(path.read_bytes()) // 2])
    with pytest.raises(DataFileError, match=r"ind\.toy"):
        planetoid.read_planetoid(folder, "toy")


def _altered(**parts: list[int]) -> sp.csr_matrix:
    """A matrix whose inner arrays were tampered with after SciPy had checked them."""
    matrix = sp.csr_matrix(np.eye(5, 3, dtype=np.float32))
    for part, values in parts.items():
        getattr(matrix, part)[:] = values
    return matrix


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("ally", np.ones((5, 2), dtype=np.int32)),  # two classes at once
        ("ty", np.eye(2, dtype=np.int32)),  # fewer rows than test.index has
        ("allx", _altered(indices=[99, 99, 99])),  # columns past the matrix
        ("allx", _altered(indptr=[0, 2, 1, 2, 3, 3])),  # a row that ends before it begins
        ("graph", [1, 2, 3]),
        ("tx", [1, 2, 3]),
    ],
)
def test_parts_that_do_not_fit_are_refused(folder: Path, part: str, content: Any) -> None:
    (folder / f"ind.toy.{part}").write_bytes(pickled(content))
    with pytest.raises(DataFileError, match="do not fit together"):
        planetoid.read_planetoid(folder, "toy")


def test_a_missing_part_is_named(folder: Path) -> None:
    (folder / "ind.toy.tx").unlink()
    with pytest.raises(DataFileError, match=r"ind\.toy\.tx"):
        planetoid.read_planetoid(folder, "toy")


def test_a_test_index_that_is_not_numbers(folder: Path) -> None:
    (folder / "ind.toy.test.index").write_text("5\nsix\n7\n")
    with pytest.raises(DataFileError, match="not a list of node positions"):
        planetoid.read_planetoid(folder, "toy")
