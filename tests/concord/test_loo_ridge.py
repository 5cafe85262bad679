"""Leave-one-out ridge (C8, C9) against one fit per node, and its effect on graphs of several kinds."""

import numpy as np
import pytest
from scipy.special import softmax

from dccgcn import NodeGraph, per_class
from dccgcn.concord import method
from dccgcn.concord.loo_ridge import LooRidge, log_linear_fuse, r_squared
from dccgcn.concord.settings import ConcordSettings
from dccgcn.concord.views import precompute
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.methods.base import Task
from helpers.groups import blocks

RNG = np.random.default_rng(11)


def parts(n: int) -> list[np.ndarray]:
    """Two embeddings with rows of unit length."""
    rows = [RNG.standard_normal((n, width)) + 0.5 for width in (4, 3)]
    return [(r / np.linalg.norm(r, axis=1, keepdims=True)).astype(np.float32) for r in rows]


def predictions(n: int) -> np.ndarray:
    return softmax(2 * RNG.standard_normal((n, 3)), axis=1).astype(np.float32)


def test_each_node_is_predicted_by_a_fit_to_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dccgcn.features.svd.BLOCK_ROWS", 7)  # several blocks
    n, f = 30, predictions(30)
    u = parts(n)
    r = LooRidge.fit(*u).predict_loo(f)
    # ridge regression with an intercept that is not penalised; (C8)'s centres are those of all but i
    rows, penalty = np.column_stack([np.hstack(u), np.ones(n)]).astype(float), np.diag([1.0] * 7 + [0.0])
    for i in range(n):
        others = np.arange(n) != i
        b = np.linalg.solve(rows[others].T @ rows[others] + penalty, rows[others].T @ f[others])
        np.testing.assert_allclose(r[i], rows[i] @ b, atol=1e-4)


def test_r_squared() -> None:
    f = predictions(50)
    assert r_squared(f, f) == 1
    assert r_squared(np.tile(f.mean(axis=0), (50, 1)), f) == pytest.approx(0, abs=1e-6)
    assert r_squared(1 - f, f) == 0  # not negative
    assert r_squared(f, np.full((50, 3), 1 / 3, np.float32)) == 0


def test_fusion_node_by_node() -> None:
    f, r, s = predictions(20), RNG.normal(0.3, 0.2, (20, 3)).astype(np.float32), 0.6
    m = np.array([0.5, 0.3, 0.2], np.float32)
    ours = log_linear_fuse(f, r, m, s)
    for v in range(20):
        fused = [f[v, j] * max(r[v, j], 0.1 * m[j]) ** s for j in range(3)]
        np.testing.assert_allclose(ours[v], np.array(fused) / sum(fused), rtol=1e-4)
    np.testing.assert_allclose(log_linear_fuse(f, r, m, 0.0), f, rtol=1e-5)


def test_a_class_that_is_never_predicted() -> None:
    f = predictions(20)
    f[:, 2] = 0
    f /= f.sum(axis=1, keepdims=True)
    assert np.isfinite(log_linear_fuse(f, LooRidge.fit(*parts(20)).predict_loo(f), f.mean(axis=0), 1.0)).all()


def test_the_regressor_is_built_once_for_a_graph() -> None:
    graph, settings = blocks(60), ConcordSettings()
    one, other = precompute(graph, settings), precompute(graph, settings)
    assert one.regressor is other.regressor
    own, hop1 = (one.projections.embeddings[name].z for name in ("own", "hop1"))
    assert one.regressor.parts[0] is own
    assert one.regressor.parts[1] is hop1


def accuracy(graph: NodeGraph, per: int, seed: int, **settings: float) -> float:
    split = per_class(graph, per, seed)
    return float(
        (method.fit(Task(graph, split.train), ConcordSettings(**settings)).y_pred == graph.labels)[split.test].mean()
    )


def test_weakly_informative_features_gain() -> None:
    graph = synthetic_graph(1500, 4500, 300, classes=5, homophily=0.6, class_words=0.2)
    gained = [accuracy(graph, 5, seed) - accuracy(graph, 5, seed, n_refits=0) for seed in range(5)]
    assert np.mean(gained) > 0.005


def test_noise_features_lose_little() -> None:
    graph = synthetic_graph(1500, 6000, 60, classes=4, homophily=0.75, class_words=0.0)
    lost = [accuracy(graph, 5, seed, n_refits=0) - accuracy(graph, 5, seed) for seed in range(3)]
    assert np.mean(lost) < 0.01
