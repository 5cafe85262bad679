"""t-SNE of the report."""

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from dccgcn.report.tsne import affinities, tsne


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(3, 10))
    return (centres[np.arange(90) % 3] + rng.normal(size=(90, 10))).astype(np.float32)


def test_affinities_are_symmetric_and_have_the_perplexity(rows):
    p = affinities(rows, 10.0)
    assert p.sum() == pytest.approx(1, rel=1e-5)
    np.testing.assert_allclose(p.toarray(), p.T.toarray(), rtol=1e-5)
    assert p.diagonal().max() == 0


def test_neighbours_stay_neighbours_and_the_picture_is_the_same_every_time(rows):
    y = tsne(rows)
    assert y.shape == (90, 2)
    assert trustworthiness(rows, y, n_neighbors=10) > 0.9
    np.testing.assert_array_equal(tsne(rows), y)


@pytest.mark.parametrize(
    "rows", [np.eye(4), np.arange(5.0)[:, None], np.repeat([[0.0, 0.0], [1.0, 0.0]], 6, axis=0)], ids=str
)
def test_few_rows_one_column_and_equal_rows_give_finite_positions(rows):
    assert np.isfinite(tsne(rows)).all()
