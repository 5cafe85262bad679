"""Tensors as pieces of a safetensors file."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from safetensors.numpy import load_file

from dccgcn.runtime.files import write_atomically
from dccgcn.store.tensors import read_tensors, tensor_pieces


def test_pieces_are_a_safetensors_file_without_copies(tmp_path: Path) -> None:
    large = np.arange(12, dtype=np.float32).reshape(3, 4)
    nested = {
        "a": {"large": large, "turned": large.T, "mask": np.array([True, False, True]), "none": None},
        "empty": np.empty((0, 3)),
        "number": 3,
        "codes": np.array([1, 2], np.uint8),
        "csr": sp.csr_array(np.eye(3, dtype=np.float32)),
    }
    pieces = tensor_pieces(nested, "ü")
    assert any(np.shares_memory(np.asarray(piece), large) for piece in pieces)
    write_atomically(tmp_path / "t", pieces)
    stored = load_file(tmp_path / "t")
    np.testing.assert_array_equal(stored["a/turned"], large.T)
    assert {name: array.dtype.name for name, array in stored.items()}["codes"] == "uint8"
    del nested["codes"]  # of a type that models do not hold
    write_atomically(tmp_path / "t", tensor_pieces(nested, "ü"))
    again, note = read_tensors(tmp_path / "t")
    assert note == "ü"
    assert list(again) == ["a", "empty", "number", "csr"]
    np.testing.assert_array_equal(again["a"]["large"], large)
    assert again["empty"].shape == (0, 3)
    assert again["number"] == 3
    assert (again["csr"] != nested["csr"]).nnz == 0
