"""Nested arrays as one safetensors file, and back bit by bit. Nothing that is read is believed before it is checked."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from safetensors import SafetensorError, safe_open

from dccgcn.errors import DataFileError
from dccgcn.runtime import check_regular, checked_csr

_CSR = ("data", "indices", "indptr", "shape")
_DTYPES = frozenset({"bool", "float32", "float64", "int32", "int64"})
_MAX_DEPTH = 4  # parts of an array's name


def tensor_pieces(nested: Mapping[str, Any], note: str) -> Sequence[memoryview]:
    """The content of a safetensors file with arrays, CSR matrices, numbers and mappings of these, in pieces.

    None is left out. The note is stored in the header. The pieces are views of the arrays: safetensors' own writer
    copies all of them twice, which a large graph has no memory for.
    """
    flat: dict[str, np.ndarray] = {}
    _flatten(nested, "", flat)
    header: dict[str, Any] = {"__metadata__": {"layout": json.dumps({"note": note, "names": list(flat)})}}
    stored = sorted(flat, key=lambda name: (-flat[name].itemsize, name))  # the largest first, so that all are aligned
    end = 0
    for name in stored:
        array, start = flat[name], end
        end += array.nbytes
        kind = "BOOL" if array.dtype.kind == "b" else f"{array.dtype.kind.upper()}{8 * array.itemsize}"
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    views = (flat[name].reshape(-1).view(np.uint8).data for name in stored)
    return [memoryview(len(text).to_bytes(8, "little") + text), *views]


def read_tensors(path: Path) -> tuple[dict[str, Any], str]:
    """The nested arrays that ``tensor_pieces`` stored, and the note.

    safetensors compares the declared shapes with the size of the file before it reads anything.
    """
    check_regular(path)
    nested: dict[str, Any] = {}
    try:
        with safe_open(path, framework="numpy") as file:
            layout = json.loads(file.metadata()["layout"])
            names, note = layout["names"], layout["note"]
            if not isinstance(note, str) or sorted(names) != sorted(file.keys()):
                raise ValueError("its header does not list its arrays")
            for name in names:
                _insert(nested, name.split("/"), np.array(file.get_tensor(name)))
        return _with_matrices(nested), note
    except (SafetensorError, TypeError, KeyError, ValueError, AttributeError, RecursionError, OSError) as error:
        raise DataFileError(f"{path} is not a model file ({error}).", "Save the model again.") from None


def _insert(nested: dict[str, Any], parts: list[str], array: np.ndarray) -> None:
    *outer, last = parts
    name = "/".join(parts)
    if len(parts) > _MAX_DEPTH:
        raise ValueError(f"{name[:60]} is nested too deep")
    if array.dtype.name not in _DTYPES:
        raise ValueError(f"{name[:60]} is of type {array.dtype}")
    level = nested
    for part in outer:
        level = level.setdefault(part, {})
        if not isinstance(level, dict):
            raise ValueError(f"{name[:60]} is an array inside an array")
    if last in level:
        raise ValueError(f"{name[:60]} is there twice")
    level[last] = array.item() if array.ndim == 0 else array


def _flatten(value: Any, name: str, flat: dict[str, np.ndarray]) -> None:
    if sp.issparse(value):
        csr = sp.csr_array(value)
        value = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": np.array(csr.shape)}
    if isinstance(value, Mapping):
        for key, item in value.items():
            _flatten(item, f"{name}/{key}" if name else str(key), flat)
    elif value is not None:
        flat[name] = np.asarray(value, order="C")


def _with_matrices(nested: Any) -> Any:
    if not isinstance(nested, dict):
        return nested
    if tuple(sorted(nested)) == _CSR:
        return checked_csr(*(nested[part] for part in _CSR))
    return {name: _with_matrices(item) for name, item in nested.items()}
