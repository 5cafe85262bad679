"""Files of arrays without pickles, checked before use."""

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from dccgcn.errors import DataFileError, GraphError, SplitError

_FAULTS = (OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile, zlib.error, GraphError, SplitError)


@contextmanager
def opened(path: Path) -> Iterator["np.lib.npyio.NpzFile"]:
    """The arrays of a file; anything wrong with them becomes a DataFileError that names it."""
    try:
        with np.load(path, allow_pickle=False) as file:
            yield file
    except _FAULTS as error:
        remedy = "Download it again, or replace it by the right one."
        raise DataFileError(f"{path} is not of the expected form ({error}).", remedy) from error


def csr_matrix(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Iterable[int]) -> sp.csr_array:
    """The matrix of these parts."""
    matrix = sp.csr_array((data, indices, indptr), shape=tuple(shape))
    matrix.check_format(full_check=True)  # before any use: indices may point outside
    return matrix
