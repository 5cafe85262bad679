"""CSR parts are checked before they are a matrix."""

from typing import Any

import numpy as np
import pytest

from dccgcn.runtime.csr import checked_csr

DATA, INDICES, INDPTR, SHAPE = np.ones(3), np.array([0, 2, 1]), np.array([0, 2, 3]), np.array([2, 3])


def test_parts_that_fit_are_not_copied() -> None:
    matrix = checked_csr(DATA, INDICES.astype(np.int32), INDPTR.astype(np.int32), SHAPE)
    np.testing.assert_array_equal(matrix.toarray(), [[1, 0, 1], [0, 1, 0]])
    assert np.shares_memory(matrix.data, DATA)


@pytest.mark.parametrize(
    "parts",
    [
        (DATA[:2], INDICES, INDPTR, SHAPE),
        (DATA[:, None], INDICES, INDPTR, SHAPE),
        (DATA, np.array([0, 3, 1]), INDPTR, SHAPE),
        (DATA, np.array([0, -1, 1]), INDPTR, SHAPE),
        (DATA, INDICES.astype(float), INDPTR, SHAPE),
        (DATA, INDICES, np.array([0, 3, 2, 3]), np.array([3, 3])),
        (DATA, INDICES, np.array([0, 2, 4]), SHAPE),
        (DATA, INDICES, np.array([1, 2, 3]), SHAPE),
        (DATA, INDICES, INDPTR, np.array([3, 3])),
        (DATA, INDICES, INDPTR, np.array([2, 10**9])),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts: Any) -> None:
    with pytest.raises(ValueError, match="a sparse matrix has"):
        checked_csr(*parts)
