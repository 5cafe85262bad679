"""Nested arrays as one safetensors file, and back bit by bit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from dccgcn.errors import DataFileError

_CSR = ("data", "indices", "indptr", "shape")


def tensor_bytes(nested: Mapping[str, Any], note: str) -> bytes:
    """The content of a safetensors file with arrays, CSR matrices, numbers and mappings of these.

    None is left out. The note is stored in the header.
    """
    flat: dict[str, np.ndarray] = {}
    _flatten(nested, "", flat)
    # safetensors sorts the arrays, so their order is stored too. It is one header entry, because the order of several
    # entries is random and the same content must give the same bytes.
    return bytes(save(flat, {"layout": json.dumps({"note": note, "names": list(flat)})}))


def read_tensors(path: Path) -> tuple[dict[str, Any], str]:
    """The nested arrays that ``tensor_bytes`` stored, and the note."""
    nested: dict[str, Any] = {}
    try:
        with safe_open(path, framework="numpy") as file:
            layout = json.loads(file.metadata()["layout"])
            for name in layout["names"]:
                *outer, last = name.split("/")
                level = nested
                for part in outer:
                    level = level.setdefault(part, {})
                array = np.array(file.get_tensor(name))
                level[last] = array.item() if array.ndim == 0 else array
    except (SafetensorError, TypeError, KeyError, ValueError, AttributeError) as error:
        raise DataFileError(f"{path} is not a model file ({error}).", "Save the model again.") from None
    return _with_matrices(nested), layout["note"]


def _flatten(value: Any, name: str, flat: dict[str, np.ndarray]) -> None:
    if sp.issparse(value):
        csr = sp.csr_array(value)
        value = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": np.array(csr.shape)}
    if isinstance(value, Mapping):
        for key, item in value.items():
            _flatten(item, f"{name}/{key}" if name else str(key), flat)
    elif value is not None:
        flat[name] = np.array(value, order="C")


def _with_matrices(nested: Any) -> Any:
    if not isinstance(nested, dict):
        return nested
    if tuple(sorted(nested)) == _CSR:
        data, indices, indptr, shape = (nested[part] for part in _CSR)
        return sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
    return {name: _with_matrices(item) for name, item in nested.items()}
