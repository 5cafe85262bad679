"""Short NumPy versions of scikit-learn's functions are bitwise equal to them."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.preprocessing import normalize

from dccgcn.concord.confidence import normal_scores
from dccgcn.features import normalise_rows


@pytest.fixture
def x():
    return sp.random_array((300, 170), density=0.1, rng=np.random.default_rng(0), dtype=np.float32, format="csr")


@pytest.mark.parametrize(("how", "norm"), [("row", "l1"), ("unit", "l2")])
def test_row_norms(x, how, norm):
    np.testing.assert_array_equal(normalise_rows(x, how).data, normalize(x, norm=norm).data)
    dense = np.vstack([x.toarray() - np.float32(0.01), np.zeros((1, 170), np.float32)])
    np.testing.assert_array_equal(normalise_rows(dense, how), normalize(dense, norm=norm))


def test_mean_ranks_of_ties():
    values = np.random.default_rng(2).integers(0, 9, 40)
    from scipy.special import ndtri

    np.testing.assert_array_equal(normal_scores(values), ndtri((rankdata(values) - 0.5) / 40))
