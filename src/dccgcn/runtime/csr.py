"""CSR matrices from arrays of a file: checked, since compiled code would follow a wrong index out of memory."""

from typing import Any

import numpy as np
import scipy.sparse as sp

_MAX_COLUMNS = 100_000_000  # columns need no bytes in a file


def checked_csr(data: Any, indices: Any, indptr: Any, shape: Any) -> sp.csr_array:
    """The matrix of these parts, which are not copied; a ValueError unless every index is within it."""
    parts = (data, indices, indptr, shape)
    if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts):
        raise ValueError("a sparse matrix has parts that are not one-dimensional")
    if not all(part.dtype.kind == "i" for part in (indices, indptr, shape)):
        raise ValueError("a sparse matrix has indices that are not whole numbers")
    rows, columns = shape.tolist()
    if len(indptr) != rows + 1 or not 0 <= columns <= _MAX_COLUMNS or len(data) != len(indices):
        raise ValueError("a sparse matrix has parts of lengths that do not fit")
    if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise ValueError("a sparse matrix has row pointers out of order")
    if len(indices) and (indices.min() < 0 or indices.max() >= columns):
        raise ValueError("a sparse matrix has column indices out of range")
    matrix = sp.csr_array((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return matrix
