"""Synthetic graphs have the properties that were asked for."""

import numpy as np
import pytest

from dccgcn.datasets.synthetic import synthetic_graph
from dccgcn.errors import GraphError


@pytest.fixture(scope="module")
def graph():
    return synthetic_graph(3000, 24_000, 200, 6, seed=1, homophily=0.8)


def test_the_counts_are_those_asked_for(graph):
    assert (graph.n, len(graph.edges), graph.d, graph.c) == (3000, 24_000, 200, 6)
    assert np.bincount(graph.labels).tolist() == [500] * 6
    assert {finding.code for finding in graph.findings} <= {"isolated-nodes"}  # no loops, no duplicates, no zero rows


@pytest.mark.parametrize("asked", [0.2, 0.8, 1.0])
def test_homophily_is_near_what_was_asked(asked):
    assert synthetic_graph(3000, 24_000, homophily=asked).homophily == pytest.approx(asked, abs=0.02)


def test_a_few_nodes_have_many_neighbours(graph):
    degree = np.sort(graph.degree)
    assert graph.degree.mean() == 16
    assert np.median(degree) < 13
    assert degree[-1] > 60


def test_features_are_words_as_many_as_asked_some_common_and_some_rare():
    graph = synthetic_graph(4000, words=15)
    assert (graph.features.data == 1).all()
    assert np.diff(graph.features.indptr).mean() == pytest.approx(14.3, abs=0.7)  # 15, and some drawn twice
    with_word = np.sort(np.bincount(graph.features.indices, minlength=graph.d))
    assert with_word[-10:].mean() > 5 * with_word[:100].mean()


def test_words_depend_on_the_class_to_the_degree_asked():
    def recovered(class_words):
        graph = synthetic_graph(4000, class_words=class_words)
        half = np.arange(graph.n) % 2 == 0
        words = np.stack([graph.features[half & (graph.labels == c)].mean(axis=0) for c in range(graph.c)])
        return (np.argmax(graph.features[~half] @ np.log(words + 0.001).T, axis=1) == graph.labels[~half]).mean()

    assert recovered(0.0) < 0.2
    assert recovered(0.0) + 0.1 < recovered(0.2) < recovered(0.6)


def test_the_seed_decides(graph):
    again, other = (synthetic_graph(3000, 24_000, 200, 6, seed=seed, homophily=0.8) for seed in (1, 2))
    for part in ("edges", "labels"):
        np.testing.assert_array_equal(getattr(again, part), getattr(graph, part))
        assert not np.array_equal(getattr(other, part), getattr(graph, part))
    assert (again.features != graph.features).nnz == 0
    assert (other.features != graph.features).nnz > 0


def test_one_class_and_no_edges_are_possible():
    assert synthetic_graph(50, 0, classes=1).c == 1
    assert synthetic_graph(50, 60, classes=1, homophily=0.5).homophily == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "1 nodes cannot be made"),
        ({"n": 5, "classes": 6}, "5 nodes cannot be of 6 classes"),
        ({"edges": -1}, "-1 edges"),
        ({"features": 0}, "0 features"),
        ({"homophily": 1.5}, r"homophily is 1\.5.*from 0 to 1"),
        ({"class_words": -0.1}, "class_words is -0.1"),
        ({"words": 0.5}, "words is 0.5"),
        ({"n": 20, "edges": 191, "classes": 2}, "191 edges do not fit among 20 nodes"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(GraphError, match=message):
        synthetic_graph(**{"n": 20, "edges": 10, **options})
