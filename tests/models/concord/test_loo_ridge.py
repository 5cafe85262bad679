"""The echo of the answers (C10, C11) against one fit for each node, and what it does on graphs of several kinds."""

import numpy as np
import pytest
from scipy.special import softmax

from dccgcn import NodeGraph, per_class
from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.models.concord import echo, groundwork, method
from dccgcn.models.concord.loo_ridge import Room, explained, resounded
from dccgcn.models.concord.settings import ConcordSettings
from helpers.groups import blocks

RNG = np.random.default_rng(11)


def parts(n: int) -> list[np.ndarray]:
    """Two representations with rows of length 1."""
    rows = [RNG.standard_normal((n, width)) + 0.5 for width in (4, 3)]
    return [(r / np.linalg.norm(r, axis=1, keepdims=True)).astype(np.float32) for r in rows]


def answers(n: int) -> np.ndarray:
    return softmax(2 * RNG.standard_normal((n, 3)), axis=1).astype(np.float32)


def test_each_node_is_heard_by_a_fit_to_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(echo, "ROWS", 7)  # in several blocks
    n, f = 30, answers(30)
    u = parts(n)
    heard = Room.of(*u).echo(f)
    # ridge regression with an intercept that is not penalised; (C10)'s centres are those of all but i
    rows, penalty = np.column_stack([np.hstack(u), np.ones(n)]).astype(float), np.diag([1.0] * 7 + [0.0])
    for i in range(n):
        others = np.arange(n) != i
        b = np.linalg.solve(rows[others].T @ rows[others] + penalty, rows[others].T @ f[others])
        np.testing.assert_allclose(heard[i], rows[i] @ b, atol=1e-4)


def test_a_nodes_own_answer_is_not_heard() -> None:
    u, f = parts(40), answers(40)
    room, other = Room.of(*u), f.copy()
    other[5] = [1, 0, 0]
    np.testing.assert_allclose(room.echo(other)[5], room.echo(f)[5], atol=1e-5)


def test_what_is_explained() -> None:
    f = answers(50)
    assert explained(f, f) == 1
    assert explained(np.tile(f.mean(axis=0), (50, 1)), f) == pytest.approx(0, abs=1e-6)
    assert explained(1 - f, f) == 0  # worse than the mean is no less than nothing
    assert explained(f, np.full((50, 3), 1 / 3, np.float32)) == 0


def test_answers_with_their_echo_node_by_node() -> None:
    f, r, s = answers(20), RNG.normal(0.3, 0.2, (20, 3)).astype(np.float32), 0.6
    m = np.array([0.5, 0.3, 0.2], np.float32)
    ours = resounded(f, r, m, s)
    for v in range(20):
        told = [f[v, j] * (max(r[v, j], 0.1 * m[j]) / m[j] ** 0.5) ** s for j in range(3)]
        np.testing.assert_allclose(ours[v], np.array(told) / sum(told), rtol=1e-4)
    np.testing.assert_allclose(resounded(f, r, m, 0.0), f, rtol=1e-5)


def test_a_class_without_answers_is_no_error() -> None:
    f = answers(20)
    f[:, 2] = 0
    f /= f.sum(axis=1, keepdims=True)
    assert np.isfinite(resounded(f, Room.of(*parts(20)).echo(f), f.mean(axis=0), 1.0)).all()


def test_rooms_are_built_once_for_a_graph() -> None:
    graph, settings = blocks(60), ConcordSettings()
    made = groundwork.representations(graph, settings, 0.5)
    one, other = groundwork.rooms_of(made, graph), groundwork.rooms_of(made, graph)
    assert all(one[name] is other[name] for name in one)
    assert sum(part.shape[1] for part in one[groundwork.TRAVELLED].parts) == sum(
        made[name].z.shape[1] for name in made if name not in (groundwork.OWN, groundwork.AROUND)
    )


def accuracy(graph: NodeGraph, per: int, seed: int, **settings: float) -> float:
    split = per_class(graph, per, seed)
    return float(
        (method.fit(graph, split.train, ConcordSettings(**settings), 0).y_pred == graph.labels)[split.test].mean()
    )


def test_words_that_tell_little_are_understood_from_all_answers() -> None:
    graph = synthetic_graph(1500, 4500, 300, classes=5, homophily=0.6, telling=0.2)
    gained = [accuracy(graph, 5, seed) - accuracy(graph, 5, seed, echo=0) for seed in range(3)]
    assert np.mean(gained) > 0.01


def test_words_that_tell_nothing_are_hardly_heard() -> None:
    graph = synthetic_graph(1500, 6000, 60, classes=4, homophily=0.75, telling=0.0)
    lost = [accuracy(graph, 5, seed, echo=0) - accuracy(graph, 5, seed) for seed in range(3)]
    assert np.mean(lost) < 0.01
