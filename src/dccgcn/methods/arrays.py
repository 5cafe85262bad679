"""Specs of stored arrays: the shape, kind and range that an array must have before it is used."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DataFileError
from dccgcn.graph import LARGEST

_TOLERANCE = 1e-3  # of sums and shares in single precision

_DTYPES = {"float": ("float32", "float64"), "int": ("int32", "int64"), "bool": ("bool",)}


@dataclass(frozen=True)
class ArraySpec:
    """What an array must be. Numbers are finite and between low and high."""

    shape: tuple[int | None, ...]  # None: any length
    kind: Literal["float", "int", "bool"] = "float"
    low: float = -LARGEST
    high: float = LARGEST
    rows_sum_to_one: bool = False


def probability_spec(n: int | None, c: int) -> ArraySpec:
    """(n, c) class probabilities."""
    return ArraySpec((n, c), low=-_TOLERANCE, high=1 + _TOLERANCE, rows_sum_to_one=True)


@dataclass(frozen=True)
class Sizes:
    """Sizes of the graph that a model was trained on."""

    n: int
    d: int
    c: int  # classes with training labels
    relations: tuple[str, ...] = ()  # kinds of edges, if there are several
    directed: bool = False


# specs(model, sizes, settings) → the spec of every array of a method's fitted model
ModelSpecs = Callable[[Mapping[str, np.ndarray], Sizes, Any], Mapping[str, ArraySpec]]


def check_arrays(arrays: Mapping[str, Any], specs: Mapping[str, ArraySpec], what: str) -> None:
    """Raise a DataFileError unless there is exactly one array for each spec, and it fits."""
    for name in (*specs, *arrays):
        if name not in arrays:
            raise DataFileError(f"{what} lacks the array {name!r}.")
        if name not in specs:
            raise DataFileError(f"{what} has an array {name[:60]!r} that does not belong there.")
    for name, spec in specs.items():
        check_array(arrays[name], spec, f"{what}, {name}")


def check_array(array: Any, spec: ArraySpec, what: str) -> None:
    """Raise a DataFileError unless the array has the shape, kind and range of its spec."""
    if not isinstance(array, np.ndarray):
        raise DataFileError(f"{what} is not an array.")
    if array.dtype.name not in _DTYPES[spec.kind]:
        raise DataFileError(f"{what} is of type {array.dtype}, not {spec.kind}.")
    if len(array.shape) != len(spec.shape) or any(
        expected not in (None, length) for length, expected in zip(array.shape, spec.shape, strict=True)
    ):
        expected = ", ".join("any" if length is None else str(length) for length in spec.shape)
        raise DataFileError(f"{what} has shape {array.shape}, not ({expected}).")
    if spec.kind == "bool" or array.size == 0:
        return
    if not (array.min() >= spec.low and array.max() <= spec.high):  # NaN fails too
        raise DataFileError(f"{what} has numbers that are not finite or not between {spec.low:g} and {spec.high:g}.")
    if spec.rows_sum_to_one and not (abs(array.sum(axis=1) - 1) <= _TOLERANCE).all():
        raise DataFileError(f"{what} has rows that do not sum to one.")


def check_csr(matrix: Any, shape: tuple[int, int], what: str, low: float = -LARGEST, high: float = LARGEST) -> None:
    """Raise a DataFileError unless this is a float CSR matrix of this shape with numbers from low to high."""
    if not sp.issparse(matrix) or matrix.shape != shape:
        raise DataFileError(f"{what} is not a sparse matrix of shape {shape}.")
    check_array(matrix.data, ArraySpec((None,), low=low, high=high), what)
